"""Which module imports which: every import of the source, those inside functions too, without the ones for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

Graph = dict[str, set[str]]
"""Module → the modules of the same tree that it imports."""


def module_graph(sources: Mapping[str, str], *, with_types: bool = False) -> Graph:
    """The graph of a tree, given as path (`core/aio.py`) → source text; on wish with the imports for types alone."""
    names = {module_name(path): path for path in sources}
    return {name: {found for wanted in imports(ast.parse(sources[path]), path, with_types)
                   if (found := _nearest(wanted, names)) and found != name}
            for name, path in names.items()}


def module_name(path: str) -> str:
    """`core.aio` for `core/aio.py`, the package's for its `__init__.py`."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module, path: str = "", with_types: bool = False) -> Iterator[str]:
    """What a module imports, as dotted names, with what it takes out of a module as the last part.

    `importlib.import_module("...")` counts too.
    """
    for node in ast.walk(tree) if with_types else _running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = PurePosixPath(path).parts[: -node.level] if node.level else ()
            base = ".".join([*package, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            yield from named_in_call(node, "import_module")


def named_in_call(node: ast.Call, *functions: str) -> list[str]:
    """The texts that are given to one of these functions."""
    if _last_name(node.func) not in functions:
        return []
    return [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below, but for what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _running(other)
        else:
            yield child
            yield from _running(child)


def _nearest(wanted: str, names: Mapping[str, str]) -> str:
    while wanted and wanted not in names:
        wanted = wanted.rpartition(".")[0]
    return wanted


def circles(graph: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """Groups of modules that reach each other (Tarjan's strongly connected components), sorted."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        open_.append(name)
        for other in sorted(graph[name]):
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in open_:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            at = open_.index(name)
            found.append(tuple(sorted(open_[at:])))
            del open_[at:]

    for name in graph:
        if name not in order:
            visit(name)
    return sorted(group for group in found if len(group) > 1)


def floors(graph: Mapping[str, set[str]]) -> int:
    """How many floors a house of these rooms has: the longest way down, where rooms in a circle share a floor."""
    group = {name: (name,) for name in graph} | {name: circle for circle in circles(graph) for name in circle}
    heights: dict[tuple[str, ...], int] = {}

    def height(circle: tuple[str, ...]) -> int:
        if circle not in heights:
            below = {group[other] for name in circle for other in graph[name]} - {circle}
            heights[circle] = 1 + max(map(height, below), default=0)
        return heights[circle]

    return max(map(height, group.values()), default=0)
