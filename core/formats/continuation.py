"""A file that holds a later part of a session: its events as that session's, with the numbers that its steps have there."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping

import msgspec

from core.domain.blob import blob_hash
from core.domain.context import ContextDelta, MessageRef, apply_delta, delta_between
from core.domain.events import (
    Branched,
    Event,
    Fact,
    GuidanceFact,
    OpinionFact,
    SessionCreated,
    StepAdded,
    SummaryAdded,
    TimeSpent,
    decode_event,
    encode_event,
)
from core.domain.step import decode_body, encode_body
from core.formats.imported import MAX_PARTS, Imported

_NUMBERS = ("step", "number", "last")
"""Fields of facts that are numbers of steps; a summary goes on standing for all steps before it."""


def context_after(bodies: Iterable[bytes]) -> list[MessageRef]:
    """The context of the last step of some events, each step as it was told last."""
    deltas = {f.head.number: f.context for b in bodies if isinstance(f := decode_event(b).fact, StepAdded)}
    context: list[MessageRef] = []
    for number in sorted(deltas):
        context = apply_delta(context, deltas[number])
    return context


def shifted(session: Imported, shift: int, shared: int, before: list[MessageRef]) -> Imported:
    """The session with all its steps `shift` numbers later, as a part of one that has `before` as its last context.

    Its first `shared` steps are that one's last; what comes with them, but people's words, is that one's too.
    """
    blobs: dict[str, bytes] = {}
    bodies: list[bytes] = []
    context: list[MessageRef] = []
    place, last = 0, 0
    for event in map(decode_event, session.bodies):
        fact: Fact = event.fact
        if isinstance(fact, SessionCreated | Branched):
            continue
        if isinstance(fact, StepAdded):
            is_first = fact.head.number > last
            place, last = place + is_first, max(last, fact.head.number)
            context = apply_delta(context, fact.context) if is_first and place <= shared + 1 else context
            fact = _step(fact, shift, session, blobs)
            if is_first and place == shared + 1:
                fact = msgspec.structs.replace(fact, context=_delta(before, context))
        elif place < shared and not isinstance(fact, OpinionFact):
            continue
        bodies.append(encode_event(_moved(event, fact, session.session, shift)))
    maps: list[MutableMapping[str, bytes]] = [blobs, session.blobs]  # type: ignore[list-item]
    return msgspec.structs.replace(session, bodies=tuple(bodies), blobs=ChainMap(*maps))


def _delta(before: list[MessageRef], context: list[MessageRef]) -> ContextDelta:
    delta = delta_between(before, context)
    return delta if len(delta.parts) <= MAX_PARTS else ContextDelta()


def _step(fact: StepAdded, shift: int, session: Imported, blobs: dict[str, bytes]) -> StepAdded:
    number = fact.head.number + shift
    data = encode_body(msgspec.structs.replace(decode_body(session.blobs[fact.body]), number=number))
    blobs[name := blob_hash(data)] = data
    return msgspec.structs.replace(fact, head=msgspec.structs.replace(fact.head, number=number), body=name)


def _moved(event: Event, fact: Fact, session: str, shift: int) -> Event:
    """The event with other numbers, and a name that no event of the earlier part has."""
    if isinstance(fact, StepAdded):
        return msgspec.structs.replace(event, fact=fact, id=f"{session}-step-{fact.head.number}")
    changes: dict[str, object] = {name: n + shift for name in _NUMBERS if (n := getattr(fact, name, 0))}
    match fact:
        case GuidanceFact(guidance=name):
            changes["guidance"] = f"{name}-{shift}"
        case SummaryAdded(id=name):
            changes["id"] = f"{name}-{shift}"
        case TimeSpent(seconds=seconds):
            changes["seconds"] = {step + shift if step else 0: s for step, s in seconds.items()}
    name = f"{event.id}-{shift}" if event.id.startswith(f"{session}-") else event.id
    return msgspec.structs.replace(event, fact=msgspec.structs.replace(fact, **changes), id=name)

