"""The processes of a run as its harness sees them: forked, killed, stopped, starved of their disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_PATHS = os.pathsep.join(str(p) for p in (ROOT, ROOT / "tests"))


class Process:
    """One party. `ended` is set as soon as it is dead."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended = asyncio.Event()

    def signal(self, number: int) -> bool:
        """Send a signal; False when it is dead already."""
        return send(self.pid, number)


def send(pid: int, number: int) -> bool:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def starve(pid: int, starved: bool) -> None:
    """Let every write of a process to a file fail, or work again."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0 if starved else hard, hard))


class Zygote:
    """Forks parties; everything that it forked dies with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = folder / "zygote.sock"
        self.env = {**os.environ, "PYTHONPATH": _PATHS, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process: subprocess.Popen[str] | None = None
        self._watches: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start it and wait until everything is imported."""
        line = await asyncio.to_thread(self._start)
        assert line == "ready\n", (self._folder / "zygote.out").read_text()

    def _start(self) -> str:
        command = [sys.executable, "-m", "faults.zygote", str(self.socket)]
        with (self._folder / "zygote.out").open("w") as out:
            self._process = subprocess.Popen(
                command, env=self.env, cwd=ROOT, stdout=subprocess.PIPE, stderr=out, text=True
            )
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    async def spawn(self, folder: Path, *argv: str, **env: str) -> Process:
        """Start a party of the run in `folder`; its output goes to a file with its name."""
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        out = str(folder / f"{'-'.join(argv[:2])}.out")
        writer.write(json.dumps({"argv": argv, "env": {**self.env, **env}, "out": out}).encode() + b"\n")
        process = Process(json.loads(await reader.readline())["pid"])
        task = asyncio.get_running_loop().create_task(_watch(process, reader, writer))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)
        return process

    def children(self) -> list[int]:
        """Every living party."""
        assert self._process is not None
        told = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return [int(pid) for pid in told]

    async def clear(self) -> None:
        """End every party."""
        while pids := self.children():
            for pid in pids:
                send(pid, signal.SIGKILL)
            await asyncio.sleep(0.005)

    async def close(self) -> None:
        """End everything."""
        if self._process is None:
            return
        await self.clear()
        self._process.kill()
        self._process.communicate()
        if self._watches:
            await asyncio.wait(self._watches, timeout=5)


async def _watch(process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        await reader.read()
    process.ended.set()
    writer.close()


def figures(pid: int) -> dict[str, Any]:
    """Resident memory in MB and open file handles of a process."""
    page = os.sysconf("SC_PAGE_SIZE")
    rss = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page / 1e6
    return {"rss_mb": round(rss, 1), "fds": len(list(Path(f"/proc/{pid}/fd").iterdir()))}
