"""The project's own source, parsed once in a process for all tests that read it; nobody changes the trees."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]


@functools.cache
def syntax(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def files(*folders: str) -> list[Path]:
    """The Python files of folders of the project, each folder's in order."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
