"""One training at a time in a folder: two would write the same checkpoints and metrics, and take away each other's."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import Conflict
from core.export.staging import usable
from core.store.lock import FileLock
from core.training.launch import is_first

_log = logging.getLogger("train")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """While this process, the first of those that train together, is the only one in a run's folder; it is made. Raises
    Conflict (run_at_work) where another one trains there, Unavailable (folder_unusable)."""
    lock = FileLock(folder / "run.lock")
    if is_first():
        with usable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            is_ours = lock.take()
            if not is_ours and _has_locks(folder):
                raise Conflict("run_at_work", f"Another training is at work in {folder}, or is still saving. Wait for it,"
                               " or name another folder with --out.", path=str(folder))
        if not is_ours:
            _log.warning("%s lies on a disk without locks: start one training there at a time.", folder)
    try:
        yield
    finally:
        lock.release()


def _has_locks(folder: Path) -> bool:
    """Whether a folder's disk has locks at all; some that several machines share have none."""
    probe = FileLock(folder / f"run.lock.{os.getpid()}")
    try:
        return probe.take()
    finally:
        probe.release()
        probe.path.unlink(missing_ok=True)
