"""No module reaches itself by its imports, not even by one that waits inside a function."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from module_graph import circles, floors, module_graph  # noqa: E402


def test_no_circle_of_imports() -> None:
    files = [p for top in ("app", "core") for p in (ROOT / top).rglob("*.py")]
    assert circles(module_graph({p.relative_to(ROOT).as_posix(): p.read_text() for p in files})) == []


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
