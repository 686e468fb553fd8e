"""The rows of the eye: each message, with those of one step that stayed folded into one. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from app.step.message_looks import MessageLook
from core.domain.context import MessageRef
from core.domain.tools import LOOKS


class ContextLine(msgspec.Struct, frozen=True):
    """One message: its place (0 for one that left), whether it entered, left, stayed, or is gone since a step. With
    `more` the row stands for several messages of which `ref` is the first."""

    place: int
    change: str
    ref: MessageRef
    since: int = 0
    more: tuple[ContextLine, ...] = ()

    @property
    def is_border(self) -> bool:
        """It stands over the messages that entered, and is none itself."""
        return self.change == "border"

    @property
    def tokens(self) -> int:
        """Of all messages that the row stands for."""
        return self.ref.tokens + sum(line.ref.tokens for line in self.more)


def lines_of(before: Sequence[MessageRef], after: Sequence[MessageRef]) -> list[ContextLine]:
    """The context, then what is in it no more."""
    spare = Counter(r.hash for r in before)
    lines = []
    for place, ref in enumerate(after, 1):
        stayed = spare[ref.hash] > 0
        spare[ref.hash] -= stayed
        lines.append(ContextLine(place, "" if stayed else "entered", ref))
    here = Counter(r.hash for r in after)
    for ref in before:
        if here[ref.hash] > 0:
            here[ref.hash] -= 1
        else:
            lines.append(ContextLine(0, "left", ref))
    return lines


def folded(lines: Sequence[ContextLine], looks: Mapping[str, MessageLook], opened: frozenset[int],
           holding: frozenset[str]) -> list[ContextLine]:
    """The lines with what stayed of one step, and of steps in a row that only looked around, as one; those at the
    places `opened`, messages that hold what is looked for, what people said and summaries stand alone."""
    looking = _looking(lines, looks)

    def group(line: ContextLine) -> tuple[object, ...]:
        look = looks.get(line.ref.hash)
        if line.change or look is None or not look.step or line.ref.hash in holding or look.kind == "user":
            return (line.place, line.ref.hash, line.change)
        return ("looking",) if look.step in looking else ("step", look.step)

    return [line for _, held in groupby(lines, key=group) for line in _as_one(list(held), opened)]


def with_borders(lines: Sequence[ContextLine]) -> Iterator[ContextLine]:
    """The lines with a border above each run of messages that entered."""
    for change, held in groupby(lines, key=lambda line: line.change):
        run = list(held)
        if change == "entered":
            yield ContextLine(0, "border", run[0].ref, more=tuple(run[1:]))
        yield from run


def _as_one(held: list[ContextLine], opened: frozenset[int]) -> Iterator[ContextLine]:
    if len(held) < 2 or held[0].place in opened:
        yield from held
    else:
        yield msgspec.structs.replace(held[0], more=tuple(held[1:]))


def _looking(lines: Sequence[ContextLine], looks: Mapping[str, MessageLook]) -> frozenset[int]:
    """The steps that did nothing but look at files."""
    kinds: dict[int, set[str]] = {}
    for line in lines:
        look = looks.get(line.ref.hash)
        if look is not None and look.step and look.kind != "result":
            kinds.setdefault(look.step, set()).add(look.kind)
    return frozenset(step for step, found in kinds.items() if found <= LOOKS)


def is_error(look: MessageLook | None, failed: frozenset[int]) -> bool:
    """Whether a message is what a failed step got back."""
    return look is not None and look.kind == "result" and look.step in failed


def shares_of(lines: Sequence[ContextLine], looks: Mapping[str, MessageLook],
              failed: frozenset[int] = frozenset()) -> dict[str, int]:
    """Tokens of the whole context by what they are: system, task, steps, errors (what `failed` ones got), entered."""
    found = dict.fromkeys(("system", "task", "steps", "errors", "entered"), 0)
    for line in lines:
        if line.change not in ("", "entered"):
            continue
        look = looks.get(line.ref.hash)
        is_old = look is not None and look.step
        kind = "entered" if line.change == "entered" else "system" if line.ref.role == "system" else (
            "task" if line.ref.role == "user" and not is_old else "errors" if is_error(look, failed) else "steps")
        found[kind] += line.tokens
    return found
