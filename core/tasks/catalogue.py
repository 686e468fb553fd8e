"""The catalogue: every task that can be started, from the program's samples and from the home folder."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from core.domain.errors import InvalidInput, NotFound
from core.domain.task import Task
from core.store.home import resources
from core.tasks import readers
from core.tasks.folder import digest, inside, list_folder
from core.tasks.reader import CatalogueTask, TaskReader


class Catalogue:
    """Tasks by id. Nobody takes another's: where two folders have one id, the later folder's is a problem."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)

    @classmethod
    def of(cls, home: Path | None = None) -> Catalogue:
        """The tasks that are shipped with the program, then those of a home folder (its `tasks`)."""
        return cls([resources() / "tasks", *([home / "tasks"] if home else [])])

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
        """A file or folder that a task names, in the folder of the catalogue's task of that id.

        Raises NotFound; InvalidInput for a path that is absolute, leaves the folder or is missing.
        """
        return inside(self.find(task.id).folder, name)

    def paths(self, task: Task, name: str) -> list[tuple[str, Path]]:
        """The files of a folder that a task names, or a single one: relative path and where each lies.

        Nothing of them is read, however large they are. Raises as `file`, LimitReached.
        """
        entry = self.find(task.id)
        return list_folder(inside(entry.folder, name), entry.folder)

    def digest(self, task: str) -> str:
        """What the folder of a task holds now (`folder.digest`); empty for a task of no folder.

        Raises InvalidInput, LimitReached.
        """
        entry = self._read()[0].get(task)
        return digest(entry.folder) if entry else ""

    def _read(self) -> tuple[dict[str, CatalogueTask], list[InvalidInput]]:
        found: dict[str, CatalogueTask] = {}
        problems: list[InvalidInput] = []
        for folder in self._folders:
            for one in _shipped(folder) if folder == resources() / "tasks" else _read_all(folder):
                if isinstance(one, InvalidInput):
                    problems.append(one)
                    continue
                taken = found.setdefault(one.task.id, one)
                if taken is not one:
                    problems.append(InvalidInput(
                        "task_id_taken", f"{one.folder}: the id {one.task.id} is taken by the task in {taken.folder}.",
                        path=str(one.folder)))
        return found, problems


def _read_all(folder: Path) -> Iterator[CatalogueTask | InvalidInput]:
    """The tasks below a folder, and what is wrong with those that cannot be read."""
    for place, reader in _task_folders(folder):
        try:
            yield from reader.read(place)
        except InvalidInput as problem:
            yield problem


@functools.lru_cache(maxsize=4)
def _shipped(folder: Path) -> tuple[CatalogueTask | InvalidInput, ...]:
    """What comes with the program does not change while it runs: it is read once."""
    return tuple(_read_all(folder))


def _task_folders(folder: Path) -> Iterator[tuple[Path, TaskReader]]:
    """The folders below one that a reader knows: its children, and those of children that no reader knows."""
    for place in _children(folder, links=True):
        if reader := reader_of(place):
            yield place, reader
        else:
            yield from ((inner, reader) for inner in _children(place) if (reader := reader_of(inner)))


def _children(folder: Path, *, links: bool = False) -> list[Path]:
    """The folders in a folder; a link is one only where its owner put it, at the top."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(p for p in found if not p.name.startswith(".") and (links or not p.is_symlink()) and p.is_dir())


def declared() -> tuple[TaskReader, ...]:
    """The readers in the order in which they are asked: by rank, then by name."""
    modules = (import_module(f"{readers.__name__}.{found.name}") for found in iter_modules(readers.__path__))
    found = (one for module in modules if isinstance(one := getattr(module, "READER", None), TaskReader))
    return tuple(sorted(found, key=lambda one: (one.rank, one.name)))


READERS = declared()


def reader_of(folder: Path) -> TaskReader | None:
    """Who reads a folder, if anybody does. No file of it is opened for that."""
    return next((one for one in READERS if one.recognises(folder)), None)
