"""kill -9 at each point of a deletion: the session is whole, or gone for good after the next start."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.logs import fill, make_session
from support.wire import serving, until

from core.domain.events import blobs_of, decode_event
from core.store import blobs, log, tombstones
from core.store.home import Home
from core.store.restore import survey
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import connect, scalar, transaction

GONE, STAYS = make_session(12, seed=1), make_session(12, seed=2)

POINTS = [
    ("core.store.tombstones", "bury", "before"), ("core.store.tombstones", "bury", "after"),
    ("core.store.loose_blobs", "loosen", "after"), ("core.server.deletion", "finish", "before"),
    ("core.server.deletion", "_remove_files", "before"), ("core.server.deletion", "_remove_folder", "after"),
    ("core.server.deletion", "_remove_files", "after"), ("core.server.deletion", "_remove_from_index", "after"),
    ("core.store.tombstones", "finish", "after"), ("core.store.loose_blobs", "sweep", "before"),
    ("core.store.loose_blobs", "_remove", "after"), ("core.store.loose_blobs", "sweep", "after"),
]

_CHILD = """
import functools, importlib, os, signal, sys

module, name, when = sys.argv[1:4]
owner = importlib.import_module(module)
real = getattr(owner, name)

@functools.wraps(real)
def deadly(*given, **named):
    if when == "after":
        real(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, name, deadly)
if module == "core.server.deletion" and name == "finish":
    import core.server.authority
    core.server.authority.finish = deadly
from core.cli import main
sys.exit(main(["delete", "gone", "--yes", "--json"]))
"""


def made(home: Home) -> None:
    """Two imports that share a few payloads, one with a folder of its own, both in the index."""
    with closing(open_log(home.server_db)) as conn, transaction(conn):
        for name, (bodies, payloads) in (("gone", GONE), ("stays", STAYS)):
            fill(conn, name, bodies, payloads)
            conn.execute("UPDATE session SET row = json_set(row, '$.origin', 'atif') WHERE id = ?", (name,))
    (home.sessions / "gone" / "sandbox" / "main").mkdir(parents=True)
    with closing(SearchIndex(home.search_db)) as index:
        index.update(home.server_db)


@pytest.mark.parametrize(("module", "name", "when"), POINTS)
def test_the_next_start_finishes_it(tmp_path: Path, module: str, name: str, when: str) -> None:
    home = Home(tmp_path / "home")
    made(home)
    command = [sys.executable, "-c", _CHILD, module, name, when]
    ran = subprocess.run(command, capture_output=True, text=True, check=False,
                         env={"PYTHONPATH": ":".join(sys.path), "TIPHYS_HOME": str(home.path), "PATH": "/usr/bin:/bin"})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert survey(home.server_db).lacking == 0
    with closing(connect(home.server_db, readonly=True)) as conn:
        assert log.knows(conn, "gone") != tombstones.is_deleted(conn, "gone")
        if log.knows(conn, "gone"):
            assert [p.body for p in log.read_all(conn, "gone")] == GONE[0]
            return
    asyncio.run(_start_once(home))
    with closing(connect(home.server_db, readonly=True)) as conn:
        assert not log.knows(conn, "gone") and not (home.sessions / "gone").exists()
        assert [p.body for p in log.read_all(conn, "stays")] == STAYS[0]
        assert blobs.missing(conn, named(STAYS[0])) == []
        own = sorted(set(named(GONE[0])) - set(named(STAYS[0])))
        assert blobs.missing(conn, own) == own
    with closing(connect(home.search_db, readonly=True)) as conn:
        assert [s for (s,) in conn.execute("SELECT DISTINCT session FROM entry")] == ["stays"]
    assert survey(home.server_db).sessions == 1


async def _start_once(home: Home) -> None:
    async with serving(home.path) as server:
        reader = server.hub.reader
        await until(lambda: not tombstones.unfinished(reader) and not scalar(reader, "SELECT count(*) FROM loose_blob"))


def named(bodies: list[bytes]) -> list[str]:
    return sorted({one for body in bodies for one in blobs_of(decode_event(body).fact)})
