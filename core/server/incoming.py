"""Payloads that come from a runner: put together, checked, and stored many to a commit."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from core.aio import TaskScope
from core.domain.errors import LimitReached, ReportableError
from core.protocol.frames import Assembly, parse_piece
from core.server.hub import Hub
from core.store import blobs, unnamed_blobs

ON_THE_WAY = 64
"""Payloads of one connection that may wait for the disk; then nothing more is read from it."""

INCOMPLETE_BYTES = blobs.MAX_RAW + (1 << 20)


class IncomingPayloads:
    """One connection's payloads, counted for `account`. `refuse` is told of one that cannot be stored, by its name."""

    def __init__(
        self, hub: Hub, scope: TaskScope, account: str, refuse: Callable[[ReportableError, str], Awaitable[None]]
    ) -> None:
        self._hub, self._scope, self._account, self._refuse = hub, scope, account, refuse
        self._assembly = Assembly()
        self._storing: deque[asyncio.Task[None]] = deque()

    async def take(self, frame: bytes) -> None:
        """A piece came. Raises InvalidInput for a torn one, LimitReached for too much at once."""
        piece = parse_piece(frame)
        whole = self._assembly.add(piece)
        if self._assembly.held > INCOMPLETE_BYTES:
            raise LimitReached("blob_too_large", f"More than {INCOMPLETE_BYTES} bytes of payloads are incomplete.")
        if whole is not None:
            await self.settle(ON_THE_WAY)
            self._storing.append(self._scope.spawn(self._store(piece.hash, whole), name="payload"))

    async def settle(self, most: int = 0) -> None:
        """Wait until at most `most` payloads are on their way to the disk: an Append that names them is behind."""
        while len(self._storing) > most:
            await self._storing.popleft()

    async def _store(self, hash: str, compressed: bytes) -> None:
        try:
            await self._hub.store(lambda conn: unnamed_blobs.take_in(conn, self._account, hash, compressed))
        except ReportableError as error:
            await self._refuse(error, hash)
