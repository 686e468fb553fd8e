"""Where this program keeps its files: one folder per person, readable by that person alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import platformdirs

from core.domain.errors import Unavailable

T = TypeVar("T")
D = TypeVar("D")


class Home:
    """The folder of one installation. Making one creates its folders with mode 0700."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser().absolute()
        self.server_db = self.path / "server.db"
        """The log of record."""
        self.server_lock = self.path / "server.lock"
        """Held (flock) by the one process that writes the log of record."""
        self.endpoint = self.path / "server.json"
        """Where the running server listens: {"url": …, "pid": …}."""
        self.admin_token = self.path / "admin.token"
        """The token of this computer's administrator, mode 0600."""
        self.sessions = self.path / "sessions"
        """One folder per session, for its runner."""
        self.replicas = self.path / "replicas"
        """The desktop's copies of servers' logs."""
        self.search_db = self.path / "search.db"
        """The search index: derived, may be deleted at any time."""
        self.servers = self.path / "servers.json"
        """The servers that the desktop works with, with their tokens, mode 0600."""
        self.settings = self.path / "settings.toml"
        """The settings file (TOML, overrides only)."""
        self.logs = self.path / "logs"
        """The programs' own log files."""
        self.pool_db = self.path / "pool.db"
        """The host pool: its members, and what sessions were given of them."""
        self.images = self.path / "images"
        """Sandbox images that were built or saved here."""
        self.allowed = self.path / "allowed"
        """What the operator allowed tasks to take of this computer, one file a grant."""
        self.archives = self.path / "archives"
        """Archives of sessions that were taken out of the log, where no other folder was named."""
        self.tasks = self.path / "tasks"
        """Task folders that a person added to the catalogue."""
        for folder in (self.path, self.sessions, self.replicas, self.logs, self.images):
            make_private_folder(folder)

    @classmethod
    def default(cls) -> Home:
        """$TIPHYS_HOME, or the platform's folder for a person's data."""
        folder = os.environ.get("TIPHYS_HOME")
        return cls(folder or platformdirs.user_data_path("tiphys", appauthor=False))


def resources() -> Path:
    """The folder of what is shipped beside the code; TIPHYS_RESOURCES overrides it."""
    return Path(os.environ.get("TIPHYS_RESOURCES") or Path(__file__).resolve().parents[2] / "resources")


def make_private_folder(folder: Path) -> Path:
    """Create a folder, with the folders above it, that only its owner may enter. Raises Unavailable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable("home_unavailable", f"The folder {folder} cannot be made: {error}",
                          path=str(folder)) from error
    return folder


def sync(path: Path) -> None:
    """Put a file, or the names in a folder, on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows neither can nor needs to
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_small(path: Path, kind: type[T], otherwise: D) -> T | D:
    """What a small file of JSON holds whose loss does no harm; `otherwise` where it is not there or is no such file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError):
        return otherwise


def write_whole(path: Path, data: bytes) -> None:
    """Put a file under its name only once it is whole: who reads meanwhile reads the one before. It is not synced."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """A name beside `path` for a file that takes its place once it is whole and rests on the disk. Where its writing
    fails nothing is left; where it is killed, the next writing of `path` takes what is left."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        sync(part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_private(path: Path, data: bytes) -> None:
    """Replace a file in one move, mode 0600: a reader sees the old bytes or the new ones, never a half."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
        sync(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
