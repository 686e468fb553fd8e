"""Terminal-Bench's first form (`task.yaml`, `docker-compose.yaml`, `run-tests.sh`), which nobody writes any more.

Harbor, its successor, turns such folders into its own form; what compose files ask for is for no reader to guess.
"""

from __future__ import annotations

from pathlib import Path

from core.domain.errors import InvalidInput
from core.tasks.reader import CatalogueTask, TaskReader


def refuse(folder: Path) -> list[CatalogueTask]:
    """Say what to do with the folder. Raises InvalidInput."""
    path = folder / "task.yaml"
    raise InvalidInput("task_not_possible", f"{path}: this is Terminal-Bench's first form, whose compose file is not "
                       "to be had here. Convert the folder with Harbor: harbor task migrate.", path=str(path))


READER = TaskReader(name="terminal_bench", title="Terminal-Bench 1", rank=40, read=refuse,
                    recognises=lambda folder: (folder / "task.yaml").exists() and not (folder / "task.toml").exists())
