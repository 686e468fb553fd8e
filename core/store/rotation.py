"""Backups in a folder: each under the time of its making, the newest few of them kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from core.domain.errors import NotFound, Unavailable
from core.store.backup import back_up
from core.store.home import make_private_folder
from core.store.sqlite import Connection

_NAME = re.compile(r"tiphys-\d{8}T\d{6}Z\.db\Z")


def rotate(conn: Connection, folder: Path, most: int) -> tuple[Path, list[Path]]:
    """Back a log up into a folder and remove the oldest beyond `most`; gives the new file and the removed ones.

    What does not bear the name of a backup is not touched. Raises Unavailable; then nothing is removed.
    """
    make_private_folder(folder)
    made = back_up(conn, folder / f"tiphys-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db")
    removed = backups(folder)[most:]
    try:
        for path in removed:
            path.unlink()
    except OSError as error:
        raise Unavailable("backup_not_removed", f"An old backup in {folder} cannot be removed: {error}.",
                          path=str(folder)) from error
    return made, removed


def backups(folder: Path) -> list[Path]:
    """The backups of a folder, the newest first."""
    return sorted((path for path in folder.glob("tiphys-*.db") if _NAME.match(path.name)), reverse=True)


def newest(folder: Path) -> Path:
    """The newest backup of a folder. Raises NotFound (no_backup)."""
    found = backups(folder)
    if not found:
        raise NotFound("no_backup", f"There is no backup in {folder}.", path=str(folder))
    return found[0]
