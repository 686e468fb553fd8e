"""Sessions that are over, and clients that ask something of a queue or judge, for tests of review queues."""

from __future__ import annotations

from support.wire import AGENT, fill

from core.client.client import Client
from core.domain.events import StepAdded, encode_event, make_event
from core.domain.head import make_head
from core.domain.step import Action, StepBody
from core.protocol.messages import Ack
from core.protocol.operations import GiveVerdict
from core.server.serve import Server

OVER = "UPDATE session SET row = json_set(row, '$.origin', 'atif', '$.state', 'finished') WHERE id = ?"


def steps(count: int) -> list[bytes]:
    """Events of a session of so many steps."""
    action = Action(call_id="c", tool="run_command", arguments={"command": "ls"})
    bodies = [StepBody(number=n, thought=f"step {n}", actions=(action,)) for n in range(1, count + 1)]
    return [encode_event(make_event(StepAdded(head=make_head(b), body="0" * 64), AGENT)) for b in bodies]


async def sessions(server: Server, *names: str, count: int = 2) -> None:
    """Sessions that are over, as an import leaves them."""
    for name in names:
        await fill(server, name, steps(count))
        await server.hub.do(name, lambda conn, one=name: conn.execute(OVER, (one,)))  # type: ignore[misc]


async def done(client: Client, session: str, op: object) -> dict[str, object]:
    """The result of an operation that the server takes."""
    reply = await client.answer(await client.send(session, op))  # type: ignore[arg-type]
    assert isinstance(reply, Ack), reply
    return reply.result


async def judge(client: Client, session: str, *values: str) -> None:
    """Judge the first steps of a session, each with a value."""
    for step, value in enumerate(values, 1):
        await done(client, session, GiveVerdict(step=step, value=value))  # type: ignore[arg-type]
