"""Files of one record a line, as programs write them while they run: read in order, damage named with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import ReportableError
from core.formats.json_items import FileItems
from core.formats.source import Source, printable
from core.formats.values import dicts_of

_NAMED_ONE_BY_ONE = 5
"""Damaged lines that are named one by one."""


class Records(msgspec.Struct, frozen=True):
    """The objects of a file in order, and sentences on what could not be read.

    Those of a large file are decoded each time they are looked at: whoever goes over them more than once asks for
    outlines, what `outline` gave of each.
    """

    items: Sequence[dict[str, Any]]
    problems: tuple[str, ...]
    outlines: Sequence[Any] = ()

    @property
    def warnings(self) -> list[str]:
        """The first few of the sentences, and how many there are beyond them."""
        more = len(self.problems) - _NAMED_ONE_BY_ONE
        return [*self.problems[:_NAMED_ONE_BY_ONE], *([f"{more} more lines could not be read."] if more > 0 else [])]


def _nothing(place: int, record: dict[str, Any]) -> Any:
    return None


def records(source: Source, outline: Callable[[int, dict[str, Any]], Any] = _nothing,
            looks_at: tuple[str, ...] | None = None) -> Records:
    """All objects of a file of lines; also of one that is a JSON list, or a single object. `outline` is given the place
    of each among them, and of a growing file only what it has not seen; it `looks_at` some members alone, where they
    are named."""
    if source.shape != "lines":
        value = source.json.value
        found = dicts_of(value if isinstance(value, list) else [value])
        return Records(found, tuple(filter(None, [source.json.problem])), [*starmap(outline, enumerate(found))])
    places = FileItems(source.pieces()) if source.is_read_again else None
    items: list[dict[str, Any]] = []
    problems: list[str] = []
    outlines: list[Any] = []
    held: list[Any] = [] if source.held is None else source.held.setdefault(getattr(outline, "__code__", outline), [])
    members = () if outline is _nothing else looks_at
    for line, parsed in source.records(None if places is None else members):
        where = f"Line {line.number} (byte {line.start})"
        if parsed.problem and "UTF-8" not in parsed.problem:
            cut = "" if line.whole else " The file ends inside this line."
            problems.append(f"{where} was left out: {parsed.problem}{cut}")
        elif not isinstance(parsed.value, dict):
            problems.append(f"{where} was left out: it is no record.")
        else:
            items.append(parsed.value) if places is None else places.append(
                line.start, len(line.data), parsed.is_plain)
            if len(outlines) == len(held) and line.whole:
                held.append(outline(len(outlines), parsed.value))
            outlines.append(held[len(outlines)] if len(outlines) < len(held) else outline(len(outlines), parsed.value))
            if parsed.problem:
                problems.append(f"{where}: {parsed.problem}")
    return Records(items if places is None else places.items(), tuple(problems), outlines)


def gathered(source: Source, paths: Iterable[Path]) -> Records:
    """The objects of files that hold one each, such as the events of a folder. Raises ReportableError
    (file_incomplete) for one that is still being written; others that cannot be read are problems."""
    items: list[dict[str, Any]] = []
    problems: list[str] = []
    for path in paths:
        try:
            one = source.part(path)
            items.extend([one.object] if one.object else [])
            if one.json.problem or not one.object:
                problems.append(f"{printable(path.name)}: {one.json.problem or 'it is no record.'}")
        except ReportableError as error:
            if error.code == "file_incomplete":
                raise
            problems.append(str(error))
    return Records(items, tuple(problems))
