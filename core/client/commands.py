"""Commands of a program that keeps no replica: sent over its link in order, each answer given to who waits for it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from core.client.connection import ReconnectingConnection
from core.domain.errors import make_error
from core.domain.ids import new_id
from core.protocol.client_effects import Send
from core.protocol.client_state import OutboxSender
from core.protocol.messages import Ack, Command, Failed, Nak, Welcome, Wire
from core.protocol.operations import AnyOp


class Commands:
    """Who owns the link tells it what comes: `connect`, `disconnect`, `take`."""

    def __init__(self, link: ReconnectingConnection) -> None:
        self._link = link
        self._sender = OutboxSender()
        self._cseq = self._taken = 0
        self._answers: dict[str, asyncio.Future[Ack | Nak]] = {}

    async def ask(self, session: str, op: AnyOp, patience_s: float) -> dict[str, Any]:
        """Have something done; gives what the server answers. Raises what it refuses with, TimeoutError where it
        answers nobody for so long: one with many commands before it comes to this one in its time."""
        self._cseq += 1
        command = Command(id=new_id(), cseq=self._cseq, session=session, op=op)
        future = self._answers[command.id] = asyncio.get_running_loop().create_future()
        self._post(self._sender.add(command))
        try:
            while not future.done():
                before = self._taken
                await asyncio.wait((future,), timeout=patience_s)
                if not future.done() and self._taken == before:
                    raise TimeoutError
            reply: Ack | Nak = future.result()
        finally:
            self._answers.pop(command.id, None)
        if isinstance(reply, Nak):
            raise make_error(reply.kind, reply.code, reply.sentence, reply.params)
        return reply.result

    def connect(self, welcome: Welcome) -> None:
        """The link is greeted: what has no answer is sent again."""
        self._post(self._sender.connect(welcome.cseq, welcome.capabilities))

    def disconnect(self) -> None:
        """The link is down; what is asked meanwhile waits."""
        self._sender.disconnect()

    def take(self, message: Wire) -> bool:
        """Whether a message was an answer to a command."""
        if not isinstance(message, Ack | Nak):
            return False
        self._taken += 1
        self._post(self._sender.answered(message))
        future = self._answers.get(message.id)
        if future is not None and not future.done():
            future.set_result(message)
        return True

    def _post(self, effects: Sequence[object]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self._link.post(effect.message)
            elif isinstance(effect, Failed):
                self._give_up(effect)

    def _give_up(self, why: Failed) -> None:
        """Nothing that waits will be answered: nobody updates the server while a program of this kind runs."""
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(make_error(why.kind, why.code, why.sentence, why.params))
