"""Pictures of the real window on real data, without a display: for the demonstration, the manual and the curious.

    python -m app.window.screenshots --home FOLDER --session ID --out FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from qasync import QEventLoop

from app.desk.settings import Settings
from app.window.bootstrap import Desktop, parse
from app.window.entry import make_application
from app.window.panel_pictures import shoot, take_panels
from core.aio import TaskScope
from core.store.home import Home

LOAD_S = 60.0


def main(argv: Sequence[str] | None = None) -> int:
    """Write live.png, step.png, eye.png and review.png; print their paths."""
    parser = argparse.ArgumentParser(prog="python -m app.window.screenshots", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--session", required=True)
    parser.add_argument("--step", type=int, help="the step of the pictures that show one; default: two thirds in")
    parser.add_argument("--other", default="", help="a session to draw over and beside it")
    parser.add_argument("--panels", action="store_true", help="also each panel and dialog by itself")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--language", default="en")
    parser.add_argument("--colours", default="light")
    parser.add_argument("--size", default="1440x900")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    home = Home(options.home)
    settings = Settings(options.out / "unused.toml")
    settings.set("appearance.colours", options.colours)
    app = make_application(settings, options.language)
    try:
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            runner.run(_take(home, settings, options))
    finally:
        settings.path.unlink(missing_ok=True)
    return 0


async def _take(home: Home, settings: Settings, options: argparse.Namespace) -> None:
    async with TaskScope("screenshots") as scope:
        desktop = Desktop(home, settings, scope)
        desktop.window.resize(*map(int, options.size.split("x")))
        desktop.start(parse(["--session", options.session]), "")
        await loaded(desktop, options.session)
        desktop.window.lay_out("live")  # the pictures before may have left another one, with panels put away
        steps = desktop.desks.of(options.session).trajectory(options.session).row.steps
        await _shot(desktop, options.out / "live.png")
        desktop.cursor.to_step(options.step or max(1, 2 * steps // 3))
        await _shot(desktop, options.out / "step.png")
        desktop.actions["view.eye"].setChecked(True)
        await _shot(desktop, options.out / "eye.png")
        desktop.actions["view.eye"].setChecked(False)
        desktop.window.lay_out("read")
        await _shot(desktop, options.out / "review.png")
        if options.panels:
            await take_panels(desktop, options.out, options.other)
        await desktop.close(keep_layout=True)


async def loaded(desktop: Desktop, session: str) -> None:
    """Wait until the replica holds what the server has, or the time is over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LOAD_S
    while loop.time() < deadline:
        desk = desktop.desks.of(session)
        row = desk.row(session)
        if row is not None and desk.link.state == "online" and desk.trajectory(session).seq >= row.seq:
            return
        await asyncio.sleep(0.1)


async def _shot(desktop: Desktop, path: Path) -> None:
    await shoot(desktop.window, path)


if __name__ == "__main__":
    sys.exit(main())
