"""Names say what they hold: words that fit everything name nothing (DESIGN.md's glossary has the words to use)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ("core/aio.py", "core/logs.py", *(f"{top}core/{room}" for top in ("", "tests/") for room in (
    "cli", "client", "llm", "protocol", "server", "store", "tasks")), "tests/wire", "tests/meta", "packaging")
"""Where no such name is left."""

VAGUE = re.compile(r"_*(told|said|kept|keep|keeper|keeping|listed|standing|looked|later|worlds?|surroundings)", re.I)


def bound(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything that a module names."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


@pytest.mark.parametrize("place", PLAIN)
def test_names_say_what_they_hold(place: str) -> None:
    path = ROOT / place
    found = []
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        names = [(0, file.stem), *bound(ast.parse(file.read_text(encoding="utf-8")))]
        found += [f"{file.relative_to(ROOT)}:{line} {name}" for line, name in names if VAGUE.fullmatch(name)]
    assert found == []
