"""What a server counts while it runs, from its start on, and how late its event loop is: who is late answers nobody.
Who reads it are the pages for monitoring."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Sequence

AGES_S = (0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 86_400.0)
"""Bounds of the histogram of how long commands waited in outboxes."""

COMMITS_S = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
"""Bounds of the histogram of how long work waited for its COMMIT."""

BEAT_S = 1.0
_MINUTE = 60


class Histogram:
    """How many values were at most each bound, their sum and their number."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * len(self.bounds)
        self.sum, self.number = 0.0, 0

    def note(self, value: float) -> None:
        """One more value; each bound that it does not exceed counts it."""
        self.sum += value
        self.number += 1
        for place, bound in enumerate(self.bounds):
            self.counts[place] += value <= bound


class Counts:
    """The counters of one server. Used on its event loop alone."""

    def __init__(self) -> None:
        self.since = time.time()
        self.refusals: Counter[str] = Counter()
        """How often it was said no, by code: at the door, to commands, to frames."""
        self.greeted: Counter[str] = Counter()
        """Connections that introduced themselves, by kind: client, runner."""
        self.commands: Counter[str] = Counter()
        """Commands by the answer that they got: ack, nak."""
        self.outbox_age = Histogram(AGES_S)
        """Seconds from a command's making on its computer to its coming here, by the ids of those that bear a time."""
        self.commit = Histogram(COMMITS_S)
        self.pages: Counter[str] = Counter()
        """Answers to plain HTTP requests, by path."""


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
