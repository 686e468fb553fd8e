"""The contracts of import-linter name every room of the core: a new one is let in nowhere by being forgotten."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = {path.stem for path in (ROOT / "core").iterdir() if path.stem not in ("__init__", "__pycache__")}
ALONE = {"aio", "logs", "program"}
"""What imports nothing of ours, so that every layer may use it."""

FOR_THE_DESKTOP = {"domain", "protocol", "workers", "store", "client", "formats", "supervision"}
WITH_TORCH = {"training", "export", "llm"}
WITH_QT = {"cli"}
"""It starts the desktop."""


def named(contract: str, side: str) -> set[str]:
    """The rooms of the core on one side of a contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [found] = [one for one in contracts if contract in one["name"]]
    return {module.removeprefix("core.") for module in found[side] if module.startswith("core.")}


def test_the_desktop_may_import_what_is_named_for_it_alone() -> None:
    assert named("the desktop sees", "forbidden_modules") == ROOMS - FOR_THE_DESKTOP - ALONE


def test_qt_and_torch_are_forbidden_wherever_they_are_not_at_home() -> None:
    assert named("no Qt", "source_modules") == ROOMS - WITH_QT
    assert named("torch and transformers", "source_modules") == ROOMS - WITH_TORCH


def test_the_architecture_has_a_sentence_for_each_room() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Folders")[2].partition("\n## ")[0]
    assert {room for room in ROOMS if f"core/{room}" not in table} == set()
