"""Sandboxes that belong to no session any more are removed when the server starts."""

from __future__ import annotations

import asyncio
import logging
from types import ModuleType

from core.domain.errors import Unavailable
from core.server.pool_file import engines_of
from core.store import log
from core.store.home import Home
from core.store.sqlite import Connection as Database

_log = logging.getLogger("sandbox")


def existing_sessions(home: Home, reader: Database) -> set[str]:
    """Sessions whose sandboxes stay: those in the log, and those whose runner's folder is still here.

    A log that was restored from a backup may not know the newest ones.
    """
    return {row.session for row in log.rows(reader)} | {p.name for p in home.sessions.iterdir() if p.is_dir()}


async def remove_orphans(home: Home, reader: Database) -> None:
    """Remove the others, where there is an engine to ask."""
    existing = existing_sessions(home, reader)
    reaper = await asyncio.to_thread(_reaper)
    try:
        removed = await reaper.reap(str(home.path), existing, engines_of(home))
    except Unavailable as error:
        _log.info("orphans were not looked for: %s", error.sentence)
        return
    if removed:
        _log.info("removed sandboxes of no session: %s", ", ".join(removed))


def _reaper() -> ModuleType:
    """Loaded beside the loop: the engine's library takes a while."""
    from core.sandbox import reaper

    return reaper
