"""What came and belongs to nothing is removed from the log's file after a while."""

from __future__ import annotations

import asyncio
import logging
import time

from core.domain.errors import Unavailable
from core.server.hub import Hub
from core.store import early_opinions, unnamed_blobs
from core.store.sqlite import Connection

_log = logging.getLogger("store")

EVERY_S = 600.0


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
