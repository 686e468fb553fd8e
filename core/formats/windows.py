"""Changes of files by agents that look at a file through a window of numbered lines: SWE-agent and those that learnt
from it (OpenHands' skills, InnovatorBench). What came back shows the file: an edit by line numbers says what went."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from core.domain.deed import changed_texts
from core.domain.step import Action, Observation
from core.formats.edits import FileEdit

_MARK = "[File: "
_HEAD = re.compile(r"\[File: (?P<path>[^\n]{1,4096}?) \((?P<total>\d{1,9}) lines total(?: after edit)?\)\]")
_LINE = re.compile(r"^(\d{1,9})[:|]([^\n]*)$", re.MULTILINE)
_BY_NUMBER = re.compile(
    r"\Aedit\s+(?P<first>\d{1,9}):(?P<last>\d{1,9})[^\n]*\n(?P<text>.*?)(?:\n?end_of_edit)?\s*\Z", re.DOTALL)
_ADDING = ("insert", "insert_content_at_line", "append_file")
_REFUSED = ("edit has introduced", "edit was not applied", "[No exact match found in ")
_HEAD_OF_RESULT = 400
"""Characters in which an editor refuses an edit."""

_MOST = 1024 * 1024
"""Characters of a window that are read."""


class _Seen(msgspec.Struct):
    """The lines of a file that were seen since it had so many."""

    total: int
    lines: dict[int, str]

    def span(self, first: int, last: int) -> str | None:
        """These lines; None where one was never seen."""
        found = [self.lines.get(n) for n in range(first, min(last, self.total) + 1)] if last - first < _MOST else [None]
        return None if None in found else "".join(f"{line}\n" for line in found)

    @property
    def whole(self) -> str | None:
        return self.span(1, self.total) if len(self.lines) == self.total else None


def is_refused(observation: Observation) -> bool:
    """Whether an editor said that it did not apply the edit, which those programs tell in words alone."""
    head = observation.output.text[:_HEAD_OF_RESULT]
    return any(words in head for words in _REFUSED)


def open_file(observations: Sequence[Observation]) -> str:
    """The file that a window of a step's results shows; "" where none does."""
    heads = (_HEAD.search(o.output.text[:_MOST]) for o in observations if _MARK in o.output.text)
    return next((head["path"] for head in heads if head is not None), "")


class Windows:
    """What the windows of a session showed, and the changes that follow from them."""

    def __init__(self) -> None:
        self._files: dict[str, _Seen] = {}

    def copy(self) -> Windows:
        """One that goes on by itself."""
        made = Windows()
        made._files = dict(self._files)
        return made

    def of(self, action: Action, observation: Observation) -> FileEdit | None:
        """The change of an edit whose result is a window; None for what changed nothing, or does not show it."""
        if _MARK not in observation.output.text:
            return None
        text, given = observation.output.text[:_MOST], action.arguments
        head = _HEAD.search(text)
        if head is None:
            return None
        path = whole_path(head["path"], observation.data)
        before = self._files.get(path)
        after = self._look(path, int(head["total"]), text[head.end() :])
        return _edit(path, before, after, action.tool, given)

    def forget(self, path: str) -> str | None:
        """What a file that is removed held, where all of it was seen."""
        seen = self._files.pop(path, None)
        return seen.whole if seen is not None else None

    def _look(self, path: str, total: int, text: str) -> _Seen:
        """Take over what a window shows; a file of another length has other lines at the same numbers."""
        seen = self._files.get(path)
        shown = {int(number): line.rstrip("\r") for number, line in _LINE.findall(text)}
        before = seen.lines if seen is not None and seen.total == total else {}
        self._files[path] = after = _Seen(total, {**before, **shown})
        return after


def _edit(path: str, before: _Seen | None, after: _Seen, tool: str, given: Mapping[str, Any]) -> FileEdit | None:
    """What an edit did; None for a call that only looks."""
    command = given.get("command")
    by_number = _BY_NUMBER.match(command) if isinstance(command, str) else None
    pairs = list(changed_texts(given))
    if tool in ("create", "create_file"):
        return FileEdit(path, None, after.whole or "")
    if by_number is None and not pairs and not (tool in _ADDING or _says(command, ("edit", "insert"))):
        return None
    if before is not None and (old := before.whole) is not None and (new := after.whole) is not None:
        return FileEdit(path, old, new) if old != new else None
    if before is not None and (part := _changed_part(before, after)) is not None:
        return FileEdit(path, *part, is_partial=True)
    if by_number is not None:
        old = before.span(int(by_number["first"]), int(by_number["last"])) if before is not None else None
        return FileEdit(path, old or "", by_number["text"] + "\n", is_partial=True)
    if pairs:
        return FileEdit(path, "\n".join(old for old, _ in pairs), "\n".join(new for _, new in pairs), is_partial=True)
    text = given.get("text")
    return FileEdit(path, "", text, is_partial=True) if isinstance(text, str) else None


def _changed_part(before: _Seen, after: _Seen) -> tuple[str, str] | None:
    """The lines that one edit changed, where both windows show them with an equal line on either side."""
    moved = after.total - before.total
    same_place = sorted(before.lines.keys() & after.lines.keys())
    first = next((n for n in same_place if before.lines[n] != after.lines[n]), None)
    below = sorted((n for n in before.lines if n + moved in after.lines), reverse=True)
    last = next((n for n in below if before.lines[n] != after.lines[n + moved]), None)
    if first is None or last is None or (first > 1 and first - 1 not in same_place) or (
            last < before.total and last + 1 not in below):
        return None
    first = min(first, last + 1, last + moved + 1)
    old, new = before.span(first, last), after.span(first, last + moved)
    return None if old is None or new is None else (old, new)


def _says(command: Any, names: tuple[str, ...]) -> bool:
    return isinstance(command, str) and command.split(maxsplit=1)[:1] in [[name] for name in names]


def edit_in(result: Mapping[str, Any]) -> FileEdit | None:
    """The change of a result that gives the numbered lines around it, before and after (InnovatorBench)."""
    path, old, new = (result.get(key) for key in ("file_path", "removed_context", "added_context"))
    if not (isinstance(path, str) and path and isinstance(old, str) and old and isinstance(new, str)) or old == new:
        return None
    return FileEdit(path, _unnumbered(old), _unnumbered(new), is_partial=True)


def _unnumbered(text: str) -> str:
    return "".join(f"{line}\n" for _, line in _LINE.findall(text[:_MOST]))


def whole_path(path: str, data: Mapping[str, Any]) -> str:
    """A path as it is from the root on, where the result tells in which folder the agent was."""
    folder = data.get("working_dir")
    return path if path.startswith("/") or not isinstance(folder, str) or not folder.startswith("/") else (
        f"{folder.rstrip('/')}/{path}")
