"""A log that came back from a backup: runners and clients tell it again what it has forgotten, in any order."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.logs import Maker
from support.wire import admin_token, running_client, serving, until

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.spool import Spool
from core.aio import TaskScope
from core.domain.events import (
    GuidanceDelivered,
    GuidanceQueued,
    GuidanceWithdrawn,
    SessionCreated,
    SessionStateChanged,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.task import AgentSettings, Task
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.protocol.messages import Ack, Command
from core.protocol.operations import ChangeGuidance, CreateSession, GiveVerdict, Guide
from core.server.handlers import apply_command
from core.server.lookups import Lookups
from core.server.ownership import own
from core.server.runners import forget_token, runner_token
from core.server.serve import Server
from core.store import accounts, blobs, log
from core.store.accounts import Principal
from core.store.backup import back_up
from core.store.home import Home
from core.store.restore import restore
from core.store.schema import open_log
from core.store.sqlite import transaction

TASK = Task(id="t", title="T", description="d")
AGENT = Author(kind="agent", name="s")
PERSON = Author(kind="person", name="Ada")


async def append(server: Server, *facts: object) -> None:
    bodies = [encode_event(make_event(f, AGENT)) for f in facts]  # type: ignore[arg-type]
    await server.hub.do("s", lambda conn: log.append(conn, "s", bodies))


def trajectory(server: Server) -> Trajectory:
    return fold("s", log.read_all(server.hub.reader, "s"))


def test_guidance_whose_delivery_is_known_already_is_taken_and_shown_as_delivered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "c.db", server.url, admin_token(tmp_path / "home"), "s") as client,
        ):
            await client.send("s", CreateSession(task=TASK))
            await until(lambda: log.head(server.hub.reader, "s") == 1)
            await append(server, GuidanceDelivered(guidance="g", step=3), SessionStateChanged(state="finished"))
            reply = await client.answer(await client.send("s", Guide(guidance="g", text="x")))
            assert isinstance(reply, Ack)
            restored = trajectory(server)
            assert (restored.guidance["g"].state, restored.guidance["g"].delivered_step) == ("delivered", 3)
            assert restored.row.guidance_waiting == 0
            again = await client.answer(await client.send("s", Guide(guidance="g", text="x")))
            assert not isinstance(again, Ack), "the same text twice is one too many"

    asyncio.run(scenario())


def test_a_change_that_the_runner_decided_before_is_not_decided_again(tmp_path: Path) -> None:
    conn = open_log(tmp_path / "server.db")
    facts = [SessionCreated(task=TASK), GuidanceWithdrawn(guidance="g", request="r"),
             GuidanceQueued(guidance="g", text="x")]
    command = Command(id="r", cseq=1, session="s", op=ChangeGuidance(guidance="g"))
    admin = Principal(name="Ada", scopes=("admin",))
    lookups = Lookups(find_task=lambda _: (TASK, AgentSettings()), is_alive=lambda _: False)
    with transaction(conn):
        log.create(conn, "s")
        log.append(conn, "s", [encode_event(make_event(f, AGENT)) for f in facts])
        assert apply_command(conn, admin, command, lookups) == {"seq": 3}
        assert log.head(conn, "s") == 3
    guidance = fold("s", log.read_all(conn, "s")).guidance["g"]
    conn.close()
    assert (guidance.state, guidance.change) == ("withdrawn", "")


def test_a_living_runner_keeps_its_token_unless_it_was_made_void(tmp_path: Path) -> None:
    conn = open_log(tmp_path / "server.db")
    with transaction(conn):
        token = runner_token(conn, "s", tmp_path).read_text()
        conn.execute("DELETE FROM account")  # the backup is older than the session's start
    with transaction(conn):
        assert runner_token(conn, "s", tmp_path).read_text() == token
        assert accounts.principal(conn, token).scopes == ("agent:s",)
        accounts.revoke(conn, "agent:s")
        assert runner_token(conn, "s", tmp_path).read_text() != token
        forget_token(conn, "s", tmp_path / "token")
    conn.close()


def test_the_administrator_is_let_in_by_a_database_that_is_new_but_not_after_revocation(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    conn = open_log(home.server_db)
    with transaction(conn):
        own(conn, home)
        token = home.admin_token.read_text()
        conn.execute("DELETE FROM account")  # killed before the first COMMIT, or another file
        own(conn, home)
        admin = accounts.principal(conn, token)
        assert admin.allows("admin") and home.admin_token.read_text() == token
        accounts.revoke(conn, admin.name)
        own(conn, home)
        assert not [a for a in accounts.accounts(conn) if a.revoked_at is None]
    conn.close()


def test_guidance_keeps_the_order_of_the_log_of_now(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    inbox = Inbox(journal)
    first, second = (encode_event(make_event(GuidanceQueued(guidance=g, text=g), PERSON)) for g in ("a", "b"))
    made = encode_event(make_event(SessionCreated(task=TASK), PERSON))
    inbox.take(1, [made, made, made, first])  # "a" stood at place 4 of the log that is gone
    inbox.rewind()
    inbox.take(1, [made, first, second])
    assert [g.id for g in inbox.waiting()] == ["a", "b"]
    journal.close()


def test_a_step_that_begins_while_the_log_is_read_again_keeps_the_order_of_what_waits(tmp_path: Path) -> None:
    """What was read again already stands far behind the places that the rest had in the logs that are gone."""
    journal = Journal(tmp_path / "journal.db", "s")
    inbox = Inbox(journal)
    made = encode_event(make_event(SessionCreated(task=TASK), PERSON))
    queued = {g: encode_event(make_event(GuidanceQueued(guidance=g, text=g), PERSON)) for g in "abcd"}
    inbox.take(1, [made, *queued.values()])
    inbox.rewind()
    inbox.take(1, [*[made] * 8, queued["a"], queued["b"]])
    assert [g.id for g in inbox.waiting()] == ["a", "b", "c", "d"]
    inbox.rewind()
    inbox.take(1, [*[made] * 20, queued["a"]])
    assert [g.id for g in inbox.waiting()] == ["a", "b", "c", "d"]
    journal.close()


def test_sessions_are_recalled_from_their_journals(tmp_path: Path) -> None:
    """Another client than the one that made the session may come first with its guidance."""
    home = Home(tmp_path / "home")
    folder = home.sessions / "s"
    folder.mkdir()
    (home.sessions / "none").mkdir()
    (home.sessions / "broken").mkdir()
    (home.sessions / "broken/journal.db").write_text("no database")
    journal = Journal(folder / "journal.db", "s")
    Inbox(journal).take(1, [encode_event(make_event(SessionCreated(task=TASK), PERSON))])

    async def scenario() -> None:
        async with (
            serving(home.path) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home.path)) as client,
        ):
            assert isinstance(await client.answer(await client.send("s", Guide(guidance="g", text="x"))), Ack)
            assert isinstance(await client.answer(await client.send("s", CreateSession(task=TASK))), Ack)
            other = CreateSession(task=Task(id="u", title="U", description="d"))
            assert not isinstance(await client.answer(await client.send("s", other)), Ack)
            restored = trajectory(server)
            assert restored.created == SessionCreated(task=TASK) and list(restored.guidance) == ["g"]
            assert [r.session for r in log.rows(server.hub.reader)] == ["s"]

    asyncio.run(scenario())
    journal.close()


def test_a_verdict_on_a_step_that_only_the_journal_holds_is_taken_again(tmp_path: Path) -> None:
    """The backup is older than the step, and the session is over: no runner would send the step again."""
    home, maker = Home(tmp_path / "home"), Maker(1)
    (home.sessions / "s").mkdir()
    journal = Journal(home.sessions / "s" / "journal.db", "s")
    backup = tmp_path / "backup.db"

    async def live() -> None:
        async with (
            serving(home.path) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home.path), "s") as client,
            TaskScope("test") as scope,
        ):
            await client.answer(await client.send("s", CreateSession(task=TASK)))
            back_up(server.hub.reader, backup)
            spool = Spool(journal, Inbox(journal), server.url, admin_token(home.path), lambda news: None)
            scope.spawn(spool.run(), name="link")
            fact = maker.add_step()
            for data in maker.blobs.values():
                journal.put_blob(data)
            journal.add(fact)
            journal.add(SessionStateChanged(state="finished"))
            assert await spool.flushed(10)
            await until(lambda: client.replica.head("s") == 3)
            assert isinstance(await client.answer(await client.send("s", GiveVerdict(step=1, value="mask"))), Ack)
            await scope.close()

    async def again() -> None:
        restore(backup, home.server_db)
        async with (
            serving(home.path) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home.path), "s") as client,
        ):
            await until(lambda: log.head(server.hub.reader, "s") == 4 and not client.replica.waiting())
            assert {q.state for q in client.replica.commands()} == {"acked"}
            finished = trajectory(server)
            assert finished.row.state == "finished" and finished.row.steps == 1
            assert [type(p.event.fact) for p in log.read_all(server.hub.reader, "s")][-1] is VerdictGiven
            body = next(iter(maker.blobs))
            assert blobs.holds(server.hub.reader, body)

    asyncio.run(live())
    asyncio.run(again())
    journal.close()


def test_a_runner_whose_session_the_server_has_forgotten_goes_on_when_it_is_told_again(tmp_path: Path) -> None:
    """Whether it was there before the server forgot, or comes afterwards."""
    home, journal = Home(tmp_path / "home"), Journal(tmp_path / "journal.db", "s")

    async def spool_again(server: Server, spool: Spool, replica: str) -> None:
        journal.add(GuidanceDelivered(guidance="g", step=1))
        async with running_client(tmp_path / replica, server.url, admin_token(home.path)) as client:
            await client.send("s", CreateSession(task=TASK))
            assert await spool.flushed(10)

    async def scenario() -> None:
        async with TaskScope("test") as scope:
            async with serving(home.path) as server:
                spool = Spool(journal, Inbox(journal), server.url, admin_token(home.path), lambda news: None)
                scope.spawn(spool.run(), name="link")
                await until(lambda: spool.link.is_online)
                await spool_again(server, spool, "a.db")
            for path in home.path.glob("server.db*"):
                path.unlink()
            async with serving(home.path) as server:
                spool.link.hurry()
                await until(lambda: spool._homeless)
                await spool_again(server, spool, "b.db")
            await scope.close()
        journal.close()

    asyncio.run(scenario())
