"""The known layouts of task folders: whatever module of `readers` declares one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from core.tasks import readers
from core.tasks.reader import TaskReader


def declared() -> tuple[TaskReader, ...]:
    """The readers in the order in which they are asked: by rank, then by name."""
    modules = (import_module(f"{readers.__name__}.{found.name}") for found in iter_modules(readers.__path__))
    found = (one for module in modules if isinstance(one := getattr(module, "READER", None), TaskReader))
    return tuple(sorted(found, key=lambda one: (one.rank, one.name)))


READERS = declared()


def reader_of(folder: Path) -> TaskReader | None:
    """Who reads a folder, if anybody does. No file of it is opened for that."""
    return next((one for one in READERS if one.recognises(folder)), None)
