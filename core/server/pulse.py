"""How late the server's event loop is: who is late answers nobody."""

from __future__ import annotations

import asyncio
from collections import deque

BEAT_S = 1.0
_MINUTE = 60


class Pulse:
    """Beats once a second; `worst` is the greatest delay of the last minute in seconds."""

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=_MINUTE)

    @property
    def worst(self) -> float:
        """The greatest delay of the last minute."""
        return max(self._late, default=0.0)

    async def run(self) -> None:
        """Beat until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + BEAT_S
            await asyncio.sleep(BEAT_S)
            self._late.append(max(0.0, loop.time() - due))
