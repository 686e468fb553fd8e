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
        for folder in (self.path, self.sessions, self.replicas, self.logs, self.images):
            make_private_folder(folder)

    @classmethod
    def default(cls) -> Home:
        """$TIPHYS_HOME, or the platform's folder for a person's data."""
        folder = os.environ.get("TIPHYS_HOME")
        return cls(folder or platformdirs.user_data_path("tiphys", appauthor=False))

    @property
    def server_db(self) -> Path:
        """The log of record."""
        return self.path / "server.db"

    @property
    def server_lock(self) -> Path:
        """Held (flock) by the one process that writes the log of record."""
        return self.path / "server.lock"

    @property
    def endpoint(self) -> Path:
        """Where the running server listens: {"url": …, "pid": …}."""
        return self.path / "server.json"

    @property
    def admin_token(self) -> Path:
        """The token of this computer's administrator, mode 0600."""
        return self.path / "admin.token"

    @property
    def sessions(self) -> Path:
        """One folder per session, for its runner."""
        return self.path / "sessions"

    @property
    def replicas(self) -> Path:
        """The desktop's copies of servers' logs."""
        return self.path / "replicas"

    @property
    def search_db(self) -> Path:
        """The search index: derived, may be deleted at any time."""
        return self.path / "search.db"

    @property
    def servers(self) -> Path:
        """The servers that the desktop works with, with their tokens, mode 0600."""
        return self.path / "servers.json"

    @property
    def settings(self) -> Path:
        """The settings file (TOML, overrides only)."""
        return self.path / "settings.toml"

    @property
    def logs(self) -> Path:
        """The programs' own log files."""
        return self.path / "logs"

    @property
    def pool_db(self) -> Path:
        """The host pool: its members, and what sessions were given of them."""
        return self.path / "pool.db"

    @property
    def images(self) -> Path:
        """Sandbox images that were built or saved here."""
        return self.path / "images"

    @property
    def allowed(self) -> Path:
        """What the operator allowed tasks to take of this computer, one file a grant."""
        return self.path / "allowed"

    @property
    def archives(self) -> Path:
        """Archives of sessions that were taken out of the log, where no other folder was named."""
        return self.path / "archives"

    @property
    def tasks(self) -> Path:
        """Task folders that a person added to the catalogue."""
        return self.path / "tasks"


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
