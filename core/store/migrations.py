"""sqlite-utils' migrations, loaded without pandas.

Where the training's packages are installed, sqlite-utils loads pandas for the types of its columns: a quarter of a
second at every start of every program, for a function that nothing here uses.
"""

from __future__ import annotations

import sys

_EXCLUDED = "pandas"
_absent = sys.modules.setdefault(_EXCLUDED, None) is None  # type: ignore[arg-type]
try:
    from sqlite_utils import Database, Migrations
finally:
    if _absent:
        del sys.modules[_EXCLUDED]

__all__ = ["Database", "Migrations"]
