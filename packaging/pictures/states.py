"""The states that a window passes through: its server is away, a long session is being read, a queue, the guide.

    python packaging/pictures/states.py --home HOME --out OUT --read ID --live ID [--language L --colours C]

The server is this process's own; for the pictures without one it ends, and its lock is held so that no other begins.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import scenes

from app.desk import fold
from app.desk.settings import Settings
from app.guidance.view import GuidanceView
from app.window.bootstrap import Desktop, parse
from app.window.panel_pictures import shoot
from app.window.screenshots import loaded
from core.aio import TaskScope
from core.server.serve import Server, ServeSettings
from core.store.home import Home
from core.store.lock import FileLock

DRAFT = "Try width=512 only if the held-out accuracy still rises after epoch 12"


async def take(settings: Settings, options: Namespace) -> None:
    """All pictures of one language and scheme."""
    home = Home(options.home)
    async with TaskScope("pictures") as scope:
        server = Server(_settings(home))
        await server.__aenter__()
        desktop = Desktop(home, settings, scope)
        desktop.window.resize(*scenes.LARGE)
        desktop.start(parse(["--session", options.live]), "")
        await loaded(desktop, options.live)
        await _rows(desktop, options)
        await _queue(desktop, options)
        async with _without(home, server, desktop):
            await _away(desktop, options)
            await desktop.close(keep_layout=True)
    await _being_read(home, settings, options)


def _settings(home: Home) -> ServeSettings:
    return ServeSettings(home=home, private=True, supervise=False)


async def _rows(desktop: Desktop, options: Namespace) -> None:
    """The list with a row in each state, as wide as it can be."""
    desktop.window.lay_out("read")
    for key in ("step", "files", "outline"):
        desktop.window.docks[key].hide()
    desktop.cursor.to_step(8)
    await shoot(desktop.window, options.out / "states.png")


async def _queue(desktop: Desktop, options: Namespace) -> None:
    for name, size in (("queue", scenes.LARGE), ("queue-1280", scenes.SMALL)):
        desktop.window.resize(*size)
        desktop.window.lay_out("queue")
        await shoot(desktop.window, options.out / f"{name}.png")


@asynccontextmanager
async def _without(home: Home, server: Server, desktop: Desktop) -> AsyncIterator[None]:
    """The server ends, and nothing takes its place."""
    await server.__aexit__(None, None, None)
    lock = FileLock(home.server_lock)
    while not lock.take():
        await asyncio.sleep(0.01)
    while desktop.desks.local.link.state == "online":
        await asyncio.sleep(0.05)
    yield
    lock.release()


async def _away(desktop: Desktop, options: Namespace) -> None:
    """A text waits on this computer; another session's bodies were never fetched."""
    desktop.window.resize(*scenes.LARGE)
    desktop.window.lay_out("live")
    for view in desktop.window.findChildren(GuidanceView):
        view.writing.set_draft(DRAFT)
        view.start_writing()
        view.writing.send.click()
    await shoot(desktop.window, options.out / "away-live.png")
    desktop.cursor.move(options.read)
    for name, size in (("away", scenes.LARGE), ("away-1280", scenes.SMALL)):
        desktop.window.resize(*size)
        desktop.window.lay_out("read")
        await shoot(desktop.window, options.out / f"{name}.png")
    desktop.window.resize(*scenes.LARGE)
    desktop.window.lay_out("read")


async def _being_read(home: Home, settings: Settings, options: Namespace) -> None:
    """As a session of a hundred thousand steps is for some seconds, when it is opened for the first time."""
    (home.replicas / "local.db").unlink()
    fold.AT_LEAST, fold.AT_ONCE_S, fold.PAUSE_MS = 60, 0.0, 10_000_000
    async with Server(_settings(home)), TaskScope("pictures") as scope:
        desktop = Desktop(home, settings, scope)
        desktop.window.resize(*scenes.LARGE)
        desktop.start(parse(["--session", options.live]), "")
        while desktop.desks.local.row(options.live) is None:
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        await shoot(desktop.window, options.out / "loading.png")
        await desktop.close(keep_layout=True)


if __name__ == "__main__":
    sys.exit(scenes.main(take))
