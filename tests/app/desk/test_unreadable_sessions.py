"""A store with what no program may hold any more: the window starts, names the session and why, and loses nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from support.desktops import listed, window
from support.eventually import eventually
from support.extreme_sessions import ExtremeSession
from support.extreme_window import falls, go_through
from support.logs import PERSON, Maker, make_session
from support.panels import told_session
from support.tally import tally
from support.window import settle, shown_window, speaking

from core.client.replica import Replica
from core.domain.errors import InvalidInput
from core.domain.events import NoteAdded, StepAdded, blobs_of, decode_event, encode_event, make_event
from core.formats import archive
from core.store import log
from core.store.home import Home
from core.store.sqlite import connect, transaction

ROOT = Path(__file__).parents[3]
NOTE = encode_event(make_event(NoteAdded(step=1, text="t"), PERSON))
POISON = {
    "a step below zero": (b'"step":1', b'"step":-5'), "a step of 64 bits": (b'"step":1', b'"step":9223372036854775807'),
    "a text that is none": (b'"text":"t"', b'"text":7'), "no event at all": (NOTE, b"rubbish"),
    "a time without an offset": (b'Z","author"', b'","author"'),
    "a name of a million": (b'"li"', b'"' + b"x" * 10**6 + b'"'),
}


def poisoned(old: bytes, new: bytes) -> list[bytes]:
    """Ten events that can be read, one that cannot, and more."""
    bodies, _ = make_session(steps=8, guidance=0, seed=5)
    assert NOTE.count(old) == 1
    return [*bodies[:10], NOTE.replace(old, new), *bodies[10:]]


def steps_of(bodies: list[bytes]) -> int:
    return sum(isinstance(decode_event(body).fact, StepAdded) for body in bodies)


def put(path: Path, session: str, bodies: list[bytes]) -> None:
    """As an older program stored it: its bytes rest, whatever is in them."""
    with closing(connect(path)) as conn, transaction(conn):
        log.place(conn, session, 1, bodies)


def held(path: Path, session: str) -> list[bytes]:
    with closing(connect(path, readonly=True)) as conn:
        return [placed.body for placed in log.read_all(conn, session)]


@pytest.mark.parametrize(("language", "words"), [("en", "nothing of it is lost"), ("zh_CN", "没有丢失")])
async def test_a_session_that_cannot_be_read_says_so_and_the_others_work(qapp, tmp_path, language, words):
    half = list(POISON)[:3] if language == "en" else list(POISON)[3:]
    sessions = {f"s{at}": poisoned(*POISON[poison]) for at, poison in enumerate(half, 2)}
    replica = Replica(Home(tmp_path).replicas / "r.db")
    for name, bodies in sessions.items():
        put(replica.path, name, bodies)
    with speaking(qapp, language), falls() as found, shown_window(tmp_path, told_session()) as (shown, place):
        await go_through(shown, place, "s2", everything=False)
        panel = shown.docks["trajectory"].widget()
        for name, bodies in sessions.items():
            place.cursor.move(name)
            row = place.sight.desk.row(name)
            trajectory = place.sight.trajectory
            assert row is not None and row.unreadable.startswith(f"Event 11 of session {name} cannot be read: ")
            assert trajectory is not None and trajectory.seq == 10
            assert len(trajectory.steps) == steps_of(bodies[:10]) > 0, "what comes before can be read"
            settle()
            assert panel.remarks.isVisibleTo(panel) and words in panel.remarks.label.text()
            model = panel.list.model()
            assert model.step_of_row(model.rowCount() - 1) is not None, "it ended: no step is being worked on"
        assert place.sight.desk.row("s1").unreadable == ""
    for name, bodies in sessions.items():
        assert held(replica.path, name) == bodies
        with pytest.raises(InvalidInput) as refused:
            archive.write(tmp_path / "a.tiphys", name, "", bodies, dict)
        assert f"Event 11 of session {name}" in refused.value.sentence and not (tmp_path / "a.tiphys").exists()
    tally("Poisoned sessions in a replica, shown", sum(map(len, sessions.values())), found)


async def test_the_window_starts_on_a_store_with_a_row_that_cannot_be_read(qapp, tmp_path):
    """A step number of 2^31, as an archive of 865 bytes could bring it: the row itself is out of bounds."""
    home = Home(tmp_path)
    async with window(tmp_path):
        pass
    [path] = list(home.replicas.glob("*.db"))
    maker = Maker(1, "A poisoned one")
    body = maker.bodies[-1]
    put(path, "bad", [*maker.bodies, body])
    put(path, "good", make_session(steps=3, seed=2)[0])
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE session SET row = json_set(row, '$.steps', 2147483648) WHERE id = 'bad'")
    with falls() as found:
        async with window(tmp_path, "--session", "bad") as made:
            await eventually(lambda: len(listed(made)) == 2)
            said = listed(made)
            assert "unreadable" in said["bad"] and "A poisoned one" in said["bad"] and "unreadable" not in said["good"]
    assert not found
    assert len(held(path, "bad")) == len(maker.bodies) + 1


@pytest.mark.parametrize("seed", [1, 2])
def test_archives_of_extreme_events_open_in_a_process(tmp_path, seed):
    """`tiphys open` of two archives, one of which ends with an event beyond its bounds."""
    made = ExtremeSession(2_000 + seed, events=80)
    bodies = [body for body in made.bodies if set(blobs_of(decode_event(body).fact)) <= set(made.blobs)]
    good, bad, errors = tmp_path / "good.tiphys", tmp_path / "bad.tiphys", tmp_path / "errors"
    archive.write(good, "good", "\u202egood", bodies, made.blobs.__getitem__)
    with zipfile.ZipFile(bad, "w") as file:
        file.writestr("tiphys.json", msgspec.json.encode(archive.Manifest(
            format=archive.FORMAT_NAME, version=archive.VERSION, session="bad", head=2)))
        beyond = NOTE.replace(b'"step":1', b'"step":2147483648')
        file.writestr("events.jsonl", Maker(1).bodies[0] + b"\n" + beyond + b"\n")
    home = Home(tmp_path / "home")
    command = [sys.executable, "-m", "app", "--home", str(home.path), str(good), str(bad)]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
    with errors.open("wb") as complaints, subprocess.Popen(
            command, cwd=ROOT, stderr=complaints, env=surroundings) as process:
        try:
            wanted = {"good": len(bodies), "bad": 2}  # of the bad one what can be read, and a remark; more may follow
            while process.poll() is None and any(_held_by(home).get(s, 0) < n for s, n in wanted.items()):
                time.sleep(0.2)
            assert process.poll() is None, errors.read_text()
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
    said = [line for line in errors.read_text().splitlines() if "Traceback" in line or "Error" in line]
    tally("Archives of extreme events, opened in a process", len(bodies) + 2, said, f"{seed}")


def _held_by(home: Home) -> dict[str, int]:
    """How much of which sessions the window knows of by now."""
    held: dict[str, int] = {}
    for path in home.replicas.glob("*.db"):
        with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(path)) as conn:
            held |= dict(conn.execute("SELECT id, row ->> '$.seq' FROM session"))
    return held
