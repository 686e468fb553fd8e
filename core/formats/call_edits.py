"""Changes of files as the calls themselves tell of them, where a format keeps no contents: what was written, what was
replaced by what, patches, here-documents. What a call does not say is not made up: such a change holds a part only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.changed_lines import heredocs
from core.domain.deed import changed_texts, command_line, patch_text, path_in, whole_text
from core.domain.python_call import unwrapped
from core.domain.step import StepBody
from core.domain.tools import ToolTable
from core.formats.edits import FileEdit
from core.formats.windows import Windows, is_refused, whole_path

_MOST = 4 * 1024 * 1024
"""Characters of contents that are remembered, so that a replacement in a file that was written before is whole."""

_LINE = 20_000
"""Characters of a command in which replacements are looked for."""

_FILE = re.compile(r"^(?:\*\*\* (?P<act>Add|Update|Delete) File: |\+\+\+ (?:b/)?)(?P<path>\S[^\t\n]*)$", re.MULTILINE)
_SED = re.compile(
    r"\bsed\s+(?:-[Er]\s+)?-i\S*\s+(?P<quote>['\"])s(?P<mark>[/|#,@])(?P<old>[^\n\\\[\]*^$]{1,2000}?)(?P=mark)"
    r"(?P<new>[^\n\\&]{0,2000}?)(?P=mark)g?(?P=quote)\s+(?P<path>[\w./~-]{1,4096})")
"""A replacement of plain words by `sed -i`; what an expression matched its call does not say."""

_REMOVED = re.compile(r"(?:\A|&&|;|\n)[ \t]*rm[ \t]+(?P<names>[\w./~ -]{1,4096}?)[ \t]*(?=\Z|&&|;|\n)")
"""Files that `rm` names plainly."""

_ENDS = ("*** ", "diff --git", "--- ", "+++ ", "index ", "@@")


class CallEdits:
    """Reads the changes out of a session's steps, in order."""

    def __init__(self, tools: ToolTable) -> None:
        self._tools = tools
        self._known: dict[str, str] = {}
        self._size = 0
        self._windows = Windows()

    def copy(self) -> CallEdits:
        """One that goes on by itself."""
        made = CallEdits(self._tools)
        made._known, made._size, made._windows = dict(self._known), self._size, self._windows.copy()
        return made

    def of(self, body: StepBody) -> Iterator[FileEdit]:
        """What the actions of a step changed, as far as they say; those that failed changed nothing."""
        results = {o.call_id: o for o in body.observations}
        for action in map(unwrapped, body.actions):
            result = results.get(action.call_id)
            if action.malformed or (result is not None and (result.is_error or is_refused(result))):
                continue
            if result is not None and (seen := self._windows.of(action, result)) is not None:
                yield seen
                continue
            tool = self._tools.tool(action.tool)
            kind, given = tool.kind_of(action.arguments), action.arguments
            if kind == "shell":
                command = command_line(next((given[k] for k in tool.title if given.get(k)), ""))
                yield from self._typed(command)
                yield from self._removed(command, result.data if result is not None else {})
            elif kind == "patch":
                yield from self._patched(patch_text(given))
            elif kind in ("edit", "write") and (path := path_in(tool, given)):
                yield from self._edited(kind, path, given)

    def note(self, path: str, content: str) -> None:
        """What a file holds now is known."""
        self._size += len(content) - len(self._known.get(path, ""))
        self._known[path] = content
        while self._size > _MOST and self._known:
            oldest = next(iter(self._known))
            self._size -= len(self._known.pop(oldest))

    def _edited(self, kind: str, path: str, given: Mapping[str, Any]) -> Iterator[FileEdit]:
        whole = whole_text(given)
        if kind == "write" and whole is not None:
            yield self._written(path, whole)
        elif pairs := [pair for pair in changed_texts(given) if pair[0] != pair[1]]:
            yield self._replaced(path, pairs)

    def _written(self, path: str, whole: str) -> FileEdit:
        before = self._known.get(path)
        self.note(path, whole)
        return FileEdit(path, before, whole)

    def _replaced(self, path: str, pairs: Sequence[tuple[str, str]]) -> FileEdit:
        """One change of all replacements: whole where the file's content is known, else what they name."""
        before = after = self._known.get(path)
        for old, new in pairs:
            if after is None or not old or old not in after:
                return FileEdit(path, "\n".join(old for old, _ in pairs), "\n".join(new for _, new in pairs), True)
            after = after.replace(old, new, 1)
        assert after is not None
        self.note(path, after)
        return FileEdit(path, before, after)

    def _typed(self, command: str) -> Iterator[FileEdit]:
        """What a shell command writes by here-documents or patches."""
        if "*** Begin Patch" in command:
            yield from self._patched(command)
            return
        if "<<" in command:
            for path, text in heredocs(command):
                yield self._written(path, text + "\n")
        elif "sed" in command:
            for found in _SED.finditer(command[:_LINE]):
                yield self._replaced(found["path"], [(found["old"], found["new"])])

    def _removed(self, command: str, data: Mapping[str, Any]) -> Iterator[FileEdit]:
        """Files of which all is known that a shell command removes."""
        for found in _REMOVED.finditer(command[:_LINE]) if "rm " in command else ():
            for name in found["names"].split():
                for path in dict.fromkeys((whole_path(name, data), name)):
                    if (held := self._forget(path)) is not None:
                        yield FileEdit(path, held, None)

    def _forget(self, path: str) -> str | None:
        seen = self._windows.forget(path)
        self._size -= len(self._known.get(path, ""))
        return self._known.pop(path, seen)

    def _patched(self, text: str) -> Iterator[FileEdit]:
        """The files of a patch: a new one is whole, of others the lines that the patch shows."""
        heads = list(_FILE.finditer(text))
        for head, after in zip(heads, [*heads[1:], None], strict=False):
            if head["act"] == "Delete" and (held := self._forget(head["path"])) is not None:
                yield FileEdit(head["path"], held, None)
            if head["act"] == "Delete" or head["path"] == "/dev/null":
                continue
            lines = text[head.end() : after.start() if after else len(text)].split("\n")
            shown = [line for line in lines if line[:1] in ("+", "-", " ") and not line.startswith(_ENDS)]
            new = "".join(line[1:] + "\n" for line in shown if line[0] in "+ ")
            if head["act"] == "Add":
                yield self._written(head["path"], new)
            elif shown:
                old = "".join(line[1:] + "\n" for line in shown if line[0] in "- ")
                yield self._replaced(head["path"], [(old, new)])
