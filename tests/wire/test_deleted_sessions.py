"""A session that is deleted goes from every copy, once; nothing that comes late brings it back."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from support.logs import fill as fill_log
from support.logs import make_session
from support.wire import account, admin_token, raw, raw_peer, running_client, serving, until

from core.client.replica import Replica
from core.domain.events import SessionCreated, blobs_of, decode_event
from core.domain.task import Task
from core.protocol.messages import Ack, Append, Close, Command, Failed, Lease, Leased, Nak
from core.protocol.operations import (
    AddNote,
    AnyOp,
    CreateSession,
    DeleteSession,
    GiveVerdict,
    ImportSession,
)
from core.server.high_water import mark_of
from core.server.serve import Server
from core.store import blobs, log, loose_blobs, tombstones
from core.store.backup import back_up
from core.store.home import Home
from core.store.restore import restore
from core.store.sqlite import connect, scalar

MADE = make_session(6, seed=2)


async def put(server: Server, *sessions: str, origin: str = "atif", to: int | None = None) -> None:
    """Imported sessions that share all their payloads."""
    def work(conn, session: str) -> None:
        fill_log(conn, session, MADE[0][:to], MADE[1])
        conn.execute("UPDATE session SET row = json_set(row, '$.origin', ?) WHERE id = ?", (origin, session))

    for session in sessions:
        await server.hub.do(session, partial(work, session=session))


async def ask(peer, op: AnyOp, session: str = "s", *, id: str, cseq: int, again: bool = False) -> Ack | Nak:
    return await peer.ask(Command(id=id, cseq=cseq, session=session, op=op, again=again), Ack | Nak)


async def delete(server: Server, token: str, session: str = "s", *, client: str = "admin") -> Ack | Nak:
    """Delete a session as an administrator's desktop does."""
    async with raw_peer(server.url, token, client=client) as peer:
        lost = await ask(peer, DeleteSession(), session, id=f"{client}-{session}-1", cseq=1)
        assert isinstance(lost, Ack), lost
        assert not lost.result["is_deleted"]
        return await ask(peer, DeleteSession(head=lost.result["head"]), session, id=f"{client}-{session}-2", cseq=2)


def test_it_goes_from_the_lists_and_copies_of_whoever_is_connected(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await put(server, "s", "t")
            async with running_client(tmp_path / "r.db", server.url, token, "s", "t") as client:
                replica = client.replica
                await until(lambda: replica.head("s") == replica.head("t") == len(MADE[0]))
                client.want(MADE[1])
                await until(lambda: not replica.missing(MADE[1]))
                assert isinstance(await delete(server, token), Ack)
                await until(lambda: replica.row("s") is None and replica.head("s") == 0)
                assert replica.head("t") == len(MADE[0]) and not replica.missing(named(MADE[0]))
                assert [row.session for row in replica.rows()] == ["t"]
                assert isinstance(await delete(server, token, "t", client="again"), Ack)
                await until(lambda: not replica.rows())
                await until(lambda: len(replica.missing(named(MADE[0]))) == len(named(MADE[0])))

    asyncio.run(run())


def named(bodies: list[bytes]) -> list[str]:
    return sorted({name for body in bodies for name in blobs_of(decode_event(body).fact)})


def test_who_was_away_hears_of_it_and_what_they_still_say_is_refused_in_one_sentence(tmp_path: Path) -> None:
    refused: list[Nak] = []

    async def run() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await put(server, "s", "t")
            async with running_client(tmp_path / "r.db", server.url, token, "s", "t") as client:
                await until(lambda: client.replica.head("s") == len(MADE[0]))
            away = Replica(tmp_path / "r.db")
            await away.add("s", GiveVerdict(step=1, value="mask"))
            await away.add("t", GiveVerdict(step=1, value="keep"))
            await away.save_draft("s", "a word to the agent")
            away.close()
            await delete(server, token)
            await put_again(server, token)
            async with running_client(tmp_path / "r.db", server.url, token, "s", "t") as client:
                client.replica.command_answered.append(
                    lambda reply: refused.append(reply) if isinstance(reply, Nak) else None)
                await until(lambda: not client.replica.waiting())
                await until(lambda: client.replica.head("s") == 3)
                assert client.replica.read("s")[2].body == MADE[0][2]
                assert client.replica.row("s").seq == 3
                assert client.replica.draft("s") == "" and client.replica.head("t") > len(MADE[0])

    asyncio.run(run())
    assert [(one.code, one.kind) for one in refused] == [("session_deleted", "NotFound")]


async def put_again(server: Server, token: str) -> None:
    """A person imports the file anew; it is shorter than it was."""
    async with raw_peer(server.url, token, client="import") as peer:
        assert isinstance(await ask(peer, ImportSession(origin="atif", events=3), id="i1", cseq=1), Ack)
        await put(server, "s", to=3)


@pytest.mark.parametrize("again", [False, True])
def test_nothing_late_makes_it_again(tmp_path: Path, again: bool) -> None:
    async def run() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await put(server, "s")
            await delete(server, token)
            guest = account(tmp_path / "home", "wang", "view", "review")
            ops = [AddNote(step=1, text="late"), CreateSession(task=Task(id="t", title="T", description="d")),
                   *([ImportSession(origin="atif")] if again else []), DeleteSession(head=1)]
            async with raw_peer(server.url, token, client="late") as peer:
                for n, op in enumerate(ops, 1):
                    answer = await ask(peer, op, id=f"late-{n}", cseq=n, again=again)
                    assert isinstance(answer, Nak) and answer.code == "session_deleted", op
            async with raw_peer(server.url, guest, client="guest") as peer:
                answer = await ask(peer, AddNote(step=1, text="early?"), id="g1", cseq=1, again=True)
                assert isinstance(answer, Nak) and answer.code == "session_deleted"
            with closing(connect(Home(tmp_path / "home").server_db, readonly=True)) as conn:
                assert not log.knows(conn, "s") and not scalar(conn, "SELECT count(*) FROM early_opinion")

    asyncio.run(run())


def test_an_old_runner_is_sent_away_for_good(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await put(server, "s")
            await delete(server, token)
            async with raw_peer(server.url, token, client="journal") as peer:
                failed = await peer.ask(Lease(session="s", journal="j"), Failed)
                assert failed.code == "session_deleted" and await peer.closed() == Close.FENCED
            async with raw_peer(server.url, token, client="journal") as peer:
                await peer.say(Append(session="s", fence=1, first=1, bodies=raw(MADE[0][:1])))
                assert (await peer.hear(Failed)).code in ("no_session", "session_deleted")

    asyncio.run(run())


def test_what_is_being_written_or_has_grown_stays(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await put(server, "s")
            async with raw_peer(server.url, token, client="importer") as importer:
                assert isinstance(await importer.ask(Lease(session="s", journal="j"), Leased), Leased)
                async with raw_peer(server.url, token, client="admin") as peer:
                    answer = await ask(peer, DeleteSession(), id="d1", cseq=1)
                    assert isinstance(answer, Nak) and answer.code == "session_running"
            async with raw_peer(server.url, token, client="admin") as peer:
                await until(lambda: not server.hub.is_connected("s"))
                assert isinstance(await ask(peer, AddNote(step=1, text="one more word"), id="d2", cseq=2), Ack)
                answer = await ask(peer, DeleteSession(head=len(MADE[0])), id="d3", cseq=3)
                assert isinstance(answer, Nak) and answer.code == "session_grew"
            guest = account(tmp_path / "home", "wang", "view", "guide", "review")
            async with raw_peer(server.url, guest, client="guest") as peer:
                answer = await ask(peer, DeleteSession(head=len(MADE[0]) + 1), id="g1", cseq=1)
                assert isinstance(answer, Nak) and answer.code == "missing_scope"
            assert log.head(server.hub.reader, "s") == len(MADE[0]) + 1

    asyncio.run(run())


def test_the_log_is_the_same_one_after_it_and_a_backup_of_before_shows_it_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    epochs: list[str] = []

    async def once(*, deletes: bool = False) -> None:
        async with serving(home.path) as server:
            epochs.append(log.epoch(server.hub.reader))
            if deletes:
                await put(server, "s", "t")
                back_up(server.hub.reader, tmp_path / "before.db")
                held = mark_of(server.hub.reader).held
                await delete(server, admin_token(home.path))
                assert mark_of(server.hub.reader).held > held

    asyncio.run(once(deletes=True))
    asyncio.run(once())
    assert epochs[0] == epochs[1], "nobody reads the log anew because something was deleted"
    restore(tmp_path / "before.db", home.server_db)

    async def again() -> None:
        async with serving(home.path) as server:
            assert [p.body for p in log.read_all(server.hub.reader, "s")] == MADE[0]
            async with raw_peer(server.url, admin_token(home.path), client="anew") as peer:
                answer = await ask(peer, DeleteSession(head=len(MADE[0])), id="old", cseq=1, again=True)
                assert isinstance(answer, Nak) and answer.code == "deleted_before"

    asyncio.run(again())


def test_a_folder_that_was_left_makes_it_not_again_and_goes_at_the_next_start(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")

    async def run() -> None:
        async with serving(home.path) as server:
            await put(server, "s")
            await server.hub.store(lambda conn: tombstones.bury(conn, "s", "li"))  # and then it was killed
            (home.sessions / "s").mkdir()
            from core.agents.journal import Journal

            journal = Journal(home.sessions / "s" / "journal.db", "s")
            with journal.transaction("created"):
                journal.put_slot("created", decode_event(MADE[0][0]).fact)
            journal.close()
        async with serving(home.path) as server:
            assert not log.knows(server.hub.reader, "s")
            await until(lambda: not tombstones.unfinished(server.hub.reader))
            assert not (home.sessions / "s").exists()
            await until(lambda: not any(blobs.holds(server.hub.reader, name) for name in named(MADE[0])))

    assert isinstance(decode_event(MADE[0][0]).fact, SessionCreated)
    asyncio.run(run())




def test_a_server_that_ends_takes_no_connection_from_who_still_looks(tmp_path: Path, monkeypatch) -> None:
    """Closing one that another thread reads with ends the process."""
    begun, over, read = threading.Event(), threading.Event(), []

    def slow(reader, write) -> int:
        begun.set()
        over.wait(60)
        read.append(scalar(reader, "SELECT 1"))
        return 0

    monkeypatch.setattr(loose_blobs, "sweep", slow)

    async def run() -> None:
        async with serving(tmp_path / "home"):
            await until(begun.is_set)
        over.set()

    asyncio.run(run())
    assert read == [1]
