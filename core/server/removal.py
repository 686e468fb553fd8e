"""Removes what deleted sessions left beside the log: at the start what was not finished, then after each deletion."""

from __future__ import annotations

import asyncio
import logging

from core.domain.errors import ReportableError
from core.server.deletion import finish
from core.server.hub import Hub
from core.store.home import Home

_log = logging.getLogger("session")

PATIENCE_S = 60.0
"""An engine or disk that does not answer is asked again after so long."""


class Removal:
    """One for a server."""

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
                    _log.warning("what deleted sessions left stays for now: %s", error.sentence)
                problem = error.sentence
                await asyncio.sleep(PATIENCE_S)
                self._due.set()
