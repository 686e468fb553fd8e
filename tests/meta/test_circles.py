"""No two modules need each other: neither at once, nor later inside a function, nor for types alone."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FREE = ("core.domain", "core.actions", "core.agents", "core.sandbox", "core.supervision")
"""The packages without a circle; the list only grows."""


def imports(tree: ast.AST, package: str) -> set[str]:
    """Every name that a module imports, wherever in it, as "module" and "module.name"."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
    return found


def graph(package: str) -> dict[str, set[str]]:
    """What each module of a package imports of it; a package's door counts where nothing behind it is named."""
    sources = {}
    for path in (ROOT / package.replace(".", "/")).rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        sources[name.removesuffix(".__init__")] = path
    found = {}
    for name, path in sources.items():
        own = name if path.stem == "__init__" else name.rpartition(".")[0]
        named = imports(ast.parse(path.read_text(encoding="utf-8")), own) & set(sources)
        found[name] = {one for one in named if not any(other.startswith(f"{one}.") for other in named)} - {name}
    return found


@pytest.mark.parametrize("package", FREE)
def test_a_package_has_no_circle(package):
    try:
        tuple(TopologicalSorter(graph(package)).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_an_import_inside_a_function_or_for_types_counts():
    tree = ast.parse("def f():\n    from a.b import c\nif TYPE_CHECKING:\n    from . import d\n    import e")
    assert {"a.b", "a.b.c", "own.d", "e"} <= imports(tree, "own")
