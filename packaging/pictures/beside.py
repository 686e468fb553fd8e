"""The window at the sizes of the drawings, to be put beside them: a real saved run, a live session, an empty home.

    python packaging/pictures/beside.py OUT --run FILE [--drawn FOLDER]

FILE is a saved run (the drawings show one of Claude Code). With --drawn each picture is also put beside its drawing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from story import LI, START, Story, make_story, make_tour  # noqa: E402
from take import fill  # noqa: E402

from app.sessions.new import DEMONSTRATION  # noqa: E402
from core.domain.events import StepStarted, VerdictGiven, encode_event, make_event  # noqa: E402
from core.server.serve import Server, ServeSettings  # noqa: E402
from core.store import log  # noqa: E402
from core.store.home import Home  # noqa: E402
from core.store.schema import open_log  # noqa: E402
from core.store.sqlite import Connection, transaction  # noqa: E402

LIVE, TOUR = "reviews-1", "demonstration-1"
SETS = (("en", "light"), ("en", "dark"), ("en", "contrast"), ("en", "contrast-dark"), ("zh_CN", "light"),
        ("zh_CN", "dark"))
"""Language and scheme of each set of pictures."""
JUDGED = (("keep", (1, 2, 3, 4, 5, 6, 7)), ("mask", (8,)), ("unsure", (9,)))


def main() -> int:
    """Make the homes, take the pictures; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--run", type=Path, required=True, help="a saved run, of any format that Tiphys opens")
    parser.add_argument("--step", type=int, default=0, help="the step of it that is read; default: two thirds in")
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="more saved runs, for the queue")
    parser.add_argument("--drawn", type=Path, help="the folder of the drawings")
    parser.add_argument("--sets", nargs="+", default=[f"{a}-{b}" for a, b in SETS])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, empty = Home(Path(folder, "home")), Home(Path(folder, "empty"))
        session, *steps = read_run(home, asked.run, asked.step)
        for file in asked.also:
            _tiphys(home, "import", "--json", str(file))
        conn = open_log(home.server_db)
        fill(conn, LIVE, living())
        fill(conn, "reviews-2", make_story(1))
        fill(conn, TOUR, make_tour(datetime.now(UTC) - timedelta(seconds=90), DEMONSTRATION))
        _judge(conn, session)
        conn.close()
        make_queue(home)
        asyncio.run(_take_all(home, empty, [session, *map(str, steps)], asked))
    if asked.drawn is not None:
        put_beside(asked.out, asked.drawn)
    return 0


def read_run(home: Home, file: Path, step: int) -> tuple[str, int, str, int]:
    """Import a run; its longest session, the step that is read, and of its longest subagent the same."""
    printed = _tiphys(home, "import", "--json", str(file))
    found = [json.loads(text) for text in printed.splitlines()]
    main, *inner = sorted(found, key=lambda one: int(one["steps"]), reverse=True)
    below = inner[0] if inner else {"session": "", "steps": 0}
    return main["session"], step or _two_thirds(main["steps"]), below["session"], _two_thirds(below["steps"])


def _two_thirds(steps: int) -> int:
    return max(1, 2 * steps // 3)


def make_queue(home: Home) -> None:
    """What the queue's picture shows: all that is over, a part of it judged twice, one session taken."""
    name = "Claims and errors"
    _tiphys(home, "queue", "make", name, "--filter", "-state:running", "--steps", "reports", "--twice", "25")
    _tiphys(home, "queue", "take", name)


def _tiphys(home: Home, *arguments: str) -> str:
    command = [sys.executable, "-m", "core.cli", "--home", str(home.path), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _judge(conn: Connection, session: str) -> None:
    with transaction(conn):
        log.append(conn, session, [encode_event(make_event(VerdictGiven(step=step, value=value), LI))  # type: ignore[arg-type]
                                   for value, steps in JUDGED for step in steps])


def living() -> Story:
    """The made-up session as if it were at work now: its last step began 42 seconds ago."""
    short = make_story()
    now = datetime.now(UTC)
    story = make_story(at=START + (now - short.at) - timedelta(seconds=42))
    story.say(StepStarted(number=story.step + 1))
    return story


async def _take_all(home: Home, empty: Home, read: list[str], asked: argparse.Namespace) -> None:
    """Beside a server of ours that looks after no session: nobody is there to carry the made-up one on."""
    shown = ("--live", LIVE, "--tour", TOUR,
             *(part for pair in zip(("--read", "--step", "--inside", "--inner"), read, strict=True) for part in pair))
    async with Server(ServeSettings(home=home, private=True, supervise=False)):
        for name in asked.sets:
            await _take_one("scenes.py", asked.out / name, *name.split("-", 1), "--home", str(home.path), *shown)
    for name in asked.sets:
        await _take_one("states.py", asked.out / name, *name.split("-", 1), "--home", str(home.path), *shown)
    make_usual(empty.path.parent)
    async with Server(ServeSettings(home=empty, private=True, supervise=False)):
        for name in asked.sets:
            await _take_one("scenes.py", asked.out / name, *name.split("-", 1), "--home", str(empty.path))


def make_usual(person: Path) -> None:
    """Folders of other programs in a person's home, as the drawing of the start has them: names alone."""
    for folder, name, count in ((".claude/projects/todo", "run-{}.jsonl", 14),
                                (".codex/sessions", "rollout-{}.jsonl", 3), ("logs", "{}.eval", 6)):
        (person / folder).mkdir(parents=True)
        for number in range(count):
            (person / folder / name.format(number)).touch()


async def _take_one(program: str, out: Path, language: str, colours: str, *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "packaging/pictures" / program), "--out", str(out), "--language", language,
               "--colours", colours, *arguments]
    person = str(Path(arguments[arguments.index("--home") + 1]).parent)
    taking = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env={**os.environ, "HOME": person})
    if await taking.wait():
        raise SystemExit(f"The pictures of {out.name} could not be taken: {program} ended with {taking.returncode}.")


def put_beside(out: Path, drawn: Path) -> None:
    """Each picture that has a drawing of its name, both in one: the drawing at the left."""
    from PySide6.QtGui import QImage, QPainter

    for taken in sorted(out.glob("*/*.png")):
        language, colours = taken.parent.name.split("-", 1)
        ending = "hc" if colours == "contrast" else f"zh-{colours}" if language == "zh_CN" else colours
        drawing = QImage(str(drawn / f"{taken.stem}-{ending}.png"))
        if drawing.isNull() or taken.stem.endswith("beside"):
            continue
        real = QImage(str(taken))
        both = QImage(drawing.width() + real.width(), max(drawing.height(), real.height()), QImage.Format.Format_RGB32)
        both.fill(0xFF808080)
        painter = QPainter(both)
        painter.drawImage(0, 0, drawing)
        painter.drawImage(drawing.width(), 0, real)
        painter.end()
        both.save(str(taken.with_name(f"{taken.stem}-beside.png")))


if __name__ == "__main__":
    sys.exit(main())
