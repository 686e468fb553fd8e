"""What happens to a stand under faults, how often, and the return of peace.

Everything that is decided here comes from the seed; what the machine's timing makes of it is the other half of chance.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from faults.processes import figures, send, starve
from faults.stand import Settings, Stand, standing, until, zygote

from core.aio import TaskScope
from core.domain.errors import ReportableError
from core.store.backup import back_up
from core.store.sqlite import connect, driver, scalar

LARGE_BYTES, RARELY_S = 12_000_000, 900.0
"""From this size of the log on a backup is restored this seldom: everybody reads and sends everything anew."""


class Progress:
    """How far a run has come, read from its files now and then."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand
        self._grown = self._held = 0
        self._looked = 0.0
        self._restored = 0.0
        self._lines: dict[Path, tuple[int, int]] = {}

    def grown(self) -> int:
        """Events by which the log has grown; one that a restore took away counts again when it is back."""
        if time.monotonic() - self._looked > 0.2:
            self._looked = time.monotonic()
            with contextlib.suppress(driver.Error, ReportableError):
                with contextlib.closing(connect(self._stand.home / "server.db", readonly=True)) as conn:
                    held = scalar(conn, "SELECT ifnull(sum(head), 0) FROM session")
                self._grown += max(0, held - self._held)
                self._held = held
        return self._grown

    def sent(self) -> int:
        """Messages that clients were told are sent."""
        for path in self._stand.folder.glob("client*.sent"):
            at, lines = self._lines.get(path, (0, 0))
            with path.open("rb") as file:
                file.seek(at)
                data = file.read()
            self._lines[path] = at + len(data), lines + data.count(b"\n")
        return sum(lines for _, lines in self._lines.values())

    def is_large(self) -> bool:
        """Whether a restore would cost too much now; False counts as one that is made."""
        size = (self._stand.home / "server.db").stat().st_size
        if size < LARGE_BYTES or time.monotonic() - self._restored > RARELY_S:
            self._restored = time.monotonic()
            return False
        return True


class Chaos:
    """What happens to a stand, and how often."""

    def __init__(self, stand: Stand) -> None:
        self.stand, self.chance = stand, stand.chance
        self.done: Counter[str] = Counter()
        self._scope = TaskScope("chaos")
        self._busy: set[str] = set()
        self._progress = Progress(stand)
        every: dict[str, tuple[float, Callable[[], Awaitable[None]]]] = {
            "kill server": (3, self._kill_server),
            "kill runner": (5, self._kill_runner),
            "kill client": (4, self._kill_client),
            "kill all": (0.3, self._kill_all),
            "stop and continue": (1, self._freeze),
            "reset": (2, self._reset),
            "cut in a frame": (2, self._cut),
            "black hole": (0.5, self._black_hole),
            "slow line": (0.5, self._slow),
            "late bytes": (0.8, self._late),
            "second runner": (0.5, self._second_runner),
            "broken disk": (0.6, self._starve),
            "reader that never reads": (0.3, self._stuck),
            "restored backup": (0.3, self._restore),
        }
        told = stand.settings
        if not told.restores:
            del every["restored backup"]
        if stand.engine is not None:
            every |= {"kill container": (4, self._kill_container), "kill engine": (1, self._kill_engine)}
        every |= {k: (weight, every[k][1]) for k, weight in told.weights.items() if k in every}
        self._all = {k: v for k, v in every.items() if not told.faults or k in told.faults}

    async def run(self, seconds: float) -> None:
        """Do harm for so long."""
        until_ = time.monotonic() + seconds
        names, weights = list(self._all), [w for w, _ in self._all.values()]
        while time.monotonic() < until_ and not self._has_enough():
            await asyncio.sleep(self.chance.expovariate(1 / self.stand.settings.pause_s))
            name = self.chance.choices(names, weights)[0]
            if name not in self._busy and self._may(name):
                self._scope.spawn(self._do(name), name=name)
        while self._busy:
            await asyncio.sleep(0.02)
        await self._scope.close()
        self.stand.pipe.slow_s, self.stand.pipe.late = 0.0, False

    def _has_enough(self) -> bool:
        told = self.stand.settings
        if not told.kills:
            return False
        return self.stand.killed >= told.kills and self._progress.sent() >= told.messages

    def _may(self, name: str) -> bool:
        """Whether enough happened since the last kill; and, for a backup that all have to read anew, whether seldom."""
        told = self.stand.settings
        if name == "restored backup" and self._progress.is_large():
            return False
        if not told.events_per_kill:
            return True
        return self._progress.grown() >= told.events_per_kill * self.stand.killed

    async def _do(self, name: str) -> None:
        self._busy.add(name)
        try:
            await self._all[name][1]()
            self.done[name] += 1
        finally:
            self._busy.discard(name)

    def _clients(self) -> list[str]:
        return [n for n in self.stand.parties if n.startswith("client")]

    async def _kill_server(self) -> None:
        if "server" not in self.stand.held:
            await self.stand.kill("server")

    async def _kill_client(self) -> None:
        await self.stand.kill(self.chance.choice(self._clients()))

    async def _kill_runner(self) -> None:
        if pids := self.stand.runners():
            self.stand.killed += send(self.chance.choice(pids), signal.SIGKILL)

    async def _kill_all(self) -> None:
        names = [*self._clients(), *([] if "server" in self.stand.held else ["server"])]
        for pid in self.stand.runners():
            self.stand.killed += send(pid, signal.SIGKILL)
        for name in names:
            process = self.stand.parties[name]
            self.stand.killed += not process.ended.is_set() and process.signal(signal.SIGKILL)

    def _anybody(self) -> int:
        named = [self.stand.parties[n].pid for n in (*self._clients(), "server")]
        return self.chance.choice([*named, *self.stand.runners()])

    async def _freeze(self) -> None:
        pid = self._anybody()
        send(pid, signal.SIGSTOP)
        long = self.chance.random() < 0.15  # so that its peers give it up before it comes back
        await asyncio.sleep(self.chance.uniform(4.0, 6.0) if long else self.chance.uniform(0.05, 1.0))
        send(pid, signal.SIGCONT)

    async def _starve(self) -> None:
        pid = self._anybody()
        starve(pid, True)
        await asyncio.sleep(self.chance.uniform(0.05, 0.5))
        starve(pid, False)

    async def _reset(self) -> None:
        self.stand.pipe.reset()

    async def _cut(self) -> None:
        self.stand.pipe.cut_after.append(self.chance.randrange(1, 2000))

    async def _black_hole(self) -> None:
        await self.stand.pipe.black_hole(self.chance.uniform(0.1, 1.5), self.chance.random() < 0.5)

    async def _slow(self) -> None:
        self.stand.pipe.slow_s = 0.02
        await asyncio.sleep(0.5)
        self.stand.pipe.slow_s = 0.0

    async def _late(self) -> None:
        """Connections made now deliver late; a reset then leaves the old one draining beside the new one."""
        self.stand.pipe.late = True
        self.stand.pipe.reset()
        await asyncio.sleep(0.6)
        self.stand.pipe.late = False
        await self._kill_client()

    async def _second_runner(self) -> None:
        """Somebody starts a runner by hand beside the living one: it must find the lock and go."""
        folders = [f for f in (self.stand.home / "sessions").iterdir() if (f / "token").exists()]
        if folders:
            folder = max(folders, key=lambda f: f.stat().st_mtime)
            await self.stand.spawn(
                "agent",
                "--session",
                folder.name,
                "--url",
                "ws://127.0.0.1:1",
                "--token-file",
                str(folder / "token"),
                "--folder",
                str(folder),
            )

    async def _kill_container(self) -> None:
        assert self.stand.engine is not None
        self.stand.killed += await self.stand.engine.kill_one(self.chance)

    async def _kill_engine(self) -> None:
        assert self.stand.engine is not None
        self.stand.killed += await self.stand.engine.die(self.chance.uniform(0.5, 2.0))

    async def _stuck(self) -> None:
        from support.wire import raw_peer

        from core.protocol.messages import Subscribe, WatchSessions

        token = (self.stand.home / "admin.token").read_text()
        url = f"ws://127.0.0.1:{(self.stand.home / 'server.port').read_text()}"
        sessions = [f.name for f in (self.stand.home / "sessions").iterdir()]
        with contextlib.suppress(Exception):
            async with asyncio.timeout(3), raw_peer(url, token, client="stuck") as peer:
                await peer.say(WatchSessions())
                for session in sessions[-3:]:
                    await peer.say(Subscribe(session=session))
                await asyncio.sleep(1.5)

    async def _restore(self) -> None:
        """A backup is made, the world goes on, and then the backup takes the database's place."""
        stand, copy = self.stand, self.stand.folder / "copy.backup"
        with contextlib.closing(connect(stand.home / "server.db", readonly=True)) as conn:
            await asyncio.to_thread(back_up, conn, copy)
        await asyncio.sleep(self.chance.uniform(0.2, 2.0))
        stand.held.add("server")
        await stand.kill("server")
        for suffix in ("-wal", "-shm"):
            (stand.home / f"server.db{suffix}").unlink(missing_ok=True)
        shutil.move(copy, stand.home / "server.db")
        stand.held.discard("server")


async def disturb(folder: Path, settings: Settings) -> dict[str, Any]:
    """One run: harm, then peace. Gives what was done and how long peace took; the files are left for the judge."""
    async with zygote(folder) as made, standing(folder, settings, made) as stand:
        chaos = Chaos(stand)
        if settings.sandbox:  # the first containers take their time
            await until(stand.is_working, settings.patience_s)
        await chaos.run(settings.seconds)
        stand.be_quiet()
        told: dict[str, Any] = {"kills": stand.killed, "faults": dict(sorted(chaos.done.items()))}
        with contextlib.suppress(TimeoutError):
            told["answered_s"] = round(await until(stand.outboxes_empty, settings.patience_s), 1)
            told["settled_s"] = round(told["answered_s"] + await until(stand.is_settled, settings.patience_s), 1)
            stand.make_end()
            await until(stand.is_over, settings.patience_s)
            told["over"] = True
        told["server"] = figures(stand.parties["server"].pid)
        return told
