"""Tells what action is carried out now, again and again: who comes to look meanwhile hears of it too."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from time import monotonic

from core.aio import TaskScope
from core.domain.deed import deed_of
from core.domain.running import TITLE, RunningAction, encode_running
from core.domain.step import Action
from core.domain.tools import OWN

EVERY_S = 5.0
"""How often a long action is told again; that it comes is also a sign of life."""


@contextlib.asynccontextmanager
async def telling(tell: Callable[[str], None], step: int, action: Action) -> AsyncIterator[None]:
    """While it is entered `tell` is given the action as live text; at the end an empty one."""
    begun, title = monotonic(), deed_of(action, OWN).title[:TITLE]

    async def go_on() -> None:
        while True:
            tell(encode_running(RunningAction(step=step, tool=action.tool[:200], title=title,
                                              seconds=round(monotonic() - begun, 1))))
            await asyncio.sleep(EVERY_S)

    async with TaskScope("live action") as scope:
        again = scope.spawn(go_on(), name="tell the action")
        try:
            yield
        finally:
            again.cancel()
            tell("")
