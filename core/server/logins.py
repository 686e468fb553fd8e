"""Remembers when and from where each account came in last, for whoever lists the accounts."""

import asyncio
import logging

from core.aio import TaskScope
from core.domain.errors import ReportableError
from core.server.hub import Hub
from core.store import accounts
from core.store.accounts import Principal

_log = logging.getLogger("wire")

EVERY_S = 60.0
"""An account is noted once in so long, however often it comes."""


class Logins:
    """Notes people and programs; a session's own runner is none."""

    def __init__(self, hub: Hub, scope: TaskScope) -> None:
        self._hub, self._scope = hub, scope
        self._due: dict[str, float] = {}

    def note(self, principal: Principal, address: str) -> None:
        """Somebody came in."""
        now = asyncio.get_running_loop().time()
        if principal.name.startswith("agent:") or now < self._due.get(principal.name, now):
            return
        self._due[principal.name] = now + EVERY_S
        self._scope.spawn(self._store(principal.name, address), name="login")

    async def _store(self, name: str, address: str) -> None:
        try:
            await self._hub.store(lambda conn: accounts.note_login(conn, name, address))
        except ReportableError as error:  # the disk is full, say: nobody is kept out for that
            _log.warning("the last login of %s was not noted: %s", name, error.sentence)
