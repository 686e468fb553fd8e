"""The tables of tools of other programs, read once from resources/tools: data that anybody may add a line to."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from core.domain.action_kinds import Family
from core.domain.errors import InvalidInput
from core.domain.tools import FAMILIES, OWN, Tool, ToolTable
from core.store.home import resources

COMMON = "common"
"""The table of names that several programs use."""

OURS = "ours"
"""How a table names our own actions."""

_ABOUT = ("program", "also", "open", "choice")


@cache
def table_of(format: str) -> ToolTable:
    """The tools of a format's program; of one that has no table, and of our own sessions, what is known of any."""
    if format == COMMON or format not in _names():
        return common()
    path = _folder() / f"{format}.toml"
    table = _load(path)
    return ToolTable(_tools(table, path), *(_alone(name) for name in table.get("also", ())), common())


@cache
def common() -> ToolTable:
    """The names that several programs use; among them are ours."""
    return ToolTable(_tools(_load(path := _folder() / f"{COMMON}.toml"), path), OWN)


def program_of(format: str) -> str:
    """The name by which people know a format's program, which nobody translates; "" for a format not known here. It
    stands in this table, not beside the reader: whoever lists sessions asks for it, and must not load all readers."""
    return str(_load(_folder() / f"{format}.toml").get("program", "")) if format in _names() else ""


@cache
def is_open(format: str) -> bool:
    """Whether a format's tools are whatever its task offers, so that nobody can know all of them."""
    return bool(_load(_folder() / f"{format}.toml").get("open"))


def family_of(tool: str) -> Family:
    """The family that a foreign tool's name points to."""
    found = any_program().find(tool)
    return FAMILIES[found.kind] if found is not None else "other"


@cache
def any_program() -> ToolTable:
    """What is known of tools by their names alone, whosoever they are."""
    return ToolTable({}, OWN, common(), *map(_alone, sorted(_names())))


@cache
def _alone(name: str) -> ToolTable:
    if name == OURS:
        return OWN
    path = _folder() / f"{name}.toml"
    return ToolTable(_tools(_load(path), path))


def _folder() -> Path:
    return resources() / "tools"


@cache
def _names() -> frozenset[str]:
    """The tables that there are; a session's format is a foreign text, and never made a path."""
    return frozenset(path.stem for path in _folder().glob("*.toml"))


@cache
def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput("bad_tool_table", f"The table of tools {path} cannot be read: {error}",
                           path=str(path)) from error


def _tools(table: dict[str, Any], path: Path) -> dict[str, Tool]:
    """The tools of a file. Raises InvalidInput for a kind that there is not."""
    made: dict[str, Tool] = {}
    for kind, names in table.items():
        if kind not in _ABOUT and kind not in FAMILIES:
            raise InvalidInput("bad_tool_table", f"{path} has tools of the kind {kind}, which there is not.",
                               path=str(path))
        if kind not in _ABOUT:
            made |= {name: _tool(kind, arguments) for name, arguments in names.items()}
    made |= {name: _choice(choice) for name, choice in table.get("choice", {}).items()}
    return made


def _tool(kind: Any, arguments: str) -> Tool:
    title, _, where = arguments.partition("|")
    return Tool(kind=kind, title=tuple(title.split()), where=tuple(where.split()))


def _choice(table: dict[str, str]) -> Tool:
    kinds: dict[str, Any] = {value: kind for value, kind in table.items() if value not in ("by", "title", "otherwise")}
    return Tool(kind=table.get("otherwise", "edit"), title=tuple(table["title"].split()),  # type: ignore[arg-type]
                by=table["by"], kinds=kinds)
