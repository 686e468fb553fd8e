"""The server's whole folder was set back (a machine's snapshot): nothing in it can tell, so clients have to notice."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from support.wire import admin_token, bodies_of, fill, log_of, running_client, serving, until

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.spool import Spool
from core.aio import TaskScope
from core.client.client import Client
from core.domain.events import SubmissionMade
from core.domain.task import Task
from core.protocol.messages import Ack
from core.protocol.operations import AddNote, CreateSession, Guide
from core.server.serve import Server
from core.store import log

TASK = Task(id="t", title="T", description="d")


async def say(client: Client, *texts: str) -> None:
    for text in texts:
        assert isinstance(await client.answer(await client.send("s", AddNote(step=0, text=text))), Ack)


def test_a_copy_that_went_another_way_than_the_log_is_made_anew_and_what_was_sent_is_sent_again(tmp_path: Path) -> None:
    """The log is as long again as the copy when the client comes back: only the events themselves tell."""
    home, copy, replica = tmp_path / "home", tmp_path / "copy", tmp_path / "c.db"

    async def before() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home), "s") as client:
            assert isinstance(await client.answer(await client.send("s", CreateSession(task=TASK))), Ack)
            await say(client, "held")
        shutil.copytree(home, copy)
        async with serving(home) as server, running_client(replica, server.url, admin_token(home), "s") as client:
            await say(client, "lost 1", "lost 2")
            await until(lambda: client.replica.head("s") == 4)

    async def after() -> None:
        async with serving(home) as server:
            await fill(server, "s", bodies_of(5))
            async with running_client(replica, server.url, admin_token(home), "s") as client:
                await until(lambda: log.head(server.hub.reader, "s") == client.replica.head("s") == 9)
                await until(lambda: not client.replica.waiting())

    asyncio.run(before())
    shutil.rmtree(home)
    copy.rename(home)
    asyncio.run(after())
    restored = log_of(home / "server.db", "s")
    assert log_of(replica, "s") == restored
    assert [text for text in (b"held", b"lost 1", b"lost 2") for body in restored if text in body] == [
        b"held", b"lost 1", b"lost 2"]


def test_a_runner_elsewhere_reads_a_log_that_went_another_way_from_its_start(tmp_path: Path) -> None:
    """Advice that came while it was away stands before the place up to which it had read."""
    home, copy, journal = tmp_path / "home", tmp_path / "copy", Journal(tmp_path / "elsewhere.db", "s")

    async def comes(server: Server, texts: list[str]) -> None:
        async with TaskScope("runner") as scope:
            spool = Spool(journal, Inbox(journal), server.url, admin_token(home), lambda news: None)
            scope.spawn(spool.run(), name="link")
            await until(lambda: [h.text for h in Inbox(journal).waiting()] == texts)
            assert await spool.flushed(10)
            await scope.close()

    async def advised(server: Server, replica: str, *texts: str) -> None:
        async with running_client(tmp_path / replica, server.url, admin_token(home)) as client:
            for text in texts:
                await client.answer(await client.send("s", Guide(guidance=f"g-{text}", text=text)))

    async def before() -> None:
        async with serving(home) as server, running_client(tmp_path / "made.db", server.url, admin_token(home)) as made:
            await made.answer(await made.send("s", CreateSession(task=TASK)))
        shutil.copytree(home, copy)
        async with serving(home) as server:
            await advised(server, "a.db", "one", "two")
            journal.add(SubmissionMade(ordinal=1, step=1))
            await comes(server, ["one", "two"])

    async def after() -> None:
        async with serving(home) as server:
            await advised(server, "b.db", "three", "four", "five", "six")
            await comes(server, ["three", "four", "five", "six", "one", "two"])

    asyncio.run(before())
    shutil.rmtree(home)
    copy.rename(home)
    asyncio.run(after())
    journal.close()
    assert sum(b"submission_made" in body for body in log_of(home / "server.db", "s")) == 1
