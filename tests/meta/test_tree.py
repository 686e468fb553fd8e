"""The shape of the tree: small modules and functions, one code per failure, tests beside what they test."""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest
from support.sources import syntax

from core.domain import errors

ROOT = Path(__file__).parents[2]
MODULES = sorted(p for folder in ("app", "core") for p in (ROOT / folder).rglob("*.py"))
TREES = {p: syntax(p) for p in MODULES}
FAILURES = {name for name, kind in vars(errors).items()
            if isinstance(kind, type) and issubclass(kind, errors.ReportableError)}


def lines(path) -> int:
    return path.read_text().count("\n")


def name(path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_modules_are_small() -> None:
    assert {name(p): n for p in MODULES if (n := lines(p)) > 400} == {}
    assert sum(lines(p) <= 300 for p in MODULES) >= 0.95 * len(MODULES)
    assert median(map(lines, MODULES)) < 130


def test_functions_are_small() -> None:
    long = {}
    sizes = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                sizes.append(node.end_lineno - node.lineno + 1)
                if sizes[-1] > 60:
                    long[f"{name(path)} {node.name}"] = sizes[-1]
    assert long == {}
    assert median(sizes) <= 10


def test_modules_and_public_classes_say_what_they_are() -> None:
    silent = [name(p) for p, tree in TREES.items() if lines(p) and not ast.get_docstring(tree)]
    silent += [f"{name(p)} {node.name}" for p, tree in TREES.items() for node in tree.body
               if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)]
    assert silent == []


def test_no_module_is_named_for_what_it_is_not() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "base", "mixins", "mixin"}
    assert [name(p) for p in MODULES if p.stem in vague] == []


def test_each_failure_has_a_stable_code_of_its_own_class() -> None:
    kinds = defaultdict(set)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FAILURES):
                continue
            code = node.args[0] if node.args else None
            if isinstance(code, ast.Constant):
                assert re.fullmatch(r"[a-z][a-z0-9_]*", code.value), f"{name(path)}:{node.lineno} {code.value!r}"
                kinds[code.value].add(node.func.id)
    assert {code: sorted(k) for code, k in kinds.items() if len(k) > 1} == {}


def test_test_files_have_names_of_their_own_and_stand_beside_what_they_test() -> None:
    seen = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        seen[path.name].append(name(path))
    assert {n: p for n, p in seen.items() if len(p) > 1} == {}
    for folder in ("core", "app"):
        for place in (ROOT / "tests" / folder).iterdir():
            if place.is_dir() and place.name != "__pycache__":
                assert (ROOT / folder / place.name).is_dir(), f"tests/{folder}/{place.name} tests nothing"


def test_nothing_of_one_machine_is_committed() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    places = re.compile(r"/work/(main|shared)|/opt/(wheels|pypi)|PIP_EXTRA_INDEX_URL=")
    found = []
    for line in tracked.stdout.splitlines():
        path = ROOT / line
        if path.is_file() and path.stat().st_size < 1_000_000 and path != Path(__file__):
            found += [f"{line}: {m[0]}" for m in places.finditer(path.read_text(errors="replace"))]
    assert found == []
