"""What wakes a waiting agent: guidance, a person's control, or the time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.actions.sink import WakeReason
from core.agents.delivery import Inbox


class Signals:
    """One bell for everything that waits; whoever is woken looks at the journal for the reason."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._bell = asyncio.Event()
        self._cutoff: asyncio.Timeout | None = None

    def ring(self) -> None:
        """Something came."""
        self._bell.set()
        if self._cutoff is not None and self._inbox.halts and not self._cutoff.expired():
            self._cutoff.reschedule(asyncio.get_running_loop().time())

    async def heard(self, seconds: float | None = None) -> bool:
        """Wait for the next ring; False when the time was over first."""
        self._bell.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return False
        return True

    async def wait(self, seconds: float) -> WakeReason:
        """Wait until the time is over, or guidance or a control is there that no step has seen yet."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            held = self._inbox.takeover
            if self._inbox.wish in ("pause", "stop") or (held is not None and (held.ends or not held.is_logged)):
                return "control"
            if self._inbox.waiting():
                return "guidance"
            left = until - loop.time()
            if left <= 0 or not await self.heard(left):
                return "time"

    @asynccontextmanager
    async def until_stop(self) -> AsyncIterator[asyncio.Timeout]:
        """A block that ends with TimeoutError when a person asks to stop or takes over (at once, if it was before)."""
        async with asyncio.timeout(0.0 if self._inbox.halts else None) as cutoff:
            self._cutoff = cutoff
            try:
                yield cutoff
            finally:
                self._cutoff = None
