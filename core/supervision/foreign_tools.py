"""Steps of imported sessions in this program's own vocabulary of actions, so that every rule can read them.

Other programs name the same acts otherwise: a shell is Bash, terminal or execute_bash, a file is read with Read, view
or open. Only rules see steps so; the log and every sample keep the names that were written.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.domain.deed import command_line, path_in
from core.domain.step import Action, StepBody
from core.domain.tools import OWN, ToolTable
from core.formats.tools import any_program
from core.supervision.traces import REPLACE

_OURS: dict[str, str] = {
    "shell": "run_command", "read": "open_file", "write": "create_file", "edit": REPLACE, "list": "list_files",
    "search": "search_dir", "web_search": "web_search", "web_page": "web_browse", "todo": "think", "thought": "think",
    "wait": "get_session_output", "submit": "finish"}
"""Our action for what a tool of another program is for."""

_LINES = re.compile(r"edit\s+\d+:\d+\s*\n(?P<text>.*?)(?:\n?end_of_edit\s*)?$", re.DOTALL)
_WINDOW = re.compile(r"^\[File: (?P<path>.+?) \(\d+ lines total\)\]", re.MULTILINE)


class Translation:
    """Steps with our names of actions and arguments, one after the other; `tools` is their program's table. A result
    that shows the window of a file (SWE-agent) counts as a look at it."""

    def __init__(self, tools: ToolTable | None = None) -> None:
        self._tools = tools
        self.opened = ""
        """The file that a window showed last."""

    def of(self, body: StepBody) -> StepBody:
        """The next step."""
        actions = [_translated(a, self.opened, self._tools or any_program()) for a in body.actions]
        for observation in body.observations:
            text = observation.output.text
            for window in _WINDOW.finditer(text) if "[File: " in text else ():
                self.opened = window["path"]
                actions.append(Action(call_id="", tool="open_file", arguments={"path": self.opened}))
        return msgspec.structs.replace(body, actions=tuple(actions))


def in_our_words(steps: Sequence[StepBody], tools: ToolTable | None = None) -> list[StepBody]:
    """All steps of a session in our words."""
    return list(map(Translation(tools).of, steps))


def _translated(action: Action, opened: str, tools: ToolTable) -> Action:
    given = action.arguments
    line = str(given.get("command") or "")
    tool = tools.tool(action.tool)
    ours = _OURS.get(tool.kind_of(given))
    if action.malformed or ours is None or tool is OWN.find(action.tool):
        return action
    if ours == "run_command":
        return _named(action, ours, command=command_line(_first(given, tool.title)))
    if ours == REPLACE and (lines := _LINES.match(line)):
        return _named(action, "edit_file", path=opened, content=lines["text"])
    path = path_in(tool, given) or ("" if tool.by else _word(line))
    path = opened if ours == REPLACE and not path else path
    return _named(action, ours, path=path, content="\n".join(_texts(given)))


def _named(action: Action, tool: str, **arguments: str) -> Action:
    filled = {k: v for k, v in arguments.items() if v}
    if "path" in filled:
        filled["path"] = posixpath.normpath(filled["path"])
    return msgspec.structs.replace(action, tool=tool, arguments=filled)


def _first(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((given[n] for n in names if given.get(n)), "")


def _word(line: str) -> str:
    """The file of `open PATH` and the like."""
    words = line.split("\n")[0].split()
    return words[1].strip("'\"") if len(words) > 1 else ""


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    """What a change writes."""
    for key in ("content", "file_text", "new_string", "new_str", "new_text", "replace", "text", "contents"):
        if isinstance(given.get(key), str):
            yield given[key]
    edits = given.get("edits")
    for edit in edits if isinstance(edits, list) else ():
        if isinstance(edit, dict):
            yield from _texts(edit)
