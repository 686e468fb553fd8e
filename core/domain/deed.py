"""What an action did in one line, as a table of tools tells it: the command, the file, the query, the plan's state.

Pure text: nothing is run, and every expression is applied to a bounded part of what a foreign file holds.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from core.domain.changed_lines import LineCount, heredocs, patched_paths, written_lines
from core.domain.path_parts import name_of
from core.domain.plan import plan_items
from core.domain.python_call import unwrapped
from core.domain.step import Action
from core.domain.tools import CHANGES, Tool, ToolKind, ToolTable

MOST = 2000
"""Characters of an argument that are looked at for a title."""

_SHELLS = ("sh", "bash", "zsh", "dash", "ash", "cmd", "powershell", "pwsh")
_SHELL_LINE = re.compile(r"^(?:/\S{1,40}/)?(?:ba|z|da)?sh +-l?c +(?:(['\"])(?P<quoted>.{1,1900})\1|(?P<bare>\S+))\s*$",
                         re.DOTALL)
_SLEEP = re.compile(r"^\s*(?:sleep|Start-Sleep(?: -Seconds)?)\s+(?P<time>[\d.]{1,12}[smhd]?)\s*(?:$|;|&&)")
_QUIET = re.compile(r"(?:sleep|echo|true|date|wait|:)\b[^|><&;\n]*$")
_PARTS = re.compile(r"&&|;|\n")
_SED = re.compile(r"\b(?:sed|perl)\s+(?:-\w+\s+)*-\w*i\S*\s")
_EDITED_LINES = re.compile(r"^edit\s+(\d{1,7}):(\d{1,7})\b")
_PATHS = ("path", "file_path", "filename", "absolute_path", "target_file", "notebook_path", "file", "relative_path",
          "filePath", "relative_workspace_path")


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """What one action did. `paths` are the files that it changed or read; `lines` those that it added and removed, as
    far as the call says."""

    kind: ToolKind
    title: str = ""
    paths: tuple[str, ...] = ()
    lines: LineCount = LineCount()

    @property
    def is_change(self) -> bool:
        """Whether files were changed."""
        return self.kind in CHANGES or bool(self.kind == "shell" and self.paths)


def deed_of(action: Action, table: ToolTable) -> Deed:
    """What an action did, in the words of its program's table."""
    action = unwrapped(action)
    tool, given = table.tool(action.tool), _spread(action)
    kind = tool.kind_of(given)
    if kind == "shell":
        return _shell(command_line(_first(given, tool.title) or _first(given, ("command", "cmd", "code"))))
    if kind == "todo":
        return Deed(kind=kind, title=_plan(given))
    if kind in CHANGES:
        return _change(kind, tool, given)
    if kind == "input":
        return Deed(kind=kind if _text(given, tool.title) else "wait", title=_named(tool, given))
    return Deed(kind=kind, title=_named(tool, given), paths=(path,) if (path := path_in(tool, given)) and
                kind == "read" else ())


def _spread(action: Action) -> Mapping[str, Any]:
    """The arguments; of a line that begins with the tool's own name (`open a.py 12`), the words after it."""
    given = action.arguments
    line = given.get("command")
    if len(given) != 1 or not isinstance(line, str) or not line.startswith(action.tool):
        return given
    words = line[len(action.tool) :].split("\n")[0].split()
    return given if line[len(action.tool) : len(action.tool) + 1].strip() else {
        "command": line, "line": " ".join(words)[:MOST], **({"path": words[0].strip("'\"")} if words else {})}


def command_line(value: Any) -> str:
    """A command as a person would type it: without `bash -lc`, be it a list or a line."""
    if isinstance(value, list):
        words = [str(v) for v in value]
        if len(words) > 2 and name_of(words[0]).removesuffix(".exe") in _SHELLS and words[1].startswith("-"):
            return words[-1]
        return shlex.join(words) if len(words) > 1 else "".join(words)
    text = value if isinstance(value, str) else ""
    found = _SHELL_LINE.match(text) if len(text) < MOST else None
    return found["quoted"] or found["bare"] if found else text


@cache
def _path_names(where: tuple[str, ...], title: tuple[str, ...]) -> tuple[str, ...]:
    return *where, *(t for t in title if t in _PATHS), *_PATHS


def path_in(tool: Tool, given: Mapping[str, Any]) -> str:
    """The file that a call names; "" for none."""
    named = _first(given, _path_names(tool.where, tool.title))
    return named if isinstance(named, str) else ""


def changed_texts(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(old, new) of each replacement that a call of an editor makes."""
    if not _PAIRED.isdisjoint(given) and any(isinstance(given.get(key), str) for key in _PAIRED):
        yield str(_first(given, OLD)), str(_first(given, NEW))
    edits = given.get("edits", given.get("replacements"))
    for edit in edits if isinstance(edits, list) else ():
        if isinstance(edit, dict):
            yield from changed_texts(edit)


OLD = ("old_string", "old_str", "old_text", "oldText", "search", "target_content")
NEW = ("new_string", "new_str", "new_text", "newText", "replace", "replacement", "replacement_content")
_PAIRED = frozenset((*OLD, *NEW))
_WHOLE = ("content", "file_text", "contents", "text", "new_source", "code_edit", "data")


def whole_text(given: Mapping[str, Any]) -> str | None:
    """What a call writes as the whole of a file; None where it names none."""
    for key in _WHOLE:
        if isinstance(found := given.get(key), str):
            return found
    return None


def patch_text(given: Mapping[str, Any]) -> str:
    """The patch of a call; "" for none."""
    return next((v for v in (given.get(k) for k in ("input", "patch", "diff", "changes", "command", "content"))
                 if isinstance(v, str) and v), "")


# ---- kinds -------------------------------------------------------------------------------------------


def _shell(command: str) -> Deed:
    head = command[:MOST]
    if _SLEEP.match(head) and all(_QUIET.match(part.strip()) for part in _PARTS.split(head) if part.strip()):
        return Deed(kind="wait", title=head.strip())
    if "apply_patch" in head[:200] and "*** " in command:
        return Deed(kind="patch", title=head, paths=patched_paths(command), lines=LineCount.of_patch(command))
    written = list(heredocs(command))
    paths = [path for path, _ in written]
    if _SED.search(head):
        paths += _last_words(head)
    lines = LineCount(added=sum(written_lines(text) for _, text in written))
    return Deed(kind="shell", title=head.strip(), paths=tuple(dict.fromkeys(paths)), lines=lines)


def _last_words(command: str) -> list[str]:
    """The files that a `sed -i` line names: what follows its expression."""
    found = []
    for part in _PARTS.split(command):
        if _SED.search(part):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            plain = [w for w in words[1:] if not w.startswith("-")]
            found += [w for w in plain[1:] if "/" in w or "." in w]
    return found


def _change(kind: ToolKind, tool: Tool, given: Mapping[str, Any]) -> Deed:
    if kind == "patch":
        text = patch_text(given)
        paths = patched_paths(text) or (path_in(tool, given),)
        rest = f" +{len(paths) - 1}" if len(paths) > 1 else ""
        return Deed(kind=kind, title=paths[0] + rest, paths=tuple(filter(None, paths)), lines=LineCount.of_patch(text))
    path = path_in(tool, given) or _word(str(given.get("command") or ""))
    whole = whole_text(given)
    if kind == "write" and whole is not None:
        lines = LineCount(added=written_lines(whole))
    elif named := _EDITED_LINES.match(str(given.get("command") or "")):
        text = str(given["command"]).rstrip().removesuffix("end_of_edit").removesuffix("\n")
        lines = LineCount(added=text.count("\n"), removed=max(0, int(named[2]) - int(named[1]) + 1))
        path = path if path != f"{named[1]}:{named[2]}" else ""
    else:
        lines = LineCount.of_texts(changed_texts(given))
    return Deed(kind=kind, title=path, paths=(path,) if path else (), lines=lines)


def _plan(given: Mapping[str, Any]) -> str:
    """A checklist's state: how much is done, what was done last, what is in work."""
    items = plan_items(given)
    if items is None:
        return _flat(_first(given, ("explanation", "command", "title", "subject", "taskId", *given)))
    done = [item.words for item in items if item.state == "done"]
    now = [item.words for item in items if item.state == "working"]
    parts = [f"{len(done)}/{len(items)}"]
    parts += [f"✓ {done[-1][:70]}"] if done else []
    parts += [f"▸ {now[0][:70]}"] if now else []
    if len(parts) == 1 and items:
        parts.append(items[0].words[:70])
    return " ".join(parts)


def _named(tool: Tool, given: Mapping[str, Any]) -> str:
    """The arguments that a table names; of what no table knows, all of them."""
    titled = _text(given, tool.title)
    where = _text(given, tuple(k for k in tool.where if k not in tool.title))
    if titled or where or "line" in given:
        return " · ".join(t for t in (titled or _flat(given.get("line", "")), where) if t)
    known = [f"{k}: {_flat(v)}" for k, v in list(given.items())[:8] if v not in (None, "", [], {})]
    return _flat(next(iter(given.values()))) if len(given) == 1 and len(known) == 1 else " · ".join(known)


def _text(given: Mapping[str, Any], keys: Sequence[str]) -> str:
    return _flat(_first(given, keys))


_EMPTY: tuple[Any, ...] = (None, "", [], {})


def _first(given: Mapping[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        if (value := given.get(key)) not in _EMPTY:
            return value
    return ""


def _flat(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        value = ", ".join(value[:20])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(text[:MOST].split())


def _word(line: str) -> str:
    """The file of `create PATH` and the like."""
    words = line[:MOST].split("\n")[0].split()
    return words[1].strip("'\"") if len(words) > 1 else ""
