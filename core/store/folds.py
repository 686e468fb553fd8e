"""Folded sessions beside a replica, one file each: derived from the log, may be deleted at any time."""

import hashlib
import logging
import mmap
from pathlib import Path

from core.domain.blob import blob_hash
from core.domain.errors import InvalidInput, Unavailable
from core.domain.folded import decode_folded, encode_folded
from core.domain.steps import Read
from core.domain.trajectory import Trajectory
from core.store.home import make_private_folder, write_private

MOST_FILES = 64
"""Files of one folder; the oldest go."""

_MARK = 64
"""Bytes before the fold: the hash of the last event that is in it, so that another log's is noticed."""

_log = logging.getLogger("store")


class FoldStore:
    """The folds of one replica's sessions."""

    def __init__(self, log_path: Path) -> None:
        self.folder = log_path.with_suffix(".folds")

    def load(self, session: str, read: Read) -> Trajectory | None:
        """What was folded of a session the last time, None where that is not known or is of another log."""
        path = self._path(session)
        try:
            with path.open("rb") as file:  # mapped: what is copied once need not be read into memory first
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            made = decode_folded(session, data[_MARK:], read)
        except (OSError, ValueError, InvalidInput):
            return None
        last = read([made.seq]).get(made.seq)
        return made if last is not None and blob_hash(last).encode() == bytes(data[:_MARK]) else None

    @staticmethod
    def encode(trajectory: Trajectory, last: bytes) -> bytes:
        """What `save` writes; `last` is the body of the last event that was folded."""
        return blob_hash(last).encode() + encode_folded(trajectory)

    def save(self, session: str, data: bytes) -> None:
        """Keep a fold. May run in a thread; a full disk is only logged, for nothing is lost."""
        try:
            make_private_folder(self.folder)
            write_private(self._path(session), data)
            files = sorted(self.folder.glob("*.fold"), key=lambda p: p.stat().st_mtime)
            for old in files[:-MOST_FILES]:
                old.unlink(missing_ok=True)
        except (OSError, Unavailable) as error:
            _log.warning("The fold of session %s was not kept: %s", session, error)

    def remove(self, session: str) -> None:
        """Forget a fold. May run in a thread."""
        try:
            self._path(session).unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The fold of session %s was not removed: %s", session, error)

    def _path(self, session: str) -> Path:
        return self.folder / f"{hashlib.blake2b(session.encode(), digest_size=16).hexdigest()}.fold"
