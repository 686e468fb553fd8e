"""What a tool is for, and which of its arguments tells what was done: the words in which tables of tools are written.

A table says it for the tools of one program by their names. Whoever shows, folds, counts or judges steps asks a table
and lists no names: `OWN` is that of our own actions, those of other programs lie in resources/tools
(`core.formats.tools`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from core.domain.action_kinds import ACTION_KINDS, Family

ToolKind = Literal["shell", "input", "wait", "read", "list", "search", "edit", "write", "patch", "web_search",
                   "web_page", "todo", "subagent", "message", "thought", "submit", "tool"]
"""`shell` runs a command; `input` types into, ends or lists what runs; `wait` passes time or looks whether something is
over; `read` shows a file, `list` names of files, `search` looks into files; `edit` changes a part of a file, `write`
the whole, `patch` what a patch names; `message` speaks to a person; `submit` hands in or ends; `tool` is any other."""

CHANGES: frozenset[str] = frozenset({"edit", "write", "patch"})
LOOKS: frozenset[str] = frozenset({"read", "list", "search"})

FAMILIES: dict[str, Family] = {
    "shell": "command", "input": "command", "wait": "command", "read": "file", "list": "file", "search": "file",
    "edit": "file", "write": "file", "patch": "file", "web_search": "search", "web_page": "browse", "todo": "control",
    "subagent": "control", "message": "control", "thought": "control", "submit": "control", "tool": "other"}
"""The family that a foreign tool's action is of."""

_MOST_FOUND = 1000
"""Names that a table remembers the answer for."""

_QUALIFIER = re.compile(r"^.*(?:__|[./:])(?=\w)", re.DOTALL)


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """What a table says of one tool. `title` names the arguments of which the first that is there tells what was done,
    `where` those that tell where. `by` names an argument whose value decides on the kind (an editor's command)."""

    kind: ToolKind
    title: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    by: str = ""
    kinds: Mapping[str, ToolKind] = MappingProxyType({})

    def kind_of(self, arguments: Mapping[str, Any]) -> ToolKind:
        """The kind of a call with these arguments."""
        return self.kinds.get(str(arguments.get(self.by)), self.kind) if self.by else self.kind


UNKNOWN = Tool(kind="tool")


class ToolTable:
    """The tools of one program by name; what it does not know is looked up in the tables after it."""

    def __init__(self, tools: Mapping[str, Tool], *after: ToolTable) -> None:
        self._tools = {name.lower(): tool for name, tool in tools.items()}
        self._after = after
        self._found: dict[str, Tool | None] = {}

    def find(self, name: str) -> Tool | None:
        """The tool of a name; capitals do not count, and of `mcp__server__read_file` the last part does."""
        if name not in self._found:
            if len(self._found) >= _MOST_FOUND:  # a model may name what there is not
                self._found.clear()
            self._found[name] = self._named(name.lower()) or self._named(_QUALIFIER.sub("", name.lower()))
        return self._found[name]

    def tool(self, name: str) -> Tool:
        """The tool of a name, or what is said of any tool."""
        return self.find(name) or UNKNOWN

    def _named(self, name: str) -> Tool | None:
        own = self._tools.get(name)
        return own or next((found for table in self._after if (found := table._named(name)) is not None), None)


OWN = ToolTable({kind.name: Tool(kind=kind.kind, title=kind.title, where=kind.where)  # type: ignore[arg-type]
                 for kind in ACTION_KINDS.values()})
"""Our own actions."""
