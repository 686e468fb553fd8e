"""Every task that ships is sound, in real containers; and one that ships is found in the catalogue as it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sandboxes import HOME, need_engine

from core.tasks.catalogue import Catalogue
from core.tasks.proof import prove

CATALOGUE = Catalogue.of()
TASKS = [entry.task.id for entry in CATALOGUE.entries()]
KINDS = {"software repair", "data cleaning", "log analysis", "model training", "performance", "scientific figures",
         "terminal"}


def test_the_papers_kinds_of_tasks_ship() -> None:
    assert CATALOGUE.problems() == [] and len(TASKS) >= 8
    assert {entry.task.domain for entry in CATALOGUE.entries()} == KINDS
    assert all(entry.task.difficulty and entry.task.best_known is not None for entry in CATALOGUE.entries())


@pytest.mark.docker
@pytest.mark.timeout(300)
@pytest.mark.parametrize("task", TASKS)
def test_a_shipped_task_is_sound(task: str, tmp_path: Path) -> None:
    need_engine()
    findings = prove(CATALOGUE.find(task), CATALOGUE, tmp_path, HOME)
    assert {"nothing", "hidden", "reference", "repeat", "cheat in general"} <= {f.check for f in findings}
    assert [f for f in findings if not f.passed] == []
