"""The same run in two formats: which step of the one is which of the other, known by thoughts and outputs.

Formats cut a step differently (a command may stand in the thought, or be a call; an output in tags), so code blocks,
labels, tags, white space, punctuation and case do not count. Steps are aligned in order by equal thoughts, then by
equal outputs; between two that are, others of the same number are taken for the same where most words are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from core.domain.blob import blob_hash
from core.domain.step import StepBody

LEAST, EQUAL = 0.8, 0.5
"""The parts of the shorter run's steps that must be found in the other, and found by equal texts."""

_ALIKE = 0.6
_SHORT = 12
_MOST = 4000
_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"^\s*(?:thoughts?|discussion|action)\s*:", re.IGNORECASE)
_BLOCK = re.compile(r"```[^\n]*\n.*?```", re.DOTALL)
_OUTPUT = re.compile(r"<output>(.*?)(?:</output>|\Z)", re.DOTALL)
Places = tuple[int, int, int, int]
"""A stretch of the one run, and one of the other: first and stop of each."""


class Anchor(msgspec.Struct, frozen=True):
    """What a step is known by: its own words and its outputs; "" where there are too few."""

    thought: str
    output: str
    words: frozenset[str]


def anchor(body: StepBody) -> Anchor:
    """The anchor of a step."""
    output = " ".join(o.output.text[:_MOST] for o in body.observations)
    inner = _OUTPUT.search(output)
    thought = _BLOCK.sub(" ", _LABEL.sub("", body.thought))
    return Anchor(_name(thought), _name(inner[1] if inner else output), frozenset(_words(_own_text(body))))


def _own_text(body: StepBody) -> str:
    return " ".join([body.thought, *(text for a in body.actions for text in _texts(a.arguments))])


def says_the_same(one: StepBody, two: StepBody) -> bool:
    """Whether two steps of different formats are one step's words and calls: one may have labels, names of tools and
    settings that the other lacks, but neither lacks a word that the other has beside these."""
    first, second = (frozenset(_WORD.findall(_own_text(body).lower())) for body in (one, two))
    return bool(first and second) and (first <= second or second <= first)


def align(old: Sequence[Anchor], new: Sequence[Anchor]) -> dict[int, int]:
    """The places in `new` of those in `old`; empty where they are not the same run."""
    shorter = min(len(old), len(new))
    equal: dict[int, int] = {}
    gaps: list[Places] = [(0, len(old), 0, len(new))]
    for kind in ("thought", "output"):
        gaps = [gap for one in gaps for gap in _match(old, new, one, kind, equal)]
    if not shorter or len(equal) < EQUAL * shorter:
        return {}
    for first, last, start, stop in gaps:
        if last - first == stop - start:
            equal.update((a, b) for a, b in zip(range(first, last), range(start, stop), strict=True)
                         if _is_alike(old[a], new[b]))
    return dict(sorted(equal.items())) if len(equal) >= LEAST * shorter else {}


def _match(old: Sequence[Anchor], new: Sequence[Anchor], gap: Places, kind: Literal["thought", "output"],
           found: dict[int, int]) -> Iterator[Places]:
    """Put equal steps into `found`; gives the stretches between them."""
    first, last, start, stop = gap
    before = [getattr(a, kind) or f"old {n}" for n, a in enumerate(old[first:last])]
    after = [getattr(a, kind) or f"new {n}" for n, a in enumerate(new[start:stop])]
    for relation, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if relation == "equal":
            found.update(zip(range(first + a, first + b), range(start + c, start + d), strict=True))
        elif a < b and c < d:
            yield first + a, first + b, start + c, start + d


def _is_alike(one: Anchor, two: Anchor) -> bool:
    less = min(len(one.words), len(two.words))
    return less > 0 and len(one.words & two.words) >= _ALIKE * less


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_MOST].lower())


def _name(text: str) -> str:
    letters = "".join(_words(text))
    return blob_hash(letters.encode())[:24] if len(letters) >= _SHORT else ""
