"""Whose a thing on an engine or a plain machine is: several installations may use one, and their sessions' ids may be
equal, as a client chooses them."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from core.domain.blob import blob_hash
from core.store.home import write_private

FILE = "installation"
"""The file of a home that holds the number which this installation drew; empty where it is older than such numbers."""


def home_label(home: str) -> str:
    """What everything of an installation is labelled with: not its path, only a digest of it and of its number. Two
    computers often have their homes at the same path, and a copy of a home is an installation of its own."""
    if is_unnumbered(home):
        return blob_hash(home.encode())[:16]
    number = number_of(Path(home)) if home and Path(home).is_dir() else ""
    return blob_hash(f"{home}\0{number}".encode())[:16]


def number(home: Path, has_log: bool) -> None:
    """Draw an installation's number. One that has a log without a number is older than numbers and gets none: what its
    sessions have on engines and machines is found under the names that it was given."""
    if has_log and not (home / FILE).exists():
        (home / FILE).touch()
    else:
        number_of(home)


def take_number(home: Path, number: str) -> None:
    """Make a home the installation of this number: what that had on engines and machines is this one's."""
    write_private(home / FILE, number.encode("ascii"))


def is_unnumbered(home: str) -> bool:
    """Whether this installation is one of those."""
    path = Path(home) / FILE
    return bool(home) and path.exists() and not path.stat().st_size


def number_of(home: Path) -> str:
    """An installation's number, "" for one that is older than such numbers. It is drawn where there is none yet; of
    several programs that draw one at the same time the first counts."""
    path = home / FILE
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=home, prefix=f".{FILE}.")
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
        with suppress(FileExistsError):
            os.link(name, path)
        Path(name).unlink()
    return path.read_text(encoding="ascii")
