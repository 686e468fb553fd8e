"""Pictures of every panel, in both languages and both schemes, of a made-up session.

    python packaging/pictures/take.py OUT [--languages en zh_CN] [--colours light dark]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from story import Story, make_story  # noqa: E402

from core.server.serve import Server, ServeSettings  # noqa: E402
from core.store import blobs, log  # noqa: E402
from core.store.home import Home  # noqa: E402
from core.store.schema import open_log  # noqa: E402
from core.store.sqlite import Connection, transaction  # noqa: E402

SESSION, OTHER = "reviews-1", "reviews-2"


def main() -> int:
    """Make the home, take the pictures; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--languages", nargs="+", default=["en", "zh_CN"])
    parser.add_argument("--colours", nargs="+", default=["light", "dark"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        make(home)
        asyncio.run(_take_all(home, asked))
    return 0


async def _take_all(home: Home, asked: argparse.Namespace) -> None:
    """Beside a server of ours that looks after no session: nobody is there to carry the made-up one on."""
    async with Server(ServeSettings(home=home, private=True, supervise=False)):
        for language in asked.languages:
            for colours in asked.colours:
                await take(home, asked.out / f"{language}-{colours}", language, colours)


def make(home: Home) -> None:
    """Two sessions of one task, in the log of this home's private server."""
    conn = open_log(home.server_db)
    for name, story in ((SESSION, make_story(0)), (OTHER, make_story(1))):
        fill(conn, name, story)
    conn.close()


def fill(conn: Connection, session: str, story: Story) -> None:
    """A story as the log of a session."""
    with transaction(conn):
        log.create(conn, session)
        for data in story.blobs.values():
            blobs.put(conn, data)
        log.append(conn, session, story.bodies)


async def take(home: Home, out: Path, language: str, colours: str) -> None:
    """One language and scheme, in a process of its own."""
    command = [sys.executable, "-m", "app.window.screenshots", "--home", str(home.path), "--session", SESSION,
               "--other", OTHER, "--step", "6", "--out", str(out), "--language", language, "--colours", colours,
               "--panels"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    taking = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment)
    if await taking.wait():
        raise SystemExit(f"The pictures of {out.name} could not be taken.")


if __name__ == "__main__":
    sys.exit(main())
