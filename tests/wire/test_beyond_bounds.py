"""What is beyond a bound is refused by an answer and not sent for ever; what an old log holds still travels."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.logs import make_session
from support.wire import account, admin_token, fill, log_of, raw, raw_peer, running_client, serving, until

from core.domain.events import StepAdded, VerdictGiven, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.protocol.messages import Ack, Append, Command, Failed, Lease, Leased, Nak, Sessions, WatchSessions
from core.protocol.operations import AddNote, ImportSession
from core.store import log, outbox
from core.store.home import Home

PERSON = Author(kind="person", name="li")
VERDICT = encode_event(make_event(VerdictGiven(step=1, value="keep"), PERSON))


def poisoned(step: int) -> list[bytes]:
    """A session as an older program could have stored it: one opinion is about a step that there cannot be."""
    bodies, _ = make_session(steps=2, guidance=0, seed=5, finished=False)
    return [*bodies, VERDICT.replace(b'"step":1', b'"step":%d' % step), *bodies[-1:]]


def too_far() -> bytes:
    """A step whose number no column holds."""
    bodies, _ = make_session(steps=1, guidance=0, seed=5, finished=False)
    [body] = [b for b in bodies if isinstance(decode_event(b).fact, StepAdded)]
    return body.replace(b'"number":1', b'"number":2147483648')


@pytest.mark.parametrize("op", [
    {"op": "give_verdict", "step": 2**63, "value": "keep"}, {"op": "give_verdict", "step": -5, "value": "keep"},
    {"op": "add_note", "step": 0, "text": "x" * (2 * 1024 * 1024 + 1)}, {"op": "tell_time", "seconds": {"1": 1e300}},
    {"op": "set_tag", "step": 1, "tag": "x" * 101}, {"op": "rm", "path": "/"}, {"op": "give_verdict"},
])
def test_a_command_beyond_a_bound_is_answered_and_the_next_one_is_taken(tmp_path: Path, op: dict[str, object]) -> None:
    async def main() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await fill(server, "s", make_session(steps=2, seed=1)[0])
            frame = json.dumps({"type": "command", "id": "c1", "cseq": 1, "session": "s", "op": op})
            await peer.say(frame)
            reply = await peer.hear(Nak)
            assert isinstance(reply, Nak) and (reply.code, reply.cseq) == ("bad_op", 1) and reply.params["why"]
            await peer.say(frame)
            assert await peer.hear(Nak) == reply, "a repeat gets the stored answer"
            note = Command(id="c2", cseq=2, session="s", op=AddNote(step=0, text="t"))
            assert isinstance(await peer.ask(note), Ack)

    asyncio.run(main())


def test_a_command_of_an_older_version_does_not_hold_up_the_outbox(tmp_path: Path) -> None:
    """It lay in the outbox before there were bounds: it is refused, its words stay there, the next one is sent."""
    async def main() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", make_session(steps=2, seed=1)[0])
            token = admin_token(tmp_path / "home")
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "online")
                old = '{"op":"add_note","step":-5,"text":"words"}'
                await client.replica._writer.do(lambda conn: (
                    outbox.add(conn, "s", AddNote(step=0, text="words")),
                    conn.execute("UPDATE outbox SET op = ?", (old.encode(),))))
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await client.send("s", AddNote(step=0, text="the next"))
                await until(lambda: [q.state for q in client.replica.commands("s")] == ["acked", "refused"])
                held = client.replica.commands("s")[1]
                assert b"words" in held.op.raw and b"bad_op" in (held.reply or b"")  # type: ignore[union-attr]

    asyncio.run(main())


def test_an_append_beyond_a_bound_is_refused_and_the_connection_stays(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", make_session(steps=1, seed=1)[0][:2])
            async with raw_peer(server.url, account(tmp_path, "agent", "agent:s")) as peer:
                leased = await peer.ask(Lease(session="s", journal="j"), Leased)
                bodies = raw([too_far()])
                for _ in range(2):
                    failed = await peer.ask(Append(session="s", fence=leased.fence, first=1, bodies=bodies))
                    assert isinstance(failed, Failed) and (failed.code, failed.about) == ("bad_event", "s")
                    assert "number" in failed.sentence
            assert len(log_of(Home(tmp_path).server_db, "s")) == 2

    asyncio.run(main())


def test_an_event_that_an_older_server_took_travels_as_it_is_and_hides_no_other(tmp_path: Path) -> None:
    bodies = poisoned(-5)

    async def main() -> None:
        async with serving(tmp_path / "home") as server:
            await server.hub.do("old", lambda conn: log.place(conn, "old", 1, bodies))
            far = [*bodies[:2], too_far()]
            await server.hub.do("far", lambda conn: log.place(conn, "far", 1, far))
            await server.hub.do("far", lambda conn: conn.execute(
                "UPDATE session SET row = json_set(row, '$.steps', 2147483648) WHERE id = 'far'"))
            await fill(server, "good", make_session(steps=3, seed=2)[0])
            token = admin_token(tmp_path / "home")
            async with raw_peer(server.url, token) as peer:
                rows = {row.session: row for row in (await peer.ask(WatchSessions(), Sessions)).rows}
                assert set(rows) == {"old", "far", "good"} and "steps" in rows["far"].unreadable
                op = ImportSession(origin="x")
                assert isinstance(await peer.ask(Command(id="c1", cseq=1, session="new", op=op), Ack), Ack)
            async with running_client(tmp_path / "r.db", server.url, token, "old", "far", "good") as client:
                heads = {"old": len(bodies), "far": 3, "good": log.head(server.hub.reader, "good")}
                await until(lambda: {s: client.replica.head(s) for s in heads} == heads)
                assert [p.body for p in client.replica.read("old", 0, 999)] == bodies
                assert {r.session for r in client.replica.rows() if r.unreadable} == {"far"}
                assert client.status.state == "online"

    asyncio.run(main())
