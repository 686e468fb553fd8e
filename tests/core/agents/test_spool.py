"""The spool against a real server: take-over, a server whose database was replaced, secrets."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import shutil
from pathlib import Path

import pytest
from support.wire import account, fill, log_of, serving, until

from core.agents.delivery import Inbox, News
from core.agents.journal import Journal
from core.agents.spool import Spool
from core.aio import TaskScope
from core.domain.blob import blob_hash
from core.domain.errors import Conflict, InvalidInput
from core.domain.events import (
    GuidanceQueued,
    SearchMade,
    SessionCreated,
    SubmissionMade,
    TerminalOutput,
    decode_event,
    encode_event,
    make_event,
)
from core.domain.task import Task
from core.domain.verdict import Author
from core.server.serve import Server
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import connect, driver

PERSON = Author(kind="person", name="Ada")
CREATED = encode_event(make_event(SessionCreated(task=Task(id="t", title="T", description="D")), PERSON))


async def prepare(server: Server, home: Path, *more: bytes) -> str:
    await fill(server, "s", [CREATED, *more])
    return account(home, f"agent-{len(more)}", "agent:s")


def spool_of(journal: Journal, server: Server, token: str, news: list[News]) -> Spool:
    return Spool(journal, Inbox(journal), server.url, token, news.append)


def copy_raw(server: Server, target: Path) -> None:
    """A copy of the log as it is, with its epoch (`tiphys backup` gives a copy one of its own)."""
    with contextlib.closing(driver.connect(target)) as copy:
        server.hub.reader.backup(copy)


def submit(journal: Journal, n: int) -> str:
    with journal.transaction("test"):
        name = journal.put_blob(b"payload %d" % n * 50)
        journal.add(SubmissionMade(ordinal=n, step=n, blob=name))
    return name


def agents_of(home: Path) -> list[int]:
    facts = [decode_event(body).fact for body in log_of(Home(home).server_db, "s")]
    return [f.ordinal for f in facts if isinstance(f, SubmissionMade)]


def test_entries_and_payloads_go_out_and_guidance_comes_in(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    names = [submit(journal, n) for n in range(1, 300)]
    advice = encode_event(make_event(GuidanceQueued(guidance="g", text="hi"), PERSON))
    news: list[News] = []

    async def main() -> None:
        async with serving(tmp_path / "home") as server, TaskScope("test") as scope:
            token = await prepare(server, tmp_path / "home", advice)
            spool = spool_of(journal, server, token, news)
            scope.spawn(spool.run(), name="spool")
            assert await spool.caught_up(10) and await spool.flushed(10)
            submit(journal, 300)
            assert not spool.is_flushed and await spool.flushed(10)

    asyncio.run(main())
    assert agents_of(tmp_path / "home") == list(range(1, 301))
    with contextlib.closing(connect(Home(tmp_path / "home").server_db, readonly=True)) as conn:
        assert blobs.missing(conn, names) == []
    assert journal.unsent(names) == []
    assert [h.text for h in Inbox(journal).waiting()] == ["hi"] and any(n.guidance for n in news)
    journal.close()


def test_a_newer_runner_ends_the_older(tmp_path: Path) -> None:
    old, new = Journal(tmp_path / "old.db", "s"), Journal(tmp_path / "new.db", "s")

    async def main() -> None:
        async with serving(tmp_path / "home") as server, TaskScope("test") as scope:
            token = await prepare(server, tmp_path / "home")
            errors: list[BaseException] = []
            first = spool_of(old, server, token, [])
            scope.spawn(first.run(), name="old", on_error=errors.append)
            submit(old, 1)
            assert await first.flushed(10)
            second = spool_of(new, server, token, [])
            scope.spawn(second.run(), name="new")
            assert await second.caught_up(10)
            submit(old, 2)
            await until(lambda: bool(errors))
            assert isinstance(errors[0], Conflict) and errors[0].code == "fenced"

    asyncio.run(main())
    assert agents_of(tmp_path / "home") == [1]
    old.close()
    new.close()


def test_a_replaced_database_is_told_everything_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    advice = encode_event(make_event(GuidanceQueued(guidance="g", text="hi"), PERSON))
    names = [submit(journal, n) for n in (1, 2)]

    async def once(home: Path) -> None:
        async with serving(home) as server, TaskScope("test") as scope:
            token = await prepare(server, home, advice)
            spool = spool_of(journal, server, token, [])
            scope.spawn(spool.run(), name="spool")
            assert await spool.caught_up(10) and await spool.flushed(10)

    for name in ("first", "second"):
        asyncio.run(once(tmp_path / name))
        assert agents_of(tmp_path / name) == [1, 2]
        with contextlib.closing(connect(Home(tmp_path / name).server_db, readonly=True)) as conn:
            assert blobs.missing(conn, names) == []
    assert len(Inbox(journal).waiting()) == 1, "advice of the first database is not taken in twice"
    journal.close()


def test_an_older_copy_of_the_database_that_was_put_back_is_told_everything_again(tmp_path: Path) -> None:
    journal, home = Journal(tmp_path / "journal.db", "s"), tmp_path / "home"

    async def once(*advice: str, first: bool = False) -> None:
        async with serving(home) as server, TaskScope("test") as scope:
            if first:
                (tmp_path / "token").write_text(await prepare(server, home))
                copy_raw(server, tmp_path / "copy.db")
            spool = spool_of(journal, server, (tmp_path / "token").read_text(), [])
            scope.spawn(spool.run(), name="spool")
            assert await spool.flushed(10)
            for name in advice:
                guidance = encode_event(make_event(GuidanceQueued(guidance=name, text=name), PERSON))
                await server.hub.do("s", lambda conn, guidance=guidance: log.append(conn, "s", [guidance]))
                await until(lambda name=name: name in [h.id for h in Inbox(journal).waiting()])

    names = [submit(journal, n) for n in (1, 2)]
    asyncio.run(once("before", first=True))
    for left in home.glob("server.db*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", home / "server.db")
    asyncio.run(once("after"))
    assert agents_of(home) == [1, 2]
    with contextlib.closing(connect(Home(home).server_db, readonly=True)) as conn:
        assert blobs.missing(conn, names) == []
    journal.close()


def test_a_key_never_reaches_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    journal.hide("sk-canary-0123456789")
    leak = b"here: sk-canary-0123456789!"
    name = journal.put_blob(leak)
    assert name != blob_hash(leak) and journal.blob(name) == b"here: ********************!"
    journal.add(TerminalOutput(host="h", terminal="t", offset=0, size=len(leak), data=leak))
    journal.put_blob(base64.b64encode(b"sk-canary-0123456789"))
    fact = journal.facts()[0]
    assert isinstance(fact, TerminalOutput) and fact.data == b"here: ********************!"
    journal.close()
    written = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert b"canary" not in written and base64.b64encode(b"sk-canary")[:10] not in written


def test_a_gap_in_the_log_is_refused(tmp_path: Path) -> None:
    inbox = Inbox(Journal(tmp_path / "journal.db", "s"))
    with pytest.raises(Conflict, match="follows 0"):
        inbox.take(2, [CREATED])


def test_an_event_that_could_never_be_sent_does_not_get_into_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    try:
        with pytest.raises(InvalidInput) as caught:
            journal.add(SearchMade(query="x" * (2 << 20), engine="e", step=1))
        assert caught.value.code == "event_too_large" and journal.head == 0
        assert journal.add(SearchMade(query="x" * (1 << 20), engine="e", step=1)) == 1
    finally:
        journal.close()


def test_an_entry_that_the_server_never_takes_is_told_and_not_sent_for_ever(tmp_path: Path) -> None:
    """A journal of an older version, from before numbers had bounds."""
    journal = Journal(tmp_path / "journal.db", "s")
    submit(journal, 1)
    body = encode_event(make_event(SubmissionMade(ordinal=7, step=1), journal.author))
    journal.sql("INSERT INTO entry (body) VALUES (?)", (body.replace(b'"ordinal":7', b'"ordinal":2147483648'),))
    submit(journal, 2)
    news: list[News] = []

    async def main() -> None:
        async with serving(tmp_path / "home") as server, TaskScope("test") as scope:
            token = await prepare(server, tmp_path / "home")
            spool = spool_of(journal, server, token, news)
            scope.spawn(spool.run(), name="spool")
            await until(lambda: spool.lost is not None)
            assert isinstance(spool.lost, InvalidInput) and spool.lost.code == "refused_entry"
            assert "ordinal" in spool.lost.sentence and "the journal holds it" in spool.lost.sentence
            for _ in range(5):
                submit(journal, 3)
                await asyncio.sleep(0.05)
            assert not await spool.flushed(0.2)

    asyncio.run(main())
    assert journal.head == 8, "nothing of the journal is gone"
    journal.close()
