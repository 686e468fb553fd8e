"""The catalogue: every task that can be started, from the program's samples and from the home folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.domain.errors import InvalidInput, NotFound
from core.domain.task import Task
from core.store.home import resources
from core.tasks.task_file import TASK_FILE, CatalogueTask, inside, read_task


class Catalogue:
    """Tasks by id; a task of an earlier folder hides one of the same id in a later folder."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)

    @classmethod
    def of(cls, home: Path | None = None) -> Catalogue:
        """The tasks of a home folder (its `tasks`), then those shipped with the program."""
        return cls([*([home / "tasks"] if home else []), resources() / "tasks"])

    def entries(self) -> list[CatalogueTask]:
        """Every readable task, by title; `problems()` tells of the others."""
        return sorted(self._read()[0].values(), key=lambda e: e.task.title)

    def problems(self) -> list[InvalidInput]:
        """What is wrong with the task files that cannot be read."""
        return self._read()[1]

    def find(self, task: str) -> CatalogueTask:
        """The task of that id. Raises NotFound."""
        entry = self._read()[0].get(task)
        if entry is None:
            raise NotFound("no_task", f"There is no task {task} in the catalogue.", task=task)
        return entry

    def file(self, task: Task, name: str) -> Path:
        """A file that a task names: absolute as it is, else inside the folder of the catalogue's task of that id.

        Raises NotFound, InvalidInput.
        """
        if Path(name).is_absolute():
            return Path(name)
        return inside(self.find(task.id).folder, name)

    def _read(self) -> tuple[dict[str, CatalogueTask], list[InvalidInput]]:
        found: dict[str, CatalogueTask] = {}
        problems: list[InvalidInput] = []
        for folder in self._folders:
            for path in sorted(folder.glob(f"*/{TASK_FILE}")):
                try:
                    entry = read_task(path.parent)
                except InvalidInput as problem:
                    problems.append(problem)
                else:
                    found.setdefault(entry.task.id, entry)
        return found, problems
