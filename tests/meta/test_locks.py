"""The lists of what an installation takes in: every direct dependency is there, within its bounds, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ELSEWHERE = {"torch"}
"""Its builds differ from place to place; pyproject.toml fixes the version."""


def locked(name: str) -> dict[str, list[str]]:
    """Package → the versions in a list; one may stand there more than once, for several Pythons."""
    found: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=[A-Za-z])", (ROOT / "packaging/locks" / name).read_text()):
        found_line = re.match(r"([A-Za-z0-9._-]+)==(\S+)", entry)
        assert found_line, entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), f"{found_line[1]} has no hash"
        found.setdefault(canonicalize_name(found_line[1]), []).append(found_line[2])
    return found


@pytest.mark.parametrize(("name", "wanted"), [
    ("desktop.txt", PROJECT["dependencies"]),
    ("train.txt", PROJECT["dependencies"] + PROJECT["optional-dependencies"]["train-engine"]),
])
def test_every_dependency_is_locked_within_its_bounds(name: str, wanted: list[str]) -> None:
    held = locked(name)
    for line in map(Requirement, wanted):
        versions = held.get(canonicalize_name(line.name), [])
        assert any(line.specifier.contains(v) for v in versions), f"{line} is not in {name}: packaging/locks/update.sh"


def test_the_desktop_is_the_same_with_and_without_training() -> None:
    desktop, train = locked("desktop.txt"), locked("train.txt")
    assert {name: train.get(name) for name in desktop} == desktop
    assert not ELSEWHERE & train.keys()
