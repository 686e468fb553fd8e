"""A file that holds a part of a session: its events as that session's, with the numbers that its steps have there."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress

import msgspec

from core.domain import events as e
from core.domain.blob import blob_hash
from core.domain.context import MOST_PARTS, ContextDelta, Contexts, MessageRef, delta_between
from core.domain.errors import InvalidInput
from core.domain.step import decode_body, encode_body
from core.formats.imported import Imported

_NUMBERS = ("step", "number", "last")
"""Fields of facts that are numbers of steps; a summary goes on standing for all steps before it."""


class _Contexts:
    """The steps of some events as they were told last, and their contexts."""

    def __init__(self, bodies: Iterable[bytes]) -> None:
        facts = {f.head.number: f for b in bodies if isinstance(f := e.decode_event(b).fact, e.StepAdded)}
        self.facts = [facts[number] for number in sorted(facts)]
        self._contexts = Contexts(lambda place: self.facts[place].context)

    def at(self, place: int) -> list[MessageRef]:
        """The context of the step at a place; none before the first, nor where the log says nonsense of it."""
        with suppress(InvalidInput):
            return self._contexts.at(place)
        return []


def joined(session: Imported, held: Iterable[bytes], shift: int, by: int, shared: int) -> Imported:
    """The session as a part of the one that holds `held`: its steps bear numbers that are `by` larger.

    Its first `shared` steps are that one's from the `shift`-th on, with the contexts that they have there; what comes
    with them, but people's words, is that one's too.
    """
    before, own = _Contexts(held), _Contexts(session.bodies)
    same = [f.context for f in before.facts[:shared]] == [f.context for f in own.facts[:shared]]
    if not shift and not by and same:
        return session
    contexts = {own.facts[n].head.number: before.facts[shift + n].context for n in range(shared)}
    if shared < len(own.facts):
        last = before.at(shift + shared - 1 if shared else len(before.facts) - 1)
        contexts[own.facts[shared].head.number] = _delta(last, own.at(shared))
    return _renumbered(session, by, own.facts[shared - 1].head.number if shared else 0, contexts)


def _renumbered(session: Imported, by: int, upto: int, contexts: Mapping[int, ContextDelta]) -> Imported:
    """The events with other numbers and contexts; where numbers change, without what is no opinion before `upto`."""
    blobs: dict[str, bytes] = {}
    bodies: list[bytes] = []
    last = 0
    for body in session.bodies:
        event = e.decode_event(body)
        fact: e.Fact = event.fact
        if isinstance(fact, e.StepAdded):
            last = max(last, fact.head.number)
            if fact.head.number in contexts:
                fact = msgspec.structs.replace(fact, context=contexts[fact.head.number])
            fact = _step(fact, by, session, blobs)
        elif by and (isinstance(fact, e.SessionCreated | e.Branched) or (
                last < upto and not isinstance(fact, e.OpinionFact))):
            continue
        is_as_it_was = fact is event.fact and (not by or isinstance(fact, e.UnknownFact))
        bodies.append(body if is_as_it_was else e.encode_event(_moved(event, fact, session.session, by)))
    maps: list[MutableMapping[str, bytes]] = [blobs, session.blobs]  # type: ignore[list-item]
    return msgspec.structs.replace(session, bodies=tuple(bodies), blobs=ChainMap(*maps))


def _delta(before: list[MessageRef], context: list[MessageRef]) -> ContextDelta:
    delta = delta_between(before, context)
    return delta if len(delta.parts) <= MOST_PARTS else ContextDelta()


def _step(fact: e.StepAdded, by: int, session: Imported, blobs: dict[str, bytes]) -> e.StepAdded:
    if not by:
        return fact
    number = fact.head.number + by
    data = encode_body(msgspec.structs.replace(decode_body(session.blobs[fact.body]), number=number))
    blobs[name := blob_hash(data)] = data
    return msgspec.structs.replace(fact, head=msgspec.structs.replace(fact.head, number=number), body=name)


def _moved(event: e.Event, fact: e.Fact, session: str, by: int) -> e.Event:
    """The event with other numbers, and a name that no event of the earlier part has."""
    if isinstance(fact, e.StepAdded):
        if not by:
            return msgspec.structs.replace(event, fact=fact)
        return msgspec.structs.replace(event, fact=fact, id=f"{session}-step-{fact.head.number}")
    changes: dict[str, object] = {name: n + by for name in _NUMBERS if (n := getattr(fact, name, 0))}
    match fact:
        case e.GuidanceFact(guidance=name):
            changes["guidance"] = f"{name}-{by}"
        case e.SummaryAdded(id=name):
            changes["id"] = f"{name}-{by}"
        case e.TimeSpent(seconds=seconds):
            changes["seconds"] = {step + by if step else 0: s for step, s in seconds.items()}
    name = f"{event.id}-{by}" if event.id.startswith(f"{session}-") else event.id
    return msgspec.structs.replace(event, fact=msgspec.structs.replace(fact, **changes), id=name)

