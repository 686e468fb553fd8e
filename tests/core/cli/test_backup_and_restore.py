"""Backups: made beside a running server, judged, put back; and everybody tells the log again what it lacks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
from pathlib import Path

from support.wire import admin_token, raw_peer, running_client, serving, until

from core.domain.events import GuidanceQueued, decode_event
from core.domain.task import Task
from core.protocol.messages import Ack, Command
from core.protocol.operations import CreateSession, GiveVerdict, Guide
from core.sandbox.installation import home_label, is_unnumbered
from core.server.counts import Pulse
from core.server.metrics import page
from core.server.ownership import hold
from core.store import accounts, blobs, log
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import connect, transaction

RUN = Path(__file__).parents[1] / "formats" / "files" / "with_query.traj"
TASK = Task(id="t", title="T", description="d")


def guidance(home: Path) -> list[str]:
    with contextlib.closing(connect(home / "server.db", readonly=True)) as conn:
        facts = [decode_event(p.body).fact for p in log.read_all(conn, "s")]
    return [f.guidance for f in facts if isinstance(f, GuidanceQueued)]


def test_the_restore_drill(tiphys, home, tmp_path) -> None:
    """A backup is made while guidance flows, the log is lost, the backup takes its place: nothing is missing."""
    copy, replica = tmp_path / "copy.db", tmp_path / "r.db"

    async def before() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home), "s") as client:
            await client.answer(await client.send("s", CreateSession(task=TASK)))
            await client.answer(await client.send("s", Guide(guidance="g1", text="x")))
            ran = await asyncio.to_thread(tiphys, "backup", copy, "--json")
            assert ran.one == {"file": str(copy), "bytes": copy.stat().st_size, "removed": []}
            await client.answer(await client.send("s", Guide(guidance="g2", text="acknowledged, not in the backup")))
            ran = await asyncio.to_thread(tiphys, "restore", copy, "--yes")
            assert ran.status == 1 and f"end it first (kill {os.getpid()}" in ran.err

    async def after() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home), "s") as client:
            await until(lambda: guidance(home) == ["g1", "g2"] and not client.replica.waiting())
            await until(lambda: client.replica.head("s") == 3)

    asyncio.run(before())
    restored = tiphys("restore", copy, "--yes", "--json").one
    assert (restored["sessions"], restored["events"]) == (1, 2)
    assert guidance(home) == ["g1"]
    assert tiphys("verify", restored["kept"], "--json").one["events"] == 3, "the former log is kept whole"
    asyncio.run(after())


def test_the_same_backup_is_another_log_each_time(tiphys, home, tmp_path) -> None:
    open_log(Home(home).server_db).close()
    epochs = set()
    tiphys("backup", tmp_path / "copy.db")
    for _ in range(2):
        assert tiphys("restore", tmp_path / "copy.db", "--yes").status == 0
        with contextlib.closing(connect(home / "server.db", readonly=True)) as conn:
            epochs.add(log.epoch(conn))
    assert len(epochs) == 2


def test_a_backup_takes_the_place_of_nothing_but_a_backup(tiphys, home, tmp_path) -> None:
    """Least of all of the log that a server has open: it would go on writing into a file without a name."""
    open_log(Home(home).server_db).close()
    place, text = (home / "server.db").stat().st_ino, tmp_path / "thesis.txt"
    text.write_text("not a backup")
    other = open_log(tmp_path / "journal.db")
    (tmp_path / "link.db").symlink_to(home / "server.db")
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/full")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    others = [tmp_path / name for name in ("empty", "pipe", "device", "nowhere")]
    for target in (home / "server.db", tmp_path / "link.db", tmp_path / "journal.db", text, *others):
        ran = tiphys("backup", target)
        assert ran.status == 2 and "[no_target]" in ran.err
    other.close()
    assert [stat.S_IFMT(one.lstat().st_mode) for one in others] == [stat.S_IFREG, stat.S_IFIFO, *2 * [stat.S_IFLNK]]
    assert "thesis.txt is no folder" in tiphys("backup", text / "x.db").err
    assert (home / "server.db").stat().st_ino == place and text.read_text() == "not a backup"
    for _ in range(2):
        assert tiphys("backup", tmp_path / "copy.db").status == 0, "an earlier backup is replaced"
    assert "No such file or directory" in (error := tiphys("backup", tmp_path / "none" / "x.db").err)
    assert ".part" not in error


def test_nobody_is_locked_out_by_a_restore_and_nobody_who_was_revoked_comes_back(tiphys, home, tmp_path) -> None:
    def come() -> dict[str, bool]:
        with contextlib.closing(connect(home / "server.db", readonly=True)) as conn:
            found = {a.name: a.revoked_at is None for a in accounts.accounts(conn)}
        return {name: alive for name, alive in found.items() if name in ("stays", "goes", "came")}

    open_log(Home(home).server_db).close()
    for name in ("stays", "goes"):
        tiphys("account", "add", name, "--scope", "view")
    tiphys("backup", tmp_path / "copy.db")
    token = tiphys("account", "add", "came", "--scope", "view", "--json").one["token"]
    tiphys("account", "revoke", "goes")
    assert tiphys("restore", tmp_path / "copy.db", "--yes", "--json").one["accounts"] >= 3
    assert come() == {"stays": True, "goes": False, "came": True}
    with contextlib.closing(connect(home / "server.db", readonly=True)) as conn:
        assert accounts.principal(conn, token).name == "came"
    (home / "server.db").write_bytes(b"damaged" * 10_000)
    ran = tiphys("restore", tmp_path / "copy.db", "--yes", "--json")
    assert ran.one["accounts"] is None and come() == {"stays": True, "goes": True}
    (home / "server.db").write_bytes(b"damaged" * 10_000)
    assert "Revoke again what was revoked since" in tiphys("restore", tmp_path / "copy.db", "--yes").err


def test_a_write_ahead_log_of_the_lost_file_is_not_played_into_the_backup(tiphys, home, tmp_path) -> None:
    conn = open_log(Home(home).server_db)
    tiphys("backup", tmp_path / "copy.db")
    with transaction(conn):
        log.create(conn, "later")
    wal = (home / "server.db-wal").read_bytes()
    conn.close()
    (home / "server.db-wal").write_bytes(wal)  # as a killed server leaves it
    former = tiphys("restore", tmp_path / "copy.db", "--yes", "--json").one["kept"]
    assert not (home / "server.db-wal").exists()
    assert tiphys("verify", "--json").one["sessions"] == 0
    assert tiphys("verify", former, "--json").one["sessions"] == 1


def test_what_is_no_sound_log_changes_nothing(tiphys, home, tmp_path) -> None:
    conn = open_log(Home(home).server_db)
    with transaction(conn):
        log.create(conn, "s")
    tiphys("backup", tmp_path / "copy.db")
    conn.close()
    whole = (home / "server.db").read_bytes()
    data = bytearray((tmp_path / "copy.db").read_bytes())
    data[16384 * 2 : 16384 * 4] = b"\x5a" * 16384 * 2
    (tmp_path / "damaged.db").write_bytes(data)
    (tmp_path / "text.db").write_text("no database")
    for name, code in (("damaged.db", "log_damaged"), ("text.db", "not_a_log")):
        ran = tiphys("restore", tmp_path / name, "--yes", "--json")
        assert ran.status and code in ran.err
        assert (home / "server.db").read_bytes() == whole
    assert tiphys("verify", tmp_path / "damaged.db").status == 2


def test_an_older_log_is_named_as_such_and_a_lacking_payload_counted(tiphys, home, imported) -> None:
    with contextlib.closing(connect(home / "server.db")) as conn, transaction(conn):
        conn.execute("DELETE FROM blob WHERE id = (SELECT min(id) FROM blob)")
    survey = tiphys("verify", "--json").one
    assert survey["lacking"] >= 1 and survey["pending"] == [] and survey["events"] > 5
    assert "Not held: 1 payload that events name" in tiphys("verify").out


def change_a_payload(db: Path) -> str:
    """Other bytes under the name of a payload, which is given."""
    with contextlib.closing(connect(db)) as conn, transaction(conn):
        (name, _), = conn.execute("SELECT hash, data FROM blob ORDER BY id LIMIT 1")
        conn.execute("UPDATE blob SET data = ? WHERE hash = ?", (blobs.compress(b"something else"), name))
    return name.hex()


def change_an_event(db: Path) -> str:
    """An event's text becomes other valid text; gives its session."""
    with contextlib.closing(connect(db)) as conn:
        trigger = conn.execute("SELECT sql FROM sqlite_schema WHERE name = 'event_is_never_changed'").fetchone()[0]
        with transaction(conn):
            conn.execute("DROP TRIGGER event_is_never_changed")
            session, seq, body = conn.execute("SELECT session, seq, body FROM event WHERE kind = 'step_added' "
                                              "ORDER BY seq DESC LIMIT 1").fetchone()
            other = body.replace(b'"number":', b'"number": ', 1)
            assert other != body
            conn.execute("UPDATE event SET body = ? WHERE session = ? AND seq = ?", (other, session, seq))
            conn.execute(trigger)
    return session


def test_a_payload_that_was_changed_on_the_disk_is_found(tiphys, home, imported, tmp_path) -> None:
    name = change_a_payload(home / "server.db")
    ran = tiphys("verify")
    assert ran.status == 2 and f"1 payload (the first is {name[:12]}" in ran.err and "[log_altered]" in ran.err
    tiphys("backup", tmp_path / "copy.db")
    assert tiphys("restore", tmp_path / "copy.db", "--yes").status == 2
    restored = tiphys("restore", tmp_path / "copy.db", "--yes", "--altered", "--json").one
    assert restored["altered"] == {"sessions": [], "payloads": [name]}
    held = tiphys("verify", "--json").one
    assert held["lacking"] >= 1, "what is not what its name says is not held"


def test_a_backup_whose_events_were_changed_is_restored_only_knowingly(tiphys, home, imported, tmp_path) -> None:
    session = change_an_event(home / "server.db")
    ran = tiphys("verify")
    assert ran.status == 2 and f"events of 1 session (the first is {session})" in ran.err
    tiphys("backup", tmp_path / "copy.db")
    whole = (home / "server.db").read_bytes()
    assert tiphys("restore", tmp_path / "copy.db", "--drill").status == 2
    ran = tiphys("restore", tmp_path / "copy.db", "--yes")
    assert ran.status == 2 and "add --altered" in ran.err and "[log_altered]" in ran.err
    assert (home / "server.db").read_bytes() == whole
    ran = tiphys("restore", tmp_path / "copy.db", "--yes", "--altered")
    assert ran.status == 0 and f"it changed on the disk: events of 1 session (the first is {session})" in ran.err
    assert tiphys("verify").status == 0, "from now on the next change is found"
    change_an_event(home / "server.db")
    assert tiphys("verify").status == 2


def test_a_lost_home_is_the_installation_again_that_its_backup_is_of(tiphys, home, imported, tmp_path) -> None:
    """Else its sessions would not find their containers, which bear the installation's number."""
    label = home_label(str(home))
    tiphys("backup", tmp_path / "copy.db")
    shutil.rmtree(home)
    assert tiphys("restore", tmp_path / "copy.db", "--yes").status == 0
    assert home_label(str(home)) == label
    shutil.rmtree(home)
    hold(Home(home)).release()  # a package's server was started meanwhile
    tiphys("account", "list")
    assert home_label(str(home)) != label
    assert tiphys("restore", tmp_path / "copy.db", "--yes").status == 0
    assert home_label(str(home)) == label
    shutil.rmtree(home)
    tiphys("import", RUN)
    here = home_label(str(home))
    assert tiphys("restore", tmp_path / "copy.db", "--yes").status == 0
    assert home_label(str(home)) == here, "what its own sessions have on the engine stays theirs"


def test_an_installation_that_is_older_than_numbers_stays_so_in_its_backup(tiphys, home, tmp_path) -> None:
    open_log(Home(home).server_db).close()
    tiphys("import", RUN)
    tiphys("backup", tmp_path / "copy.db")
    assert is_unnumbered(str(home))
    shutil.rmtree(home)
    tiphys("restore", tmp_path / "copy.db", "--yes")
    assert is_unnumbered(str(home))


def test_what_was_said_of_an_import_outlives_a_backup_from_before_it(tiphys, home, tmp_path) -> None:
    """The reviewer's computer comes back first; the files are imported again later."""
    copy, replica = tmp_path / "copy.db", tmp_path / "r.db"
    open_log(Home(home).server_db).close()
    tiphys("backup", copy)
    session = tiphys("import", RUN, "--json").one["session"]

    async def reviewed() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home)) as client:
            verdict = GiveVerdict(step=2, value="mask", reason="blind")
            assert isinstance(await client.answer(await client.send(session, verdict)), Ack)

    async def again() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home)) as client:
            epoch = log.epoch(server.hub.reader)
            await until(lambda: client.replica.epoch == epoch and not client.replica.waiting())
            assert {q.state for q in client.replica.commands()} == {"acked"}
            assert not log.rows(server.hub.reader)
            line = (await asyncio.to_thread(tiphys, "import", RUN, "--json")).one
            assert (line["session"], line["result"]) == (session, "imported")

    asyncio.run(reviewed())
    tiphys("restore", copy, "--yes")
    asyncio.run(again())
    shown = tiphys("show", session, "--json").one
    assert [s["verdict"]["final"] for s in shown["steps"]] == ["undecided", "mask"]
    assert tiphys("import", RUN, "--json").one["result"] == "present"


def test_sessions_that_are_only_spoken_of_are_listed_counted_and_deleted(tiphys, home) -> None:
    """Whoever sends words again may name sessions that never were; the administrator sees them and takes them away."""
    async def spoken() -> None:
        async with serving(home) as server, raw_peer(server.url, admin_token(home)) as peer:
            for n, name in enumerate(("ghost", "other"), 1):
                command = Command(id=f"m{n}", cseq=n, session=name, op=Guide(guidance="g", text="x"), again=True)
                assert isinstance(await peer.ask(command), Ack)
            assert tiphys("sessions", "--json").lines == []
            assert [line["session"] for line in tiphys("sessions", "--awaited", "--json").lines] == ["ghost", "other"]
            assert "tiphys_sessions_awaited 2" in page(server.hub, Home(home), Pulse())

    asyncio.run(spoken())
    assert tiphys("delete", "ghost", "--yes").status == 0
    assert [line["session"] for line in tiphys("sessions", "--awaited", "--json").lines] == ["other"]
