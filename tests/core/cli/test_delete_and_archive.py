"""`tiphys delete` and `tiphys archive`: what goes is named before, nothing else goes, an archive brings it back."""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from support.sandboxes import need_engine

from core.domain.events import SessionCreated, SessionStateChanged, decode_event, encode_event, make_event
from core.domain.task import AgentSettings, Host, Task
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.store import blobs, log
from core.store.home import Home
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import connect, scalar, transaction

SERVER = Author(kind="server", name="server")


def bodies_in(home: Path, session: str) -> list[bytes]:
    with closing(connect(home / "server.db", readonly=True)) as conn:
        return [p.body for p in log.read_all(conn, session)]


def live_session(home: Path, name: str, state: str) -> None:
    facts = [SessionCreated(task=Task(id="t", title="T", description="d", hosts=(Host(name="main"),)),
                            agent=AgentSettings()), SessionStateChanged(state=state, reason="x")]
    with closing(open_log(Home(home).server_db)) as conn, transaction(conn):
        log.create(conn, name)
        log.append(conn, name, [encode_event(make_event(fact, SERVER)) for fact in facts])


def test_a_session_goes_with_all_that_is_its_own(tiphys, home, imported) -> None:
    tiphys("verdict", imported, 1, "mask")
    with closing(SearchIndex(home / "search.db")) as index:
        index.update(home / "server.db")
        assert index.search("the", imported)
    (home / "allowed").mkdir(exist_ok=True)
    (home / "allowed" / f"session-{imported}.json").write_text("{}")
    (home / "sessions" / imported / "sandbox").mkdir(parents=True)
    others = {x["session"]: bodies_in(home, x["session"]) for x in tiphys("sessions", "--json").lines}
    del others[imported]
    lost = tiphys("delete", imported, "--yes", "--json").one
    assert lost["is_deleted"] and lost["opinions"] == 1 and lost["steps"] and lost["bytes"]
    assert {x["session"] for x in tiphys("sessions", "--json").lines} == set(others)
    assert {name: bodies_in(home, name) for name in others} == others
    assert not (home / "allowed" / f"session-{imported}.json").exists()
    assert not (home / "sessions" / imported).exists()
    with closing(SearchIndex(home / "search.db")) as index:
        assert not index.search("the", imported)
    with closing(connect(home / "server.db", readonly=True)) as conn:
        for table in ("event", "attribution", "early_opinion"):
            assert scalar(conn, f"SELECT count(*) FROM {table} WHERE session = ?", imported) == 0
        assert scalar(conn, "SELECT count(*) FROM loose_blob") == 0
    held = tiphys("verify", "--json").one
    assert (held["sessions"], held["lacking"]) == (len(others), 0)


def test_nobody_is_taken_to_have_said_yes(tiphys, home, imported) -> None:
    before = bodies_in(home, imported)
    for words in (("delete", imported), ("archive", imported), ("delete", imported, "--json")):
        ran = tiphys(*words)
        assert ran.status == 2 and "not_confirmed" in ran.err
    assert "steps" in tiphys("delete", imported).out
    assert bodies_in(home, imported) == before and not (home / "archives").exists()


@pytest.mark.parametrize("state", ["queued", "running", "paused", "waiting"])
@pytest.mark.parametrize("command", ["delete", "archive"])
def test_what_works_is_refused_with_how_to_end_it(tiphys, home, imported, command: str, state: str) -> None:
    live_session(home, "live", state)
    ran = tiphys(command, imported, "live", "--yes")
    assert ran.status == 1 and "session_running" in ran.err and "tiphys stop live" in ran.err
    assert bodies_in(home, imported) and bodies_in(home, "live"), "one that is refused keeps the others"


@pytest.mark.docker
def test_a_live_session_that_is_over_goes(tiphys, home) -> None:
    need_engine()
    live_session(home, "live", "finished")
    assert tiphys("delete", "live", "--yes", "--json").one["hosts"] == 1
    ran = tiphys("verdict", "live", 1, "keep")
    assert ran.status == 2 and "session_deleted" in ran.err
    assert tiphys("delete", "live", "--yes").status == 2


def test_the_same_file_imported_again_gives_the_same_session(tiphys, home, imported) -> None:
    files = Path(__file__).parents[1] / "formats" / "files"
    before = bodies_in(home, imported)
    assert tiphys("delete", imported, "--yes").status == 0
    results = {x["session"]: x["result"] for x in tiphys("import", files, "--json").lines}
    assert results[imported] == "imported" and {r for s, r in results.items() if s != imported} == {"present"}
    assert [decode_event(b).id for b in bodies_in(home, imported)] == [decode_event(b).id for b in before]
    assert tiphys("verify").status == 0


def test_an_archive_shows_everything_as_it_was(tiphys, home, imported, tmp_path) -> None:
    tiphys("verdict", imported, 1, "mask", "--reason", "wrong")
    before, shown = bodies_in(home, imported), tiphys("show", imported, "--json").one
    with closing(connect(home / "server.db", readonly=True)) as conn:
        trajectory = fold(imported, log.read_all(conn, imported))
        payloads = {bytes(h): bytes(d) for h, d in conn.execute("SELECT hash, data FROM blob")}
    done = tiphys("archive", imported, "--to", tmp_path / "out", "--yes", "--json").one
    assert done["is_deleted"] and done["events"] == len(before)
    assert tiphys("show", imported).status == 2
    assert tiphys("import", done["file"]).status == 0
    assert bodies_in(home, imported) == before
    with closing(connect(home / "server.db", readonly=True)) as conn:
        again = fold(imported, log.read_all(conn, imported))
        assert {bytes(h) for (h,) in conn.execute("SELECT hash FROM blob")} == set(payloads)
        for name in payloads:
            assert blobs.get(conn, name.hex())
    assert again.row.steps == trajectory.row.steps and again.seq == trajectory.seq
    assert tiphys("show", imported, "--json").one == shown


def test_an_archive_that_cannot_be_read_back_costs_nothing(tiphys, home, imported, tmp_path, monkeypatch) -> None:
    from core.formats import archive

    write = archive._write_members

    def torn(file: zipfile.ZipFile, session: str, title: str, bodies: list[bytes], blob) -> int:
        return write(file, session, title, bodies[:-1], blob)

    monkeypatch.setattr(archive, "_write_members", torn)
    ran = tiphys("archive", imported, "--to", tmp_path, "--yes")
    assert ran.status == 1 and "archive_differs" in ran.err
    assert bodies_in(home, imported) and not list(tmp_path.glob("*.tiphys")) and not list(tmp_path.glob(".*.part"))


def test_only_write_keeps_the_session_and_no_other_file_is_lost(tiphys, home, imported, tmp_path) -> None:
    path = tmp_path / f"{imported}.tiphys"
    path.write_text("mine")
    ran = tiphys("archive", imported, "--to", tmp_path, "--only-write")
    assert ran.status == 1 and "file_exists" in ran.err and path.read_text() == "mine"
    path.unlink()
    assert tiphys("archive", imported, "--to", tmp_path, "--only-write").status == 0
    tiphys("verdict", imported, 1, "mask")
    assert tiphys("archive", imported, "--to", tmp_path, "--only-write").status == 0, "an earlier one is replaced"
    assert bodies_in(home, imported)
