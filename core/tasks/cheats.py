"""The attempt to earn a score without doing a task, which every evaluation must see through.

It is a script of resources/evaluators/cheats: `submission` for what is handed in, `tests` for tests on a host's state.
"""

from __future__ import annotations

from pathlib import Path

from core.domain.task import Task
from core.store.home import resources


def general_cheat(task: Task) -> Path:
    """The attempt that fits a task's kind of evaluation."""
    name = "tests" if task.evaluator.kind == "tests" else "submission"
    return resources() / "evaluators" / "cheats" / f"{name}.sh"
