"""The environment that `tiphys train-setup` makes beside a person's data: PyTorch and what training needs.

It holds no copy of this program: it looks into the program's own folders, so an upgrade reaches it, too.
"""

import importlib.util
import os
from pathlib import Path

from core.store.home import Home


def folder(home: Home) -> Path:
    """Where the environment is, or would be."""
    return home.path / "training-environment"


def python_in(environment: Path) -> Path:
    """Its interpreter."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python(home: Home) -> Path | None:
    """The interpreter for what needs the training extra; None where this process has the extra itself, or where
    nothing has it."""
    found = python_in(folder(home))
    return None if importlib.util.find_spec("torch") or not found.exists() else found
