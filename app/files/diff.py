"""The difference of two texts as rows: paired lines, word marks, folded gaps, colours. Pure, fit for a thread."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

import msgspec

from app.files.diff_lines import MAX_BYTES, Lines, Whitespace, is_binary, pair_of
from app.kit.highlight import lexer_for, spans

MAX_LINE = 2_000
_MAX_MATCHED = 20_000
_CONTEXT = 3
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)

Span = tuple[int, int, str]
"""Start and length in characters, and the name of a colour."""

Mark = tuple[int, int]
"""Start and length of the words that differ."""


class DiffLine(msgspec.Struct, frozen=True):
    """One line of one side; `number` counts from 1."""

    number: int
    text: str
    marks: tuple[Mark, ...] = ()


class DiffRow(msgspec.Struct, frozen=True):
    """A row of the side-by-side view. same: both sides equal, or an empty line that does not count on one side only;
    change: one or both sides; gap: `hidden` equal rows."""

    kind: Literal["same", "change", "gap"]
    old: DiffLine | None = None
    new: DiffLine | None = None
    hidden: int = 0


class Diff(msgspec.Struct, frozen=True):
    """Everything that the view draws. `rows` are all rows, without gaps; `cut` says that a side was too large."""

    rows: tuple[DiffRow, ...] = ()
    added: int = 0
    removed: int = 0
    binary: bool = False
    cut: bool = False
    old_spans: tuple[tuple[Span, ...], ...] = ()
    new_spans: tuple[tuple[Span, ...], ...] = ()


def compare(old: bytes, new: bytes, path: str = "", space: Whitespace = Whitespace()) -> Diff:
    """The difference of two contents, coloured after the path's language."""
    if is_binary(old) or is_binary(new):
        return Diff(binary=True)
    before, after = pair_of(old, new, space)
    rows = tuple(_rows(before, after, space))
    lexer = lexer_for(path)
    return Diff(
        rows=rows,
        added=sum(r.kind == "change" and r.new is not None for r in rows),
        removed=sum(r.kind == "change" and r.old is not None for r in rows),
        cut=max(len(old), len(new)) > MAX_BYTES,
        old_spans=_per_line("\n".join(before.shown), lexer),
        new_spans=_per_line("\n".join(after.shown), lexer),
    )


def counts(old: bytes, new: bytes) -> tuple[int, int] | None:
    """How many lines were added and removed; None for a binary content."""
    if is_binary(old) or is_binary(new):
        return None
    before, after = pair_of(old, new, Whitespace())
    added = removed = 0
    for tag, i1, i2, j1, j2 in _opcodes(before.keys, after.keys):
        if tag != "equal":
            removed, added = removed + i2 - i1, added + j2 - j1
    return added, removed


def folded(
    rows: Sequence[DiffRow], open_gaps: Iterable[int] = (), context: int = _CONTEXT
) -> list[tuple[int, DiffRow]]:
    """The rows near a change with their places; what is further away becomes gap rows, unless opened.

    A gap is named by the place of its first hidden row.
    """
    near = {k for i, row in enumerate(rows) if row.kind == "change" for k in range(i - context, i + context + 1)}
    opened, shown = set(open_gaps), []
    for is_near, run in groupby(range(len(rows)), near.__contains__):
        places = list(run)
        if is_near or len(places) == 1 or places[0] in opened:
            shown += [(at, rows[at]) for at in places]
        else:
            shown.append((places[0], DiffRow("gap", hidden=len(places))))
    return shown


def unified(shown: Sequence[tuple[int, DiffRow]]) -> list[tuple[int, DiffRow]]:
    """The same in one column: in each run of changes first what went, then what came."""
    out: list[tuple[int, DiffRow]] = []
    run: list[tuple[int, DiffRow]] = []
    for place, row in [*shown, (-1, DiffRow("gap"))]:
        if row.kind == "change":
            run.append((place, row))
            continue
        out.extend((p, DiffRow("change", old=r.old)) for p, r in run if r.old)
        out.extend((p, DiffRow("change", new=r.new)) for p, r in run if r.new)
        run = []
        if place >= 0:
            out.append((place, row))
    return out


def _shown(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"


def _rows(old: Lines, new: Lines, space: Whitespace) -> Iterable[DiffRow]:
    for tag, i1, i2, j1, j2 in _opcodes(old.keys, new.keys):
        if tag == "equal":
            for k in range(i2 - i1):
                yield DiffRow("same", DiffLine(i1 + k + 1, _shown(old.shown[i1 + k])),
                              DiffLine(j1 + k + 1, _shown(new.shown[j1 + k])))
            continue
        blank = space.blank_lines and not any(key.strip() for key in (*old.keys[i1:i2], *new.keys[j1:j2]))
        for k in range(max(i2 - i1, j2 - j1)):
            left = _shown(old.shown[i1 + k]) if i1 + k < i2 else None
            right = _shown(new.shown[j1 + k]) if j1 + k < j2 else None
            marks: tuple[tuple[Mark, ...], tuple[Mark, ...]] = ((), ())
            if left is not None and right is not None and max(i2 - i1, j2 - j1) <= 400:
                marks = word_marks(left, right, spaces=space.spaces != "all")
            yield DiffRow("same" if blank else "change", None if left is None else DiffLine(i1 + k + 1, left, marks[0]),
                          None if right is None else DiffLine(j1 + k + 1, right, marks[1]))


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[str, int, int, int, int]]:
    """As difflib's, after the common start and end were taken off; a huge middle counts as replaced."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if start:
        yield "equal", 0, start, 0, start
    if max(len(left), len(right)) > _MAX_MATCHED:
        yield "replace", start, start + len(left), start, start + len(right)
    else:
        quick = len(left) + len(right) > 6000
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=quick).get_opcodes():
            yield tag, i1 + start, i2 + start, j1 + start, j2 + start
    if end:
        yield "equal", len(old) - end, len(old), len(new) - end, len(new)


def word_marks(old: str, new: str, *, spaces: bool = True) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    """The words that differ between two lines; none where the lines have little in common.

    `spaces` False leaves out marks on white space alone.
    """
    if len(old) + len(new) > MAX_LINE or not old.strip() or not new.strip():
        return (), ()
    left, right = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    same = sum(len("".join(left[i : i + n]).strip()) for i, _, n in matcher.get_matching_blocks())
    if 2 * same < 0.4 * (len(old.strip()) + len(new.strip())):
        return (), ()
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (_marks(left, ((i1, i2) for _, i1, i2, _, _ in changes if spaces or "".join(left[i1:i2]).strip())),
            _marks(right, ((j1, j2) for _, _, _, j1, j2 in changes if spaces or "".join(right[j1:j2]).strip())))


def _marks(words: list[str], ranges: Iterable[tuple[int, int]]) -> tuple[Mark, ...]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return tuple((starts[a], starts[b] - starts[a]) for a, b in ranges if b > a)


def _per_line(text: str, lexer: str) -> tuple[tuple[Span, ...], ...]:
    """The coloured spans of each line."""
    found = spans(text, lexer)
    if not found:
        return ()
    lines = text.split("\n")
    out: list[list[Span]] = [[] for _ in lines]
    line, start = 0, 0
    for at, length, name in found:
        while at > start + len(lines[line]):
            start += len(lines[line]) + 1
            line += 1
        here, base = line, start
        while length > 0 and here < len(lines):
            room = base + len(lines[here]) - at
            if min(length, room) > 0:
                out[here].append((at - base, min(length, room), name))
            length -= room + 1
            base += len(lines[here]) + 1
            at = base
            here += 1
    return tuple(map(tuple, out))
