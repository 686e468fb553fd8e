"""The window at the sizes of the drawn pictures, of a real saved run, a live session and an empty home: one process per
language and scheme.

    python packaging/pictures/scenes.py --home HOME --out OUT
        [--read ID --step N --inside ID --inner N --live ID --tour ID]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from qasync import QEventLoop

from app.desk.settings import Settings
from app.guidance.view import GuidanceView
from app.step.eye_view import EyeView
from app.window.bootstrap import Desktop, parse
from app.window.entry import make_application
from app.window.panel_pictures import shoot
from app.window.screenshots import loaded
from core.aio import TaskScope
from core.domain.running import CHANNEL, RunningAction, encode_running
from core.store.home import Home

LARGE, SMALL, FULL_HD = (1440, 900), (1280, 720), (1920, 1080)


def main(take: Callable[[Settings, argparse.Namespace], Coroutine[None, None, None]]) -> int:
    """Take all pictures of one language and scheme; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--read", help="a saved session; without it the pictures are those of a first start")
    parser.add_argument("--step", type=int, help="the step of it that is read")
    parser.add_argument("--inside", default="", help="a subagent of it, in which the step is read")
    parser.add_argument("--inner", type=int, default=1, help="that step")
    parser.add_argument("--tour", help="a demonstration that goes on")
    parser.add_argument("--live", help="a session that goes on")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--language", default="en")
    parser.add_argument("--colours", default="light")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    settings = Settings(options.out / "unused.toml")
    scheme = options.colours.removeprefix("contrast").strip("-") or "light"
    settings.set("appearance.colours", scheme)
    settings.set("appearance.contrast", "high" if options.colours.startswith("contrast") else "normal")
    app = make_application(settings, options.language)
    try:
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            runner.run(take(settings, options))
    finally:
        settings.path.unlink(missing_ok=True)
    return 0


async def _take(settings: Settings, options: argparse.Namespace) -> None:
    async with TaskScope("pictures") as scope:
        desktop = Desktop(Home(options.home), settings, scope)
        desktop.window.resize(*LARGE)
        desktop.start(parse(["--session", options.read] if options.read else []), "")
        if options.read:
            await _reading(desktop, options)
            await _living(desktop, options)
            await _touring(desktop, options)
        else:
            await _starting(desktop, options)
        await desktop.close(keep_layout=True)


async def _starting(desktop: Desktop, options: argparse.Namespace) -> None:
    for name, size in (("start", LARGE), ("start-1280", SMALL), ("start-1920", FULL_HD)):
        desktop.window.resize(*size)
        await shoot(desktop.window, options.out / f"{name}.png")


async def _reading(desktop: Desktop, options: argparse.Namespace) -> None:
    await loaded(desktop, options.read)
    for name, size in (("reading", LARGE), ("reading-1280", SMALL), ("reading-1920", FULL_HD)):
        desktop.window.resize(*size)
        desktop.window.lay_out("read")
        await _go_in(desktop, options)
        await shoot(desktop.window, options.out / f"{name}.png")
    desktop.window.resize(*LARGE)
    desktop.window.lay_out("read")
    desktop.cursor.move(options.read, options.step)
    desktop.actions["view.eye"].setChecked(True)
    for eye in desktop.window.findChildren(EyeView):
        eye.presence.ask("Jest")
    await shoot(desktop.window, options.out / "eye.png")
    desktop.actions["view.eye"].setChecked(False)


async def _go_in(desktop: Desktop, options: argparse.Namespace) -> None:
    """The step that is read: one of the session, or of its subagent, whose rows then stand below its caller's."""
    desktop.cursor.move(options.read, options.step)
    if options.inside:
        desktop.cursor.move(options.inside, 1)
        await loaded(desktop, options.inside)
        desktop.cursor.move(options.inside, options.inner)


async def _touring(desktop: Desktop, options: argparse.Namespace) -> None:
    """The guide at its second step: somebody looked, and is about to write."""
    desktop.cursor.move(options.tour)
    await loaded(desktop, options.tour)
    desktop.window.resize(*LARGE)
    desktop.window.lay_out("live")
    desktop.cursor.to_step(1)
    desktop.actions["go.follow"].trigger()
    running = RunningAction(5, "run_command", "head -n 3 data/test.jsonl", 2.0)
    desktop.desks.live_text.emit(options.tour, CHANNEL, encode_running(running))
    for view in desktop.window.findChildren(GuidanceView):
        view.writing.set_draft("Use the held-out part of the training split, not data/test.jsonl")
        view.start_writing()
    await shoot(desktop.window, options.out / "live-tour.png")


async def _living(desktop: Desktop, options: argparse.Namespace) -> None:
    desktop.cursor.move(options.live)
    await loaded(desktop, options.live)
    for name, size in (("live", LARGE), ("live-1280", SMALL)):
        desktop.window.resize(*size)
        desktop.window.lay_out("live")
        running = RunningAction(25, "run_command", "python train.py --epochs 13 --seed 8", 42.0)
        desktop.desks.live_text.emit(options.live, CHANNEL, encode_running(running))
        for view in desktop.window.findChildren(GuidanceView):
            view.writing.set_draft("Try width=512 only if the held-out accuracy still rises after epoch 12")
            view.start_writing()
        await shoot(desktop.window, options.out / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main(_take))
