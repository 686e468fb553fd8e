"""What belongs to nothing any more is removed while a server runs: payloads, early opinions, sandboxes, images, and
what deleted sessions left beside the log."""

import asyncio
import logging
import time
from types import ModuleType

from core.domain.errors import ReportableError, Unavailable
from core.server.deletion import finish
from core.server.hub import Hub
from core.server.pool_file import engines_of
from core.store import early_opinions, log, unnamed_blobs
from core.store.home import Home
from core.store.sqlite import Connection

_log, _sandboxes = logging.getLogger("store"), logging.getLogger("sandbox")

EVERY_S = 600.0

FIRST_IMAGES_S, IMAGES_EVERY_S = 600.0, 86_400.0

PATIENCE_S = 60.0
"""An engine or disk that does not answer is asked again after so long."""


async def sweep_regularly(hub: Hub) -> None:
    """At once, then every ten minutes, until cancelled."""
    while True:
        try:
            await sweep(hub)
        except Unavailable as error:  # a full disk, say: look again
            _log.warning("what belongs to nothing cannot be removed now: %s", error.sentence)
        await asyncio.sleep(EVERY_S)


async def sweep(hub: Hub) -> None:
    """Remove payloads that no event came to name, and opinions on sessions that never came."""
    now = time.time()

    def work(conn: Connection) -> tuple[int, int]:
        return unnamed_blobs.sweep(conn, now), early_opinions.sweep(conn, now)

    payloads, opinions = await hub.store(work)
    if payloads or opinions:
        _log.info("removed %d payloads that no event names and %d opinions on sessions that never came", payloads,
                  opinions)


def existing_sessions(home: Home, reader: Connection) -> set[str]:
    """Sessions whose sandboxes stay: those in the log, and those whose runner's folder is still here.

    A log that was restored from a backup may not know the newest ones.
    """
    return {row.session for row in log.rows(reader)} | {p.name for p in home.sessions.iterdir() if p.is_dir()}


async def remove_orphans(home: Home, reader: Connection) -> None:
    """Remove the others, where there is an engine to ask."""
    existing = existing_sessions(home, reader)
    reaper = await asyncio.to_thread(_reaper)
    try:
        removed = await reaper.reap(str(home.path), existing, engines_of(home))
    except Unavailable as error:
        _sandboxes.info("orphans were not looked for: %s", error.sentence)
        return
    if removed:
        _sandboxes.info("removed sandboxes of no session: %s", ", ".join(removed))


def _reaper() -> ModuleType:
    """Loaded beside the loop: the engine's library takes a while."""
    from core.sandbox import reaper

    return reaper


async def prune_images_daily(home: Home) -> None:
    """Some minutes after the start, then every day, until cancelled."""
    await asyncio.sleep(FIRST_IMAGES_S)
    while True:
        for at in await asyncio.to_thread(engines_of, home):
            from core.sandbox.unused_images import prune_images  # the engine's library takes a while to load

            try:
                if removed := await prune_images(at):
                    _sandboxes.info("removed images that nothing needs: %s", ", ".join(one.name for one in removed))
            except Unavailable as error:
                _sandboxes.info("images were not looked for: %s", error.sentence)
        await asyncio.sleep(IMAGES_EVERY_S)


class Removal:
    """Removes what deleted sessions left: at the start what was not finished, then after each deletion."""

    def __init__(self, hub: Hub, home: Home) -> None:
        self._hub, self._home = hub, home
        self._due = asyncio.Event()
        self._due.set()
        hub.on_deleted.append(lambda _: self._due.set())

    async def run(self) -> None:
        """Remove until cancelled."""
        problem = ""
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                await finish(self._home, self._hub.writer)
                problem = ""
            except ReportableError as error:
                if error.sentence != problem:
                    logging.getLogger("session").warning("what deleted sessions left stays for now: %s", error.sentence)
                problem = error.sentence
                await asyncio.sleep(PATIENCE_S)
                self._due.set()
