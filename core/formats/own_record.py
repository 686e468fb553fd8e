"""An agent's own record of a run held against the session that its requests made: step by step, field by field.

The record lacks what only a gateway knows (what people said to the agent, attempts that failed) and may number
its steps otherwise; steps are paired by what the agent did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

import msgspec

from core.domain.events import Fact, StepAdded
from core.domain.step import Action, Observation, StepBody, Usage, decode_body

Field = Literal["step", "words", "call", "arguments", "result", "unsent", "failure", "tokens"]
"""`unsent`: what the agent noted and told no model, as the result of its last call, or an exit code."""

_EXIT = "exit code "
SHOWN = 200
"""Characters of a value that are shown from where two differ."""


class RecordedStep(msgspec.Struct, frozen=True):
    """A step as one side tells it."""

    number: int
    body: StepBody
    usage: Usage = Usage()


class RecordDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Where the two sides differ. `step` is the session's, `other` the record's; 0 where that side has no such step."""

    step: int
    other: int
    what: Field
    ours: str = ""
    theirs: str = ""


def recorded(facts: Iterable[Fact], payload: Callable[[str], bytes]) -> list[RecordedStep]:
    """The steps that facts tell of, each as it was told last."""
    found: dict[int, RecordedStep] = {}
    for fact in facts:
        if isinstance(fact, StepAdded):
            found[fact.head.number] = RecordedStep(fact.head.number, decode_body(payload(fact.body)), fact.head.usage)
    return [found[number] for number in sorted(found)]


def differences(ours: Sequence[RecordedStep], theirs: Sequence[RecordedStep]) -> list[RecordDifference]:
    """All that differs, in the order of the session."""
    last = ours[-1].number if ours else 0
    return [difference for one, other in _pairs(ours, theirs) for difference in _between(one, other, last)]


def shared(ours: Sequence[RecordedStep], theirs: Sequence[RecordedStep]) -> int:
    """How many steps are the same by their calls, or words where there are none."""
    return sum(one is not None and other is not None and _gist(one) == _gist(other)
               for one, other in _pairs(ours, theirs))


def _pairs(ours: Sequence[RecordedStep], theirs: Sequence[RecordedStep]
           ) -> Iterator[tuple[RecordedStep | None, RecordedStep | None]]:
    """Steps that are the same by their calls, or words where there are none; between them those in the same place."""
    matcher = SequenceMatcher(None, [*map(_gist, ours)], [*map(_gist, theirs)], autojunk=False)
    for _, a, to_a, b, to_b in matcher.get_opcodes():
        yield from zip_longest(ours[a:to_a], theirs[b:to_b])


def _gist(step: RecordedStep) -> str:
    calls = [(a.tool, a.arguments) for a in step.body.actions]
    return msgspec.json.encode(calls, order="sorted").decode() if calls else step.body.thought


def _between(one: RecordedStep | None, other: RecordedStep | None, last: int) -> Iterator[RecordDifference]:
    if one is None or other is None:
        held = one or other
        assert held is not None
        gist = _gist(held)[:SHOWN]
        yield RecordDifference(step=one.number if one else 0, other=other.number if other else 0, what="step",
                         ours=gist if one else "", theirs=gist if other else "")
        return
    is_unsent = one.number == last and not any(seen.output.text for seen in one.body.observations)
    for what, ours, theirs in _fields(one, other):
        if ours != theirs:
            untold = (is_unsent and what in ("result", "failure")) or (not ours and theirs.startswith(_EXIT))
            kind: Field = "unsent" if untold else what
            yield RecordDifference(step=one.number, other=other.number, what=kind, **_parted(ours, theirs))


def _fields(one: RecordedStep, other: RecordedStep) -> Iterator[tuple[Field, str, str]]:
    yield "words", one.body.thought, other.body.thought
    for mine, its in zip_longest(one.body.actions, other.body.actions):
        yield "call", mine.tool if mine else "", its.tool if its else ""
        yield "arguments", _arguments(mine), _arguments(its)
    for seen, its in zip_longest(_results(one.body), _results(other.body)):
        yield "result", seen.output.text if seen else "", its.output.text if its else ""
        yield "failure", _failure(seen), _failure(its) or (_failure(seen) if _is_silent(seen, its) else "")
    for name in ("input_tokens", "output_tokens", "cached_tokens"):
        used, count = getattr(one.usage, name), getattr(other.usage, name)
        yield "tokens", f"{name} {used or 0}", f"{name} {used or 0 if count is None else count}"


def _arguments(action: Action | None) -> str:
    return msgspec.json.encode(action.arguments, order="sorted").decode() if action else ""


def _results(body: StepBody) -> list[Observation]:
    """In the order of the calls."""
    place = {action.call_id: at for at, action in enumerate(body.actions)}
    return sorted(body.observations, key=lambda seen: place.get(seen.call_id, len(place)))


def _failure(seen: Observation | None) -> str:
    if seen is None:
        return ""
    return f"{_EXIT}{seen.exit_code}" if seen.exit_code is not None else "failed" if seen.is_error else ""


def _is_silent(seen: Observation | None, its: Observation | None) -> bool:
    """Whether a record gives the same result and says nothing of how the call ended, which its text may tell."""
    return seen is not None and its is not None and seen.output.text == its.output.text


def _parted(ours: str, theirs: str) -> dict[str, str]:
    """Two values from shortly before where they differ."""
    same = next((at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
                min(len(ours), len(theirs)))
    begin = max(0, same - 20)
    return {"ours": ours[begin : begin + SHOWN], "theirs": theirs[begin : begin + SHOWN]}
