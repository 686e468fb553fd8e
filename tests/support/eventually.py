"""Waiting for a condition on the running loop, without nested loops and without guessing times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def eventually(holds: Callable[[], object], seconds: float = 240.0) -> None:
    """Return once `holds()` is true; fail after so many seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not holds():
        assert loop.time() < deadline, f"never came true: {holds}"
        await asyncio.sleep(0.01)
