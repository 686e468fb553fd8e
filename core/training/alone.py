"""One training at a time in a folder: two would write the same checkpoints and metrics, and take away each other's."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import Conflict, ReportableError, Unavailable
from core.export.staging import usable
from core.store.lock import FileLock
from core.training.launch import is_first

PATIENCE_S = 5.0
"""A training that was killed holds its lock until the system has taken back its gigabytes."""

_NOTHING = 1 << 18
"""Bytes of a disk that is full."""

_log = logging.getLogger("train")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """While this process, the first of those that train together, is the only one in a run's folder; it is made. Raises
    Conflict (run_at_work) where another one trains there, Unavailable (folder_unusable), also where its disk gets full
    meanwhile."""
    lock = FileLock(folder / "run.lock")
    if is_first():
        with usable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            is_ours = lock.take(PATIENCE_S)
            if not is_ours and _has_locks(folder):
                raise Conflict("run_at_work", f"Another training is at work in {folder}, or is still saving. Wait for "
                               "it, or name another folder with --out.", path=str(folder))
        if not is_ours:
            _log.warning("%s lies on a disk without locks: start one training there at a time.", folder)
    try:
        yield
    except Exception as error:
        if _is_full(folder, error):
            raise Unavailable("folder_unusable", f"{folder} cannot be used: No space left on its disk. What was saved "
                              "before stays; the same command goes on from there.", path=str(folder)) from error
        raise
    finally:
        lock.release()


def _is_full(folder: Path, error: Exception) -> bool:
    """Whether that is why something broke: torch and safetensors have errors and words of their own for it."""
    return not isinstance(error, ReportableError) and (
        "No space left" in str(error) or shutil.disk_usage(folder).free < _NOTHING)


def _has_locks(folder: Path) -> bool:
    """Whether a folder's disk has locks at all; some that several machines share have none."""
    probe = FileLock(folder / f"run.lock.{os.getpid()}")
    try:
        return probe.take()
    finally:
        probe.release()
        probe.path.unlink(missing_ok=True)
