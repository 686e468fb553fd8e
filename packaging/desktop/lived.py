"""What a person does and says before an upgrade, by the older program, and whether all of it is there afterwards.

    python -I lived.py tasks|join|live IMPORTED OURS|knows SESSION|write SESSION|sent SESSION|copy FOLDER   (lived.sh)
    python lived.py compare BEFORE AFTER                              (plain SQL: nothing of the program is imported)

The program's own modules are imported where something is said; what is compared is read from the files alone.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

HERE, LAB = Path.home() / ".local/share/tiphys", Path.home() / "lab-server"
ADVICE = [f"Advice {number} that nobody has heard yet." for number in range(3)]
STEPS = 3_000


def tasks() -> None:
    """A task of an agent that counts, at both servers."""
    turns = "".join(
        f'[[turn]]\nthought = "{n}"\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n'
        f'command = "echo {n} >>counted; sleep 1"\nsession_id = "main"\nwait_for_completion = true\n'
        for n in range(1, STEPS + 1))
    for home in (HERE, LAB):
        folder = home / "tasks" / "count"
        folder.mkdir(parents=True)
        (folder / "script.toml").write_text(f"pace_s = 0.0\n{turns}")
        (folder / "task.toml").write_text(
            f'id = "count"\ntitle = "Count"\ndescription = "Count."\n[limits]\nsteps = {STEPS}\n'
            '[[hosts]]\nname = "main"\n[agent.model]\nkind = "scripted"\nname = "scripted"\nscript = "script.toml"\n')


def join() -> None:
    """The lab's server joins the window's list, as Add server does it."""
    from app.desk.servers import Servers

    url = json.loads((LAB / "server.json").read_text())["url"]
    Servers(HERE / "servers.json").add(url, (LAB / "admin.token").read_text().strip(), "lab")


def live(imported: str, ours: str) -> None:
    """Verdicts, remarks, tags, advice and a queue."""
    from core.domain.ids import new_id
    from core.protocol.operations import AddNote, Guide, SetTag
    from core.server.authority import Authority
    from core.store.home import Home

    for step, value in ((1, "keep"), (2, "mask")):
        _tiphys("verdict", imported, str(step), value, "--reason", f"because of {step}")
    said = [(imported, AddNote(step=2, text="A remark on a step.")), (imported, SetTag(step=1, tag="odd")),
            (imported, AddNote(step=0, text="A remark on all of it: 这是一条评语。")),
            *((ours, Guide(guidance=new_id(), text=text)) for text in ("Count on.", "Do not hurry."))]

    async def say() -> None:
        async with Authority(Home.default()) as authority:
            for session, op in said:
                await authority.do(session, op)

    asyncio.run(say())
    _tiphys("queue", "make", "First readings", imported, ours)


def write(session: str) -> None:
    """Advice for a server that is not there, as the window's box puts it into the outbox."""
    from core.domain.ids import new_id
    from core.protocol.operations import Guide
    from core.store import outbox
    from core.store.sqlite import connect, transaction

    with closing(connect(_replica())) as conn, transaction(conn):
        for text in ADVICE:
            outbox.add(conn, session, Guide(guidance=new_id(), text=text))


def knows(session: str) -> None:
    """Raises SystemExit until the window has the lab's session."""
    if not _rows(_replica(), "SELECT 1 FROM session WHERE id = ?", session):
        raise SystemExit(1)


def sent(session: str) -> None:
    """Raises SystemExit until the lab's server has all advice."""
    if len(_said(LAB / "server.db", session)) < len(ADVICE):
        raise SystemExit(1)


def copy(folder: str) -> None:
    """Copies of all databases, of one moment each."""
    for name, file in (("here", HERE / "server.db"), ("lab", LAB / "server.db"), ("replica", _replica()),
                       ("window", HERE / "replicas/local.db")):
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(f"{folder}/{name}.db")) as target:
            source.backup(target)


def compare(before: str, after: str) -> None:
    """Raises SystemExit where something that was said or done before the upgrade is not there, or is there twice."""
    counts = {}
    for name in ("here", "lab", "replica", "window"):
        then, now = (Path(folder) / f"{name}.db" for folder in (before, after))
        for table, columns in (("event", "session, seq, kind, body"), ("blob", "hash, codec, size, data"),
                               ("command", "id, client, cseq, reply"), ("outbox", "cseq, id, session, op"),
                               ("queue", "*"), ("account", "name, token_sha256, scopes"), ("draft", "*")):
            if not _rows(then, "SELECT 1 FROM sqlite_master WHERE name = ?", table):
                continue
            had, has = (_rows(file, f"SELECT {columns} FROM {table}") for file in (then, now))
            if table == "account":
                had = [row for row in had if not row[0].startswith("agent:")]
            if lost := [row for row in had if row not in set(has)]:
                raise SystemExit(f"{name}.{table}: {len(lost)} of {len(had)} rows changed: {str(lost[0])[:300]}")
            counts[f"{name}.{table}"] = len(had)
    waiting = _rows(Path(after) / "replica.db", "SELECT id FROM outbox WHERE state != 'acked'")
    [session] = {row[0] for row in _rows(Path(before) / "replica.db", "SELECT session FROM outbox")}
    if waiting or _said(Path(after) / "lab.db", session) != ADVICE:
        raise SystemExit(f"Not sent, or not once and in order: {_said(Path(after) / 'lab.db', session)}")
    print("  the same afterwards: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n))  # noqa: T201


def _said(file: Path, session: str) -> list[str]:
    bodies = _rows(file, "SELECT body FROM event WHERE session = ? AND kind = 'guidance_queued' ORDER BY seq", session)
    return [json.loads(body)["fact"]["text"] for (body,) in bodies]


def _replica() -> Path:
    return HERE / "replicas" / f"{json.loads((HERE / 'servers.json').read_text())[0]['id']}.db"


def _rows(file: Path, sql: str, *values: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as conn:
        return conn.execute(sql, values).fetchall()


def _tiphys(*words: str) -> None:
    subprocess.run(["tiphys", *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    {f.__name__: f for f in (tasks, join, live, write, knows, sent, copy, compare)}[sys.argv[1]](*sys.argv[2:])
