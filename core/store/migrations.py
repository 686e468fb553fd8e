"""Sets of migrations, applied by sqlite-utils, which is loaded where a file lacks one.

Hardly any start of a program has one to apply, and loading it takes as long as half of the window's own modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.store.sqlite import Connection, driver

if TYPE_CHECKING:
    from sqlite_utils import Database

Migration = Callable[["Database"], None]

_UNUSED = ("numpy", "pandas")
"""What sqlite-utils loads where it is installed, for types of columns that nothing here uses."""


class Migrations:
    """Scripts and functions in the order in which they are applied; `name` is that of the set in a file's own list."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._functions: dict[str, Migration] = {}

    def __call__(self, function: Migration) -> Migration:
        """Declare the next migration; a file remembers it by the function's name."""
        self._declare(function.__name__, function)
        return function

    def script(self, name: str, statements: str) -> None:
        """Declare the next migration, which carries out some statements."""
        self._declare(name, lambda db: run_script(db, statements))

    def _declare(self, name: str, function: Migration) -> None:
        if name in self._functions:
            raise ValueError(f"{self.name} has {name} already.")
        self._functions[name] = function

    @property
    def names(self) -> list[str]:
        """All of them, the oldest first."""
        return list(self._functions)

    def apply(self, conn: Connection) -> None:
        """Bring a file up to date, within the caller's transaction."""
        with _without(_UNUSED):
            import sqlite_utils

        wanted = sqlite_utils.Migrations(self.name)
        for name, function in self._functions.items():
            wanted(name=name)(function)
        wanted.apply(sqlite_utils.Database(conn, execute_plugins=False))


def run_script(db: Database, statements: str) -> None:
    """Run statements one by one: executescript would commit the transaction of the migration."""
    statement = ""
    for line in statements.splitlines(keepends=True):
        statement += line
        if driver.complete_statement(statement):
            db.execute(statement)
            statement = ""


@contextmanager
def _without(modules: tuple[str, ...]) -> Iterator[None]:
    """These cannot be imported meanwhile, but for those that are already."""
    absent = [name for name in modules if sys.modules.setdefault(name, None) is None]  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
