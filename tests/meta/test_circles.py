"""No module reaches itself by its imports, not even by one that waits inside a function."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from module_graph import circles, floors, module_graph  # noqa: E402

FREE = ("core/domain", "core/actions", "core/agents", "core/sandbox", "core/supervision")
"""Packages in which modules do not need each other for types either; the list only grows."""


def sources(*places: str) -> dict[str, str]:
    return {p.relative_to(ROOT).as_posix(): p.read_text() for place in places for p in (ROOT / place).rglob("*.py")}


def test_no_circle_of_imports() -> None:
    assert circles(module_graph(sources("app", "core"))) == []


@pytest.mark.parametrize("package", FREE)
def test_no_circle_of_types_in_a_package(package: str) -> None:
    assert circles(module_graph(sources(package), with_types=True)) == []


def test_imports_in_functions_and_relative_ones_are_seen_and_those_for_types_are_not() -> None:
    graph = module_graph({
        "core/__init__.py": "",
        "core/a.py": "def f():\n    from core import b\n",
        "core/b.py": "from .c import thing\n",
        "core/c.py": "import importlib\nimportlib.import_module('core.a')\n",
        "core/d.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import core.e\n",
        "core/e.py": "import core.d\n",
    })
    assert graph == {"core": set(), "core.a": {"core.b"}, "core.b": {"core.c"}, "core.c": {"core.a"},
                     "core.d": set(), "core.e": {"core.d"}}
    assert circles(graph) == [("core.a", "core.b", "core.c")]


def test_rooms_in_a_circle_share_a_floor() -> None:
    assert floors({"roof": {"left", "right"}, "left": {"right"}, "right": {"left", "cellar"}, "cellar": set()}) == 3
