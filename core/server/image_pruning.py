"""Once a day images that nothing needs are removed from the engines of the host pool."""

from __future__ import annotations

import asyncio
import logging

from core.domain.errors import Unavailable
from core.server.pool_file import engines_of
from core.store.home import Home

_log = logging.getLogger("sandbox")

FIRST_S, EVERY_S = 600.0, 86_400.0


async def prune_images_daily(home: Home) -> None:
    """Some minutes after the start, then every day, until cancelled."""
    await asyncio.sleep(FIRST_S)
    while True:
        for at in await asyncio.to_thread(engines_of, home):
            from core.sandbox.unused_images import prune_images  # the engine's library takes a while to load

            try:
                if removed := await prune_images(at):
                    _log.info("removed images that nothing needs: %s", ", ".join(one.name for one in removed))
            except Unavailable as error:
                _log.info("images were not looked for: %s", error.sentence)
        await asyncio.sleep(EVERY_S)
