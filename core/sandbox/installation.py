"""Whose a thing on an engine or a plain machine is: several installations may use one, and their sessions' ids may be
equal, as a client chooses them."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from core.domain.blob import blob_hash

FILE = "installation"
"""The file of a home that holds the number which this installation drew."""


def home_label(home: str) -> str:
    """What everything of an installation is labelled with: not its path, only a digest of it and of its number. Two
    computers often have their homes at the same path, and a copy of a home is an installation of its own."""
    number = _number(Path(home)) if home and Path(home).is_dir() else ""
    return blob_hash(f"{home}\0{number}".encode())[:16]


def _number(home: Path) -> str:
    """Drawn where there is none yet; of several programs that draw one at the same time the first counts."""
    path = home / FILE
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=home, prefix=f".{FILE}.")
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
        with suppress(FileExistsError):
            os.link(name, path)
        Path(name).unlink()
    return path.read_text(encoding="ascii")
