"""Sets of migrations, applied by sqlite-utils, which is loaded where a file lacks one.

Hardly any start of a program has one to apply, and loading it takes as long as half of the window's own modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.store.sqlite import Connection

if TYPE_CHECKING:
    from sqlite_utils import Database

Migration = Callable[["Database"], None]

_UNUSED = ("numpy", "pandas")
"""What sqlite-utils loads where it is installed, for types of columns that nothing here uses."""


class Migrations:
    """Functions in the order in which they are applied; `name` is that of the set in a file's own list."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._functions: list[Migration] = []

    def __call__(self) -> Callable[[Migration], Migration]:
        """Declare the next migration; a file remembers it by the function's name."""

        def declared(function: Migration) -> Migration:
            if function.__name__ in self.names:
                raise ValueError(f"{self.name} has {function.__name__} already.")
            self._functions.append(function)
            return function

        return declared

    @property
    def names(self) -> list[str]:
        """All of them, the oldest first."""
        return [function.__name__ for function in self._functions]

    def apply(self, conn: Connection) -> None:
        """Bring a file up to date, within the caller's transaction."""
        with _without(_UNUSED):
            import sqlite_utils

        wanted = sqlite_utils.Migrations(self.name)
        for function in self._functions:
            wanted()(function)
        wanted.apply(sqlite_utils.Database(conn, execute_plugins=False))


@contextmanager
def _without(modules: tuple[str, ...]) -> Iterator[None]:
    """These cannot be imported meanwhile, but for those that are already."""
    absent = [name for name in modules if sys.modules.setdefault(name, None) is None]  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
