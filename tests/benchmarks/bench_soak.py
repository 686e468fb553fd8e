"""500 clients on 50 sessions, reconnecting all the time, ten of them never reading: memory, handles, latency stay flat.

An hour in short: a client that stays about seven minutes, as a laptop does on its way through a day, comes back eight
times in an hour; here it stays 40 s, so that 500 clients come back 4,000 times, as in that hour, in six minutes.
`python tests/benchmarks/bench_soak.py SECONDS` makes it longer or shorter.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import rig
from support.wire import raw_peer

from core.aio import TaskScope
from core.domain.events import NoteAdded, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.protocol.messages import Append, Appended, Command, Events, Lease, Leased, Seen, Subscribe, WatchSessions
from core.protocol.operations import ImportSession

CLIENTS, SESSIONS, STUCK, PAUSE_S, STAY_S, WINDOW_S = 500, 50, 10, 0.5, 40.0, 20.0
AUTHOR = Author(kind="agent", name="soak")


class Soak:
    """What was seen since the last look."""

    def __init__(self, process: rig.ServerProcess) -> None:
        self.process = process
        self.latencies: list[float] = []
        self.reconnects = self.events = self.gaps = 0
        self.held = [0] * CLIENTS
        self.written = [0] * SESSIONS

    async def write(self, number: int) -> None:
        """One session's runner."""
        session = f"s{number}"
        async with raw_peer(self.process.url, self.process.token, client=f"writer{number}") as peer:
            await peer.ask(Command(id=f"make{number}", cseq=1, session=session, op=ImportSession(origin="soak")))
            leased = await peer.ask(Lease(session=session, journal=session), Leased)
            assert isinstance(leased, Leased)
            while True:
                await asyncio.sleep(random.uniform(0, 2 * PAUSE_S))
                text = f"{time.monotonic()} " + "step loss tokens " * 30
                body = msgspec.Raw(encode_event(make_event(NoteAdded(step=0, text=text), AUTHOR)))
                n = self.written[number] + 1
                await peer.ask(Append(session=session, fence=leased.fence, first=n, bodies=(body,)), Appended)
                self.written[number] = n

    async def follow(self, number: int) -> None:
        """One client, which leaves now and then and resumes where it was."""
        await asyncio.sleep(random.uniform(0, 5))
        while True:
            with contextlib.suppress(TimeoutError):
                async with raw_peer(self.process.url, self.process.token, client=f"client{number}") as peer:
                    await peer.say(Subscribe(session=f"s{number % SESSIONS}", after=self.held[number]))
                    async with asyncio.timeout(random.uniform(0.5, 1.5) * STAY_S):
                        await self._read(peer, number)
            self.reconnects += 1

    async def ignore(self, number: int) -> None:
        """One client that asks for ten sessions and never reads; the server's pings find it out, and it comes again."""
        while True:
            with contextlib.suppress(Exception):
                async with raw_peer(self.process.url, self.process.token, client=f"stuck{number}") as peer:
                    for session in range(10):
                        await peer.say(Subscribe(session=f"s{session}", after=0))
                    peer.socket.transport.pause_reading()
                    await asyncio.sleep(60)

    async def _read(self, peer: Any, number: int) -> None:
        while True:
            message = await peer.hear(Events)
            now = time.monotonic()
            self.gaps += message.first != self.held[number] + 1
            self.held[number] = message.first + len(message.bodies) - 1
            self.events += len(message.bodies)
            if self.held[number] == message.head and len(message.bodies) == 1:  # not what was missed while away
                fact = decode_event(bytes(message.bodies[0])).fact
                assert isinstance(fact, NoteAdded)
                self.latencies.append((now - float(fact.text.split(" ", 1)[0])) * 1e3)
            await peer.say(Seen(session=message.session, seq=self.held[number]))

    def look(self) -> dict[str, float]:
        """Figures of the window that ends now."""
        seen, self.latencies = self.latencies, []
        return {"rss_mb": round(self.process.rss_mb, 1), "fds": self.process.fds, **rig.quantiles(seen)}


async def storm(rounds: int = 50, at_once: int = 30) -> dict[str, float]:
    """Nothing but coming and going: what connections leave behind (a log that grows fills SQLite's caches besides)."""
    with tempfile.TemporaryDirectory() as folder, rig.server(Path(folder)) as process:
        async def come_and_go(number: int) -> None:
            async with raw_peer(process.url, process.token, client=f"c{number}") as peer:
                await peer.say(WatchSessions())
                await peer.hear()

        seen = []
        for _ in range(rounds):
            await asyncio.gather(*(come_and_go(n) for n in range(at_once)))
            seen.append(process.rss_mb)
        return {"storm_reconnects": rounds * at_once, "storm_grown_mb": round(seen[-1] - seen[rounds // 3], 1)}


async def main(seconds: float) -> None:
    """Soak, then compare the last window with the second (the first one warms up)."""
    stormed = await storm()
    with tempfile.TemporaryDirectory() as folder, rig.server(Path(folder)) as process:
        soak = Soak(process)
        windows = []
        async with TaskScope("soak") as scope:
            for n in range(SESSIONS):
                scope.spawn(soak.write(n), name=f"writer {n}")
            for n in range(CLIENTS):
                scope.spawn(soak.follow(n), name=f"client {n}")
            for n in range(STUCK):
                scope.spawn(soak.ignore(n), name=f"stuck {n}")
            for _ in range(max(3, int(seconds / WINDOW_S))):
                await asyncio.sleep(WINDOW_S)
                windows.append(soak.look())
        early, late = windows[1], windows[-1]
        rig.told("soak", clients=CLIENTS, never_reading=STUCK, sessions=SESSIONS,
                 seconds=round(len(windows) * WINDOW_S), written=sum(soak.written), delivered=soak.events,
                 reconnects=soak.reconnects, gaps=soak.gaps,
                 rss_mb=[w["rss_mb"] for w in windows], fds=[w["fds"] for w in windows],
                 p50_ms=[w["p50_ms"] for w in windows], p99_ms=[w["p99_ms"] for w in windows],
                 grown_mb_per_1000_reconnects=round((late["rss_mb"] - early["rss_mb"]) * 1000
                                                    / max(1, soak.reconnects), 1), limit_mb=20, **stormed,
                 cpu_share=round(process.cpu_s / (len(windows) * WINDOW_S), 2))


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if sys.argv[1:] else 360.0))
