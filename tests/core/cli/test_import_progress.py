"""`tiphys import` tells how far it is, and leaves nothing half-done however it is ended."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.cli.store_imported import BATCH
from core.domain.events import SessionStateChanged
from core.server.serve import Server, ServeSettings
from core.store import log
from core.store.home import Home
from core.store.sqlite import connect

COUNT = 40
MANY = 3 * BATCH


def runs(folder: Path, count: int = COUNT, steps: int = 30) -> Path:
    """A folder of chat files with real weight."""
    folder.mkdir()
    for number in range(count):
        messages = [{"role": "user", "content": f"Task {number}"}]
        for step in range(steps):
            messages += [{"role": "assistant", "content": f"{number}/{step} " + "word " * 400},
                     {"role": "user", "content": f"go on {step}"}]
        (folder / f"{number:03}.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    return folder


def start(home, *arguments):
    """Its output is read in small parts: while nobody reads, it waits with most of its results still to tell."""
    return subprocess.Popen([sys.executable, "-m", "core.cli", "--home", str(home), "import", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pipesize=4096,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's & ignores it


def rows(home):
    conn = connect(Home(home).server_db, readonly=True)
    try:
        return log.rows(conn), [(r.session, log.head(conn, r.session)) for r in log.rows(conn)]
    finally:
        conn.close()


def test_progress_is_told_as_json_beside_the_results(tmp_path, tiphys, monkeypatch) -> None:
    monkeypatch.setattr("core.cli.import_paths.PATIENCE_S", 0.0)
    monkeypatch.setattr("core.cli.import_paths.EVERY_S", 0.0)
    ran = tiphys("import", runs(tmp_path / "runs"), tmp_path / "missing", "--json", "--progress")
    progress = [line["progress"] for line in ran.lines if "progress" in line]
    assert [p["of"] for p in progress] == [COUNT + 1] * len(progress)
    assert progress and [p["done"] for p in progress] == sorted(p["done"] for p in progress)
    assert progress[1]["file"] == "001.jsonl" and 0 < progress[1]["done"] < progress[-1]["done"] <= 1
    assert sum("session" in line for line in ran.lines) == COUNT
    (failure,) = [line["failure"] for line in ran.lines if "failure" in line]
    assert (failure["code"], ran.status, ran.err) == ("not_a_file", 2, "")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_is_ended_keeps_whole_sessions_only(tmp_path, home, tiphys, how) -> None:
    runs(tmp_path / "runs", MANY, 8)
    ran = start(home, tmp_path / "runs", "--json")
    ran.stdout.readline()
    ran.send_signal(how)
    _, err = ran.communicate(timeout=120)
    found, _ = rows(home)
    assert ran.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert ("cancelled" in err) == (how == signal.SIGINT)
    assert 0 < len(found) < MANY
    assert {r.steps for r in found} == {8} and {r.state for r in found} == {"finished"}
    assert tiphys("import", tmp_path / "runs").status == 0
    assert {r.steps for r in rows(home)[0]} == {8} and len(rows(home)[0]) == MANY
    assert tiphys("verify", "--json").status == 0


@pytest.mark.timeout(600)
def test_a_running_server_shows_an_import_when_it_is_whole(tmp_path) -> None:
    """Killed between two batches of a long session nothing of it is listed, and a second import ends it."""

    async def scene() -> None:
        home, folder = Home(tmp_path / "home"), runs(tmp_path / "runs", 1, 4000)
        async with Server(ServeSettings(home=home, private=True, supervise=False)) as server:
            seen = threading.Event()
            states: list[tuple[bool, int]] = []

            def look(session: str) -> None:
                row = log.row(server.hub.reader, session)
                states.append((row.is_hidden, row.seq))
                if row.seq:
                    seen.set()

            server.hub.on_changed.append(look)
            first = start(home.path, folder)
            await asyncio.to_thread(seen.wait, 300)
            os.kill(first.pid, signal.SIGKILL)
            await asyncio.to_thread(first.communicate)
            assert states[-1][0] and 0 < states[-1][1] < 4000
            assert log.rows(server.hub.reader) == []
            again = start(home.path, folder, "--json")
            out, err = await asyncio.to_thread(again.communicate)
            assert (json.loads(out)["result"], err) == ("imported", "")
            (row,) = log.rows(server.hub.reader)
            assert (row.steps, row.state) == (4000, "finished")
            last = log.read(server.hub.reader, row.session, row.seq - 1)[0].event.fact
            assert isinstance(last, SessionStateChanged)

    asyncio.run(scene())


def test_progress_inside_a_long_file(tmp_path, tiphys, monkeypatch) -> None:
    monkeypatch.setattr("core.cli.import_paths.PATIENCE_S", 0.0)
    monkeypatch.setattr("core.cli.import_paths.EVERY_S", 0.0)
    folder = runs(tmp_path / "runs", 12)
    whole = tmp_path / "all.jsonl"
    whole.write_bytes(b"".join(p.read_bytes() for p in sorted(folder.iterdir())))
    ran = tiphys("import", whole, "--json", "--progress")
    parts = [line["progress"]["done"] for line in ran.lines if "progress" in line]
    assert len(parts) > 5 and parts == sorted(set(parts)) and parts[0] == 0 and parts[-1] < 1
