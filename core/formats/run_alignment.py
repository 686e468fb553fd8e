"""Which steps of a file are steps that a session holds already: by the ids of their messages, and by what they say.

A step is the same where the agent's own words and actions are, and neither the ids nor the times that the files give
it speak against that. What came back does not count: a result may come late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

import msgspec

from core.domain.blob import blob_hash
from core.domain.events import StepAdded, decode_event
from core.domain.step import Action, StepBody, decode_body

Payload = Callable[[str], bytes]
"""Gives a payload by its name."""

WEAK = 3
"""So many steps in a row must be equal to be found inside a longer run where neither ids nor times name them."""

MOST_BEGINNINGS = 64
"""Places at which a run may begin inside another that are tried: an agent may have done the same thing all day."""


class RunStep(msgspec.Struct, frozen=True):
    """A step in its last telling."""

    number: int
    body: str
    item: str
    at: datetime | None


class StepSequence:
    """The steps of a session in order, each as it was told last."""

    def __init__(self, bodies: Iterable[bytes], payload: Payload) -> None:
        self._payload = payload
        self._own: dict[str, str] = {}
        found: dict[int, RunStep] = {}
        for fact in (decode_event(body).fact for body in bodies if b'"step_added"' in body):
            if isinstance(fact, StepAdded):
                found[fact.head.number] = RunStep(fact.head.number, fact.body, fact.item, fact.head.started_at)
        self.steps: Sequence[RunStep] = [found[number] for number in sorted(found)]

    def __len__(self) -> int:
        return len(self.steps)

    def body(self, place: int) -> StepBody:
        """What the step at a place holds."""
        return decode_body(self._payload(self.steps[place].body))

    def own(self, place: int) -> str:
        """What the agent itself wrote at a place, as a hash."""
        name = self.steps[place].body
        if name not in self._own:
            self._own[name] = own_content(self.body(place))
        return self._own[name]


def own_content(body: StepBody) -> str:
    """A hash of the agent's own words and actions, without what came back."""
    return blob_hash(msgspec.json.encode([body.thought, [_call(a) for a in body.actions]]))


def _call(action: Action) -> tuple[object, ...]:
    return action.call_id, action.tool, action.arguments, action.malformed


Kind = Literal["same", "grows", "forks", "holds", "apart"]


class Alignment(msgspec.Struct, frozen=True):
    """How the steps of a file lie to those of a session.

    `same`: all of the file's are in the session. `grows`: the file goes on after the session's last. `forks`: they
    share steps and then differ. `holds`: the session is a part of the file, which has more before it. `apart`: none
    is shared. `shift` is how much larger a shared step's number is in the session, by place; `shared` counts the
    file's first steps that are in the session. `is_part`: the session goes on beyond the file, by steps or by words.
    """

    kind: Kind
    shift: int = 0
    shared: int = 0
    is_part: bool = False


def align(held: StepSequence, new: StepSequence, *, is_within: bool = False) -> Alignment:
    """The alignment of a file's run to a session's. `is_within`: it is known that the file is of no other time."""
    if not len(held) or not len(new):
        return Alignment("same" if not len(new) else "grows")
    start = _common(held, new, 0)
    if start.shared:
        return start
    found = [_common(held, new, place) for place in _beginnings(held, new)]
    certain = [a for a in found if a.shared and (is_within or _is_certain(held, a))]
    best = max(certain, key=lambda a: (a.kind != "forks", a.shared), default=None)
    if best is not None:
        return best
    return Alignment("holds") if _is_within(new, held) else Alignment("apart")


def _common(held: StepSequence, new: StepSequence, shift: int) -> Alignment:
    """How many of the file's first steps are the session's from the `shift`-th on, and what comes then."""
    shared, most = 0, min(len(new), len(held) - shift)
    if most and shift and _is_part(held, shift, new, 0):
        shared = 1  # the file begins inside a message
    while shared < most and _is_same(held, shift + shared, new, shared):
        shared += 1
    is_cut = is_more = False
    if shared < most and shared == len(new) - 1 and _is_part(held, shift + shared, new, shared):
        shared, is_cut = shared + 1, True
    elif shared < most and shift + shared == len(held) - 1 and _is_part(new, shared, held, shift + shared):
        shared, is_more = shared + 1, True
    if shared == len(new) and not is_more:
        return Alignment("same", shift, shared, is_cut or shift + shared < len(held))
    return Alignment("grows" if shift + shared == len(held) else "forks", shift, shared)


def _is_certain(held: StepSequence, alignment: Alignment) -> bool:
    """Whether steps that were found inside a longer run are named well enough, or are enough of them."""
    step = held.steps[alignment.shift]
    return bool(step.item or step.at) or alignment.shared >= WEAK


def _is_within(longer: StepSequence, shorter: StepSequence) -> bool:
    """Whether a run begins after the first step of another and goes along with it to the end of either."""
    found = (_common(longer, shorter, place) for place in _beginnings(longer, shorter))
    return any(one.shared and _is_certain(longer, one) for one in found)


def _beginnings(longer: StepSequence, shorter: StepSequence) -> Iterator[int]:
    """The first places, after the very first, at which the other may begin."""
    item, own = shorter.steps[0].item, shorter.own(0)
    places = (n for n, step in enumerate(longer.steps) if n and ((item and step.item == item) or longer.own(n) == own))
    return islice(places, MOST_BEGINNINGS)


def _is_same(one: StepSequence, place: int, two: StepSequence, other: int) -> bool:
    first, second = one.steps[place], two.steps[other]
    if not _may_be(first, second):
        return False
    return first.body == second.body or one.own(place) == two.own(other)


def _may_be(one: RunStep, two: RunStep) -> bool:
    """Whether neither the ids of two steps nor, where one has none, their times say that they are two."""
    if one.item and two.item:
        return one.item == two.item
    return one.at is None or two.at is None or one.at == two.at


def _is_part(longer: StepSequence, place: int, shorter: StepSequence, other: int) -> bool:
    """Whether a step is the same as another of which less had been written or was cut out."""
    one, two = longer.steps[place], shorter.steps[other]
    return _may_be(one, two) and says_more(longer.body(place), shorter.body(other), bool(one.item and two.item))


def says_more(longer: StepBody, shorter: StepBody, is_named: bool) -> bool:
    """Whether the agent's words and actions in a step begin with another's; or hold them, where an id names both."""
    calls, part = [_call(a) for a in longer.actions], [_call(a) for a in shorter.actions]
    if is_named:
        return shorter.thought in longer.thought and all(call in calls for call in part)
    return longer.thought.startswith(shorter.thought) and calls[: len(part)] == part
