"""What a client may ask: one function per request, by name."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from . import files
from .daemon import Daemon

VERSION = 1
PIECE = 128 << 10
Reply = tuple[dict[str, Any], bytes]


async def _wait(wakers: set[asyncio.Event], ready: Callable[[], bool], seconds: float) -> None:
    """Wait until something is ready, at most a minute."""
    event = asyncio.Event()
    wakers.add(event)
    until = time.monotonic() + min(seconds, 60.0)
    try:
        while not ready() and (left := until - time.monotonic()) > 0:
            event.clear()
            try:
                await asyncio.wait_for(event.wait(), left)
            except asyncio.TimeoutError:
                return
    finally:
        wakers.discard(event)


async def _next(d: Daemon, m: dict[str, Any]) -> Reply:
    """The next output behind an offset. The reader sets the pace: who is too slow meets a gap, nobody stops."""
    terminal, offset = d.named(m), int(m["offset"])
    await _wait(terminal.wakers, lambda: terminal.tape.total > offset or terminal.closed, float(m["wait"]))
    at, data = terminal.tape.read(offset, PIECE)
    return {"type": "range", "offset": at, "over": terminal.closed and not data}, data


async def _wait_job(d: Daemon, m: dict[str, Any]) -> Reply:
    job = d.job(str(m["job"]))
    await _wait(d.job_wakers, lambda: bool(job["ended"]), float(m["wait"]))
    return {"type": "jobs", "jobs": [job]}, b""


async def _ended(d: Daemon, m: dict[str, Any]) -> Reply:
    count = int(m["count"])
    if count < 0 or count > d.ended_before + len(d.ended):  # a new listener, or one that knew an earlier daemon
        count = d.ended_before + len(d.ended) if count < 0 else 0
    await _wait(d.job_wakers, lambda: bool(d.ended_after(count)), float(m["wait"]))
    jobs = d.ended_after(count)
    return {"type": "jobs", "jobs": jobs, "count": max(count, d.ended_before) + len(jobs)}, b""


async def _listen(d: Daemon, m: dict[str, Any]) -> Reply:
    return {"type": "port", "port": await d.relay.listen(int(m["port"]))}, b""


def _done(action: Callable[..., Any]) -> Callable[[Daemon, dict[str, Any], bytes], Reply]:
    def answer(daemon: Daemon, m: dict[str, Any], data: bytes) -> Reply:
        action(daemon, m, data)
        return {"type": "done"}, b""
    return answer


def _read_tape(d: Daemon, m: dict[str, Any], _: bytes) -> Reply:
    tape = d.named(m).tape
    start, end = int(m["start"]), int(m["end"])
    pieces: list[bytes] = []
    offset = start
    while offset < end and len(pieces) * PIECE < 8 << 20:
        at, data = tape.read(offset, min(PIECE, end - offset))
        if not data or at >= end or (pieces and at != offset):
            break
        start = start if pieces else at
        pieces.append(data[: end - at])
        offset = at + len(data)
    return {"type": "range", "offset": start}, b"".join(pieces)


def _read_file(_: Daemon, m: dict[str, Any], __: bytes) -> Reply:
    size, data = files.read(str(m["path"]), int(m["offset"]), min(int(m["size"]), 8 << 20))
    return {"type": "file", "size": size}, data


def _procs(d: Daemon, m: dict[str, Any], _: bytes) -> Reply:
    found = d.named(m).kill(bool(m.get("force"))) if m["op"] == "kill" else d.named(m).processes()
    rows = [{"pid": p.pid, "state": p.state, "command": p.command[:300]} for p in found[:500]]
    return {"type": "processes", "processes": rows}, b""


QUICK: dict[str, Callable[[Daemon, dict[str, Any], bytes], Reply]] = {
    "hello": lambda d, m, _: ({"type": "hello", "version": VERSION, "pid": os.getpid(), "workspace": d.workspace}, b""),
    "open": lambda d, m, data: ({"type": "terminal", "terminal": d.open(m, data).info()}, b""),
    "list": lambda d, m, _: ({"type": "terminals", "terminals": [t.info() for t in d.terminals.values()]}, b""),
    "jobs": lambda d, m, _: ({"type": "jobs", "jobs": d.jobs(str(m.get("name", "")))}, b""),
    "command": _done(lambda d, m, data: d.named(m).command(str(m["job"]), data.decode("utf-8", "replace"))),
    "write": _done(lambda d, m, data: d.named(m).write(data)),
    "interrupt": _done(lambda d, m, _: d.named(m).interrupt()),
    "end": _done(lambda d, m, _: d.named(m).end()),
    "close": _done(lambda d, m, _: d.close(d.named(m))),
    "shutdown": _done(lambda d, m, _: asyncio.get_running_loop().call_later(0.05, d.shut_down)),
    "kill": _procs,
    "processes": _procs,
    "read": _read_tape,
}
WAITING: dict[str, Callable[[Daemon, dict[str, Any]], Awaitable[Reply]]] = {
    "next": _next, "wait_job": _wait_job, "ended": _ended, "listen": _listen,
}
FILES: dict[str, Callable[[Daemon, dict[str, Any], bytes], Reply]] = {
    "read_file": _read_file,
    "write_file": _done(lambda d, m, data: files.write(str(m["path"]), data, bool(m.get("append")))),
    "stat": lambda d, m, _: ({"type": "entries", "entries": [files.look(str(m["path"]))]}, b""),
    "entries": lambda d, m, _: ({"type": "entries", "entries": files.entries(str(m["path"]))}, b""),
    "changed": lambda d, m, _: ({"type": "changes", "changes": d.watch.changes()}, b""),
    "stock": lambda d, m, _: ({"type": "changes", "changes": d.watch.stock()}, b""),
}
