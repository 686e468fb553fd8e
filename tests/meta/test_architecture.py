"""ARCHITECTURE.md and DECISIONS.md are true of the tree: the files that they name exist, the layers are those that
import-linter holds, and the shape stays readable in two pages (that no folder lacks: test_contracts.py)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHAPE = (ROOT / "ARCHITECTURE.md").read_text()
PAGES = {name: (ROOT / name).read_text() for name in ("ARCHITECTURE.md", "DECISIONS.md")}
CONTRACTS = {contract["name"]: contract for contract in
             tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]}


def layers(text: str) -> list[set[str]]:
    """What stands beside each other in each layer of a sentence like `a` · `b | c`."""
    return [set(re.findall(r"\w+", layer)) for layer in re.findall(r"`([^`]+)`", text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_exists(page: str) -> None:
    named = set(re.findall(r"`([a-z_0-9/]+\.(?:py|toml|md|txt))`", PAGES[page]))
    assert len(named) > 10
    files = [f"/{path.relative_to(ROOT)}" for folder in ("app", "core", "tests", "resources", "packaging", "docs")
             for path in (ROOT / folder).rglob("*.*")] + [f"/{path.name}" for path in ROOT.glob("*.*")]
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)] == []


def test_the_layers_are_those_that_are_held() -> None:
    sentence = re.search(r"`core`: (.*?)\. The desktop\s+uses (.*?) of `core`", SHAPE, re.S)
    assert sentence is not None
    held = [set(re.findall(r"\w+", layer)) for layer in CONTRACTS["the core is layered"]["layers"]]
    assert layers(sentence[1]) == held[:-1]  # the last are the three modules beside the folders
    closed = CONTRACTS["the desktop sees agents, servers and training only through the wire and through processes"]
    forbidden = {name.removeprefix("core.") for name in closed["forbidden_modules"]}
    assert layers(sentence[2]) == [set().union(*held[:-1]) - forbidden]


def test_the_shape_is_two_pages() -> None:
    before = SHAPE[:SHAPE.index("## Where do I")]
    assert len(before.split()) <= 1250
