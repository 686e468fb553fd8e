"""The program's version, from pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path


def version() -> str:
    """Such as 0.1.0."""
    path = Path(__file__).resolve().parents[2] / "pyproject.toml"
    return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])
