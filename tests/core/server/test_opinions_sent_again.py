"""A restored log is told of steps and sessions after people spoke of them: their makers are not back yet."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.logs import Maker
from support.wire import admin_token, raw_peer, running_client, serving, until

from core.agents.delivery import Inbox, News
from core.agents.journal import Journal
from core.agents.spool import Spool
from core.aio import TaskScope
from core.client.client import Client
from core.domain.task import Task
from core.domain.trajectory import fold
from core.protocol.messages import Ack, Command, Nak
from core.protocol.operations import (
    AddNote,
    AnyOp,
    Control,
    CreateSession,
    GiveVerdict,
    Guide,
    ImportSession,
    SetTag,
    TellTime,
)
from core.server.serve import Server
from core.store import log
from core.store.backup import back_up
from core.store.home import Home
from core.store.restore import restore

TASK = Task(id="t", title="T", description="d")
OPINIONS: list[AnyOp] = [
    GiveVerdict(step=2, value="keep"),
    GiveVerdict(step=1, value="mask", reason="blind"),
    AddNote(step=2, text="here it turns"),
    SetTag(step=1, tag="interesting"),
    TellTime(seconds={2: 3.0}),
    GiveVerdict(step=2, value="unsure"),
]


@pytest.fixture
def elsewhere(tmp_path: Path):
    """The journal of a runner on another machine, with two steps."""
    journal, maker = Journal(tmp_path / "elsewhere.db", "s"), Maker(1)
    steps = [maker.add_step(), maker.add_step()]
    for data in maker.blobs.values():
        journal.put_blob(data)
    for step in steps:
        journal.add(step)
    yield journal
    journal.close()


async def runner_comes(server: Server, journal: Journal, home: Path) -> None:
    """The runner sends what the server lacks, and goes."""
    async with TaskScope("runner") as scope:
        spool = Spool(journal, Inbox(journal), server.url, admin_token(home), lambda news: None)
        scope.spawn(spool.run(), name="link")
        assert await spool.flushed(10)
        await scope.close()


async def say(client: Client, ops: list[AnyOp]) -> None:
    for op in ops:
        assert isinstance(await client.answer(await client.send("s", op)), Ack)


async def answered(client: Client, server: Server) -> set[str]:
    """How everything that the client sends again was answered, once it is."""
    epoch = log.epoch(server.hub.reader)
    await until(lambda: client.replica.epoch == epoch and not client.replica.waiting())
    return {q.state for q in client.replica.commands()}


def judged(server: Server) -> tuple[object, ...]:
    """What the log says about the two steps."""
    trajectory = fold("s", log.read_all(server.hub.reader, "s"))
    first, second = trajectory.step(1), trajectory.step(2)
    return (
        [v.value for v in first.verdicts.values()],
        [v.value for v in second.verdicts.values()],
        [note.text for note in second.notes],
        set(first.tags),
        list(trajectory.spent.values()),
        trajectory.row.title,
    )


WANTED = (["mask"], ["unsure"], ["here it turns"], {"interesting"}, [{2: 3.0}], "T")


def test_verdicts_on_steps_that_only_a_runner_elsewhere_holds_are_taken_before_it_comes(tmp_path, elsewhere) -> None:
    """And in their order: the last word on a step stays the last."""
    home, backup = tmp_path / "home", tmp_path / "backup.db"

    async def live() -> None:
        async with serving(home) as server, running_client(tmp_path / "c.db", server.url, admin_token(home)) as client:
            await say(client, [CreateSession(task=TASK)])
            back_up(server.hub.reader, backup)
            await runner_comes(server, elsewhere, home)
            await say(client, OPINIONS)
            assert judged(server) == WANTED

    async def again() -> None:
        async with serving(home) as server, running_client(tmp_path / "c.db", server.url, admin_token(home)) as client:
            assert await answered(client, server) == {"acked"}
            await runner_comes(server, elsewhere, home)
            assert judged(server) == WANTED
            late = await client.answer(await client.send("s", GiveVerdict(step=3, value="mask")))
            assert isinstance(late, Nak) and late.code == "no_step", "what is new is about what is here"

    asyncio.run(live())
    restore(backup, Home(home).server_db)
    asyncio.run(again())


def test_words_about_a_session_are_taken_before_the_person_who_made_it_comes(tmp_path, elsewhere) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup.db"
    made, judge = tmp_path / "made.db", tmp_path / "judge.db"

    async def live() -> None:
        async with serving(home) as server:
            back_up(server.hub.reader, backup)
            async with running_client(made, server.url, admin_token(home)) as client:
                await say(client, [CreateSession(task=TASK)])
            await runner_comes(server, elsewhere, home)
            async with running_client(judge, server.url, admin_token(home)) as client:
                await say(client, [*OPINIONS, Guide(guidance="g", text="x")])

    async def again() -> None:
        async with serving(home) as server:
            async with running_client(judge, server.url, admin_token(home)) as client:
                assert await answered(client, server) == {"acked"}
            assert not log.rows(server.hub.reader), "no list shows a session that nobody knows"
            async with running_client(made, server.url, admin_token(home)) as client:
                assert await answered(client, server) == {"acked"}
                await until(lambda: [r.session for r in client.replica.rows()] == ["s"])
            await runner_comes(server, elsewhere, home)
            assert judged(server) == WANTED
            assert [g.text for g in fold("s", log.read_all(server.hub.reader, "s")).guidance.values()] == ["x"]

    asyncio.run(live())
    restore(backup, Home(home).server_db)
    asyncio.run(again())


def test_an_interrupt_that_is_sent_again_does_not_interrupt_again(tmp_path) -> None:
    """It was obeyed hours ago; what runs now has nothing to do with it."""
    home, backup, journal = tmp_path / "home", tmp_path / "backup.db", Journal(tmp_path / "journal.db", "s")

    async def during(server: Server, scope: TaskScope) -> list[News]:
        """What a runner hears from now on."""
        news: list[News] = []
        spool = Spool(journal, Inbox(journal), server.url, admin_token(home), news.append)
        scope.spawn(spool.run(), name="link")
        await until(lambda: server.hub.is_connected("s"))
        return news

    async def live() -> None:
        async with (
            serving(home) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home)) as client,
            TaskScope("runner") as scope,
        ):
            await say(client, [CreateSession(task=TASK)])
            back_up(server.hub.reader, backup)
            news = await during(server, scope)
            await say(client, [Control(control="interrupt"), Control(control="pause")])
            await until(lambda: [c for n in news for c in n.controls] == ["interrupt", "pause"])
            Inbox(journal).done("pause")
            await scope.close()

    async def again() -> None:
        async with serving(home) as server, TaskScope("runner") as scope:
            news = await during(server, scope)
            async with running_client(tmp_path / "c.db", server.url, admin_token(home)) as client:
                assert await answered(client, server) == {"acked"}
                await until(lambda: Inbox(journal).cursor == log.head(server.hub.reader, "s") == 3)
                assert not [c for n in news for c in n.controls] and Inbox(journal).wish is None
                await say(client, [Control(control="interrupt")])
                await until(lambda: [c for n in news for c in n.controls] == ["interrupt"])
            await scope.close()

    asyncio.run(live())
    restore(backup, Home(home).server_db)
    asyncio.run(again())
    journal.close()


def test_only_what_is_sent_again_may_be_early(tmp_path: Path) -> None:
    """And no number that a database cannot hold, no name that is none."""

    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            codes = []
            for n, (session, step, again) in enumerate(
                [("s", 1, False), ("s", 2**31 - 1, True), ("s", 2**31, True), ("../s", 1, True)], 1
            ):
                op = GiveVerdict(step=step, value="mask")
                reply = await peer.ask(Command(id=f"m{n}", cseq=n, session=session, op=op, again=again))
                codes.append(reply.code if isinstance(reply, Nak) else "")
            assert codes == ["no_session", "", "bad_op", "bad_id"]
            again = Command(id="m5", cseq=5, session="s", op=ImportSession(origin="atif", events=3))
            assert isinstance(await peer.ask(again), Ack), "an import may be what was awaited"
            assert log.row(server.hub.reader, "s").origin == "atif"
            assert log.row(server.hub.reader, "s").is_hidden

    asyncio.run(scenario())
