"""When a private server ends by itself: whoever it was for is gone."""

import asyncio
import logging
from pathlib import Path

from core.domain.session import FINAL_STATES
from core.server.hub import Hub
from core.store import log

_log = logging.getLogger("session")

LOOK_EVERY_S = 5.0

Identity = tuple[int, int]
"""Device and inode of a file."""

_UNKNOWN = (0, 0)


async def until_idle(hub: Hub, idle_s: float) -> None:
    """Return once nobody was connected and no session worked for so long."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    while loop.time() - since < idle_s:
        await asyncio.sleep(min(LOOK_EVERY_S, idle_s / 4))
        if hub.peers or is_at_work(hub):
            since = loop.time()
    _log.info("nobody is connected and nothing works since %g min: this private server ends", idle_s / 60)


async def until_deleted(database: Path, was: Identity | None) -> None:
    """Return once the file is not there any more, or is another one than it was."""
    while identity(database) in (was, _UNKNOWN):
        await asyncio.sleep(LOOK_EVERY_S)
    _log.error("%s was deleted: the server ends", database)


def is_at_work(hub: Hub) -> bool:
    """Whether any session that was made here is not over."""
    return any(row.origin == "live" and row.seq and row.state not in FINAL_STATES for row in log.rows(hub.reader))


def identity(path: Path) -> Identity | None:
    """Which file it is, whatever its name; None where there is none."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    except OSError:  # it cannot be said now: nothing is ended for that
        return _UNKNOWN
    return stat.st_dev, stat.st_ino
