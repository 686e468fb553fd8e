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

from core.domain.step import Action, StepBody
from core.supervision.traces import REPLACE

_SHELLS = frozenset({
    "bash", "execute_bash", "terminal", "run", "command", "shell", "exec_command", "bash_command", "run_shell_command",
    "execute_command", "local_shell", "container.exec"})
_SAME = {
    **dict.fromkeys(("read", "read_file", "open", "view"), "open_file"),
    **dict.fromkeys(("write", "write_file", "write_to_file", "create"), "create_file"),
    **dict.fromkeys(("edit", "insert", "multiedit", "replace", "replace_in_file", "str_replace"), REPLACE),
    **dict.fromkeys(("glob", "ls", "list_directory", "list_files", "find_file"), "list_files"),
    **dict.fromkeys(("grep", "search_file_content", "search_files", "search_dir", "search_file"), "search_dir"),
    **dict.fromkeys(("websearch", "google_web_search"), "web_search"),
    **dict.fromkeys(("webfetch", "web_fetch"), "web_browse"),
    **dict.fromkeys(("todowrite", "update_plan", "think"), "think"),
    **dict.fromkeys(("bashoutput", "wait"), "get_session_output"),
    **dict.fromkeys(("submit", "finish", "attempt_completion", "mark_task_complete"), "finish"),
}
"""Our names by theirs, in lower case."""

_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor", "file_editor"})
_LINES = re.compile(r"edit\s+\d+:\d+\s*\n(?P<text>.*?)(?:\n?end_of_edit\s*)?$", re.DOTALL)
_WINDOW = re.compile(r"^\[File: (?P<path>.+?) \(\d+ lines total\)\]", re.MULTILINE)


def in_our_words(steps: Sequence[StepBody]) -> list[StepBody]:
    """The steps with our names of actions and arguments. A result that shows the window of a file (SWE-agent) counts
    as a look at it."""
    translated: list[StepBody] = []
    opened = ""
    for body in steps:
        actions = [_translated(a, opened) for a in body.actions]
        for observation in body.observations:
            for window in _WINDOW.finditer(observation.output.text):
                opened = window["path"]
                actions.append(Action(call_id="", tool="open_file", arguments={"path": opened}))
        translated.append(msgspec.structs.replace(body, actions=tuple(actions)))
    return translated


def _translated(action: Action, opened: str) -> Action:
    name, given = action.tool.lower(), action.arguments
    if action.malformed:
        return action
    line = str(given.get("command") or "")
    if name in _EDITORS:
        return _edited(action, line)
    if name in _SHELLS:
        return _named(action, "run_command", command=_first(given, "command", "cmd", "keystrokes", "script"))
    if name in ("edit", "insert") and (lines := _LINES.match(line)):
        return _named(action, "edit_file", path=opened, content=lines["text"])
    ours = _SAME.get(name)
    if ours is None:
        return action
    path = _first(given, "path", "file_path", "filename", "absolute_path", "target_file") or _word(line)
    path = opened if ours == REPLACE and not path else path
    text = "\n".join(_texts(given))
    return _named(action, ours, path=path, content=text)


def _edited(action: Action, act: str) -> Action:
    """The editor that does several things by its `command`."""
    given = action.arguments
    ours = {"view": "open_file", "create": "create_file"}.get(act, REPLACE)
    return _named(action, ours, path=str(given.get("path") or ""), content="\n".join(_texts(given)))


def _named(action: Action, tool: str, **arguments: str) -> Action:
    filled = {k: v for k, v in arguments.items() if v}
    if "path" in filled:
        filled["path"] = posixpath.normpath(filled["path"])
    return msgspec.structs.replace(action, tool=tool, arguments=filled)


def _first(given: Mapping[str, Any], *names: str) -> str:
    value = next((given[n] for n in names if given.get(n)), "")
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


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
