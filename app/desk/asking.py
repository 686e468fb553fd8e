"""Asking a session's server for something at once, with its answer; what may wait goes by `app.desk.sender`."""

from __future__ import annotations

import asyncio

from app.desk.desk import Desk
from app.desk.session_key import id_of
from core.domain.errors import Unavailable, make_error
from core.protocol.messages import Nak
from core.protocol.operations import AnyOp

ANSWER_S = 60.0
"""How long a server that is connected is waited for."""


async def asked(desk: Desk, session: str, op: AnyOp) -> dict[str, object]:
    """The server's answer. Raises what it refuses for, Unavailable where it says nothing."""
    client = desk.client
    if client is None:
        raise Unavailable("server_away", "The session's server is not connected.")
    command = await client.send(id_of(session), op)
    try:
        reply = await asyncio.wait_for(client.answer(command), ANSWER_S)
    except TimeoutError:
        raise Unavailable("no_answer", "The server has not answered; it will be asked again when it is back.") from None
    if isinstance(reply, Nak):
        raise make_error(reply.kind, reply.code, reply.sentence, reply.params)
    return reply.result
