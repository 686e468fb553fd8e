"""sqlite-utils' migrations, loaded without pandas and numpy.

Where they are installed, sqlite-utils loads both for the types of its columns: a third of a second at every start of
every program, for a function that nothing here uses.
"""

from __future__ import annotations

import sys

_EXCLUDED = ("pandas", "numpy")
_absent = [name for name in _EXCLUDED if sys.modules.setdefault(name, None) is None]  # type: ignore[arg-type]
try:
    from sqlite_utils import Database, Migrations
finally:
    for _name in _absent:
        del sys.modules[_name]

__all__ = ["Database", "Migrations"]
