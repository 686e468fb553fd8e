"""The local copy: what it holds after writes, restarts, and a server that is another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.logs import make_session

from core.client.replica import Replica
from core.domain.blob import blob_hash
from core.domain.errors import Conflict, InvalidInput
from core.domain.events import Placed
from core.domain.session import SessionRow
from core.domain.trajectory import fold
from core.protocol.messages import Ack, Nak
from core.protocol.operations import Guide
from core.store import blobs
from core.store.sqlite import scalar


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Replica]:
    made = Replica(tmp_path / "copy.db")
    yield made
    made.close()


def test_events_become_a_trajectory_and_signals_say_which_came(replica: Replica) -> None:
    bodies, _ = make_session(steps=20, guidance=3, seed=1)
    ranges: list[tuple[str, int, int]] = []
    replica.events_added.append(lambda *range_: ranges.append(range_))

    async def scenario() -> None:
        assert await replica.place("s", 1, bodies[:10]) == 10
        assert await replica.place("s", 6, bodies[5:]) == len(bodies)
        with pytest.raises(Conflict):
            await replica.place("s", len(bodies) + 2, bodies[:1])

    asyncio.run(scenario())
    assert ranges == [("s", 1, 10), ("s", 6, len(bodies))]
    expected = fold("s", (Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)))
    assert replica.trajectory("s").row == expected.row == replica.row("s")
    assert [p.body for p in replica.read("s", 3, 4)] == list(bodies[3:7])


def test_rows_of_sessions_without_events_are_held_and_never_go_back(replica: Replica) -> None:
    async def scenario() -> None:
        await replica.put_rows([SessionRow(session="s", title="new", seq=9)])
        await replica.put_rows([SessionRow(session="s", title="old", seq=4)])

    changes: list[int] = []
    replica.rows_changed.append(lambda: changes.append(1))
    asyncio.run(scenario())
    assert [(r.title, r.seq) for r in replica.rows()] == [("new", 9)]
    assert replica.head("s") == 0 and len(changes) == 2


def test_the_outbox_and_the_draft_survive_a_restart_together(tmp_path: Path) -> None:
    async def write(replica: Replica) -> str:
        await replica.save_draft("s", "use the other spl")
        queued = await replica.add("s", Guide(guidance="g", text="use the other split"), clear_draft=True)
        await replica.save_draft("t", "half a thought")
        return queued.id

    first = Replica(tmp_path / "copy.db")
    name, client = asyncio.run(write(first)), first.client
    first.close()
    second = Replica(tmp_path / "copy.db")
    [waiting] = second.waiting()
    assert (waiting.id, waiting.cseq, waiting.op) == (name, 1, Guide(guidance="g", text="use the other split"))
    assert (second.draft("s"), second.draft("t"), second.client) == ("", "half a thought", client)
    asyncio.run(second.answered(Nak(id=name, cseq=1, kind="Conflict", code="session_over", sentence="Over.")))
    assert second.waiting() == [] and second.commands("s")[0].state == "refused"
    reply = second.reply(name)
    assert isinstance(reply, Nak) and reply.code == "session_over"
    second.close()


async def placed(replica: Replica, bodies: list[bytes]) -> None:
    """A session whose events came."""
    await replica.place("s", 1, bodies)


def test_another_server_drops_the_copies_and_keeps_what_was_said(replica: Replica) -> None:
    bodies, _ = make_session(steps=3, guidance=0, seed=2)
    dropped: list[str | None] = []
    replica.copies_dropped.append(dropped.append)

    async def scenario() -> None:
        await replica.drop_copies("one", renew=False)
        await replica.place("s", 1, bodies)
        acked = await replica.add("s", Guide(guidance="g", text="x"))
        await replica.answered(Ack(id=acked.id, cseq=1))
        await replica.save_draft("s", "kept")
        await replica.drop_copies("two", renew=True)

    client = replica.client
    asyncio.run(scenario())
    assert (replica.epoch, replica.rows(), replica.head("s"), dropped) == ("two", [], 0, [None])
    assert [c.cseq for c in replica.waiting()] == [1], "what was acknowledged is sent again"
    assert replica.client != client and replica.draft("s") == "kept"
    asyncio.run(placed(replica, bodies))
    assert replica.head("s") == len(bodies)


def test_the_log_in_a_copy_is_as_append_only_as_the_log_itself(replica: Replica) -> None:
    bodies, _ = make_session(steps=1, guidance=0, seed=3)
    asyncio.run(placed(replica, bodies))
    asyncio.run(replica.forget("other"))
    with pytest.raises(Exception, match="append-only"):
        replica._writer.do_blocking(lambda conn: conn.execute("DELETE FROM event"))


def test_payloads_are_checked_before_they_are_kept(replica: Replica) -> None:
    data = "text 文本".encode() * 1000
    arrived: list[str] = []
    replica.blob_arrived.append(arrived.append)

    async def store(name: str) -> None:
        await replica.store_blob(name, blobs.compress(data))

    with pytest.raises(InvalidInput):
        asyncio.run(store(blob_hash(b"other")))
    assert replica.body(blob_hash(data)) is None
    asyncio.run(store(blob_hash(data)))
    assert replica.body(blob_hash(data)) == data and arrived == [blob_hash(data)]
    assert replica.missing([blob_hash(data), blob_hash(b"other")]) == [blob_hash(b"other")]


def test_a_listener_that_fails_hinders_nobody(replica: Replica, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    replica.rows_changed += [lambda: 1 / 0, lambda: calls.append(1)]  # type: ignore[list-item,func-returns-value]
    asyncio.run(replica.put_rows([SessionRow(session="s", seq=1)]))
    assert calls == [1] and "a listener failed" in caplog.text


def test_payloads_that_come_together_are_stored_by_few_commits(replica: Replica) -> None:
    datas = [f"payload {n}".encode() * 100 for n in range(64)]
    commits: list[int] = []
    replica._writer.on_commit.append(lambda: commits.append(1))

    async def keep_all() -> None:
        await asyncio.gather(*(replica.store_blob(blob_hash(d), blobs.compress(d)) for d in datas))

    asyncio.run(keep_all())
    assert replica.missing([blob_hash(d) for d in datas]) == []
    assert len(commits) < len(datas) / 2


def test_only_what_this_computer_wrote_waits_for_the_disk(replica: Replica) -> None:
    levels: list[int] = []
    replica._writer.on_commit.append(lambda: levels.append(scalar(replica._writer._conn, "PRAGMA synchronous")))
    bodies, _ = make_session(steps=1, guidance=0, seed=1)
    full, normal = 2, 1

    async def scenario() -> None:
        await replica.place("s", 1, bodies)
        await replica.put_rows([SessionRow(session="s", title="new", seq=len(bodies) + 1)])
        await replica.store_blob(blob_hash(b"text"), blobs.compress(b"text"))
        assert levels == [normal] * 3
        queued = await replica.add("s", Guide(guidance="g", text="use the other split"))
        await replica.save_draft("s", "half a thought")
        await replica.answered(Ack(id=queued.id, cseq=queued.cseq))
        assert levels[3:] == [full] * 3

    asyncio.run(scenario())
