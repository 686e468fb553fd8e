"""The one way from a panel to a session of any server: an operation goes into the outbox, or is asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.desk.desk import Desk
from app.desk.desks import Desks
from app.desk.notices import Notices
from app.desk.refusal import Refusal, words_of
from app.desk.session_key import id_of
from core.aio import TaskScope
from core.domain.errors import ReportableError, Unavailable, make_error
from core.protocol.messages import Nak
from core.protocol.operations import AnyOp


class Sender(QObject):
    """Sends operations for the controllers. Works without a server: the outbox keeps them until there is one."""

    def __init__(self, desks: Desks, scope: TaskScope, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desks, self._scope, self._notices = desks, scope, notices
        self.storing = 0
        """How many writes are on their way to the disk; the window does not close before they are there."""
        self._listening: dict[str, Callable[[ReportableError], None]] = {}
        self._refused: dict[str, Refusal] = {}
        desks.answered.connect(self._on_answered)

    def send(self, session: str, op: AnyOp, *, stored: Callable[[], None] | None = None,
             failed: Callable[[], None] | None = None, refused: Callable[[ReportableError], None] | None = None,
             clear_draft: bool = False) -> None:
        """Send an operation; `stored` is called once it cannot be lost any more, `failed` if the disk would not have it
        (which is shown as a notice, too), `refused` if the server says no, however much later.

        Without `refused`, and after a restart of the program, a refusal is shown as a notice. `clear_draft` clears the
        session's draft with the same commit.
        """
        self.storing += 1
        self._scope.spawn(self._send(session, op, stored, failed, refused, clear_draft),
                          name=f"send {type(op).__name__}")

    def store_draft(self, session: str, text: str) -> None:
        """Put what is being written to a session on disk; an empty text clears it."""
        self.storing += 1
        self._scope.spawn(self._store_draft(session, text), name="store draft")

    async def _store_draft(self, session: str, text: str) -> None:
        try:
            await self._desks.of(session).replica.save_draft(id_of(session), text)
        finally:
            self.storing -= 1

    async def _send(self, session: str, op: AnyOp, stored: Callable[[], None] | None,
                    failed: Callable[[], None] | None, refused: Callable[[ReportableError], None] | None,
                    clear_draft: bool) -> None:
        desk, session = self._desks.of(session), id_of(session)
        client = desk.client
        try:
            if client is None:  # no server yet: the outbox keeps it, the client takes it up when there is one
                command = (await desk.replica.add(session, op, clear_draft=clear_draft)).id
            else:
                command = await client.send(session, op, clear_draft=clear_draft)
            if refused is not None:
                self._listening[command] = refused
        except ReportableError:
            if failed is not None:
                failed()
            raise
        finally:
            self.storing -= 1
        if stored is not None:
            stored()
        self._report_refusals()

    def _on_answered(self, command: str, refusal: Refusal | None) -> None:
        if refusal is None:
            self._listening.pop(command, None)
        else:
            self._refused[command] = refusal
            self._report_refusals()

    def _report_refusals(self) -> None:
        """An answer may be here before `send` knows its command's id: while anything is being sent, it waits."""
        for command, refusal in list(self._refused.items()):
            listener = self._listening.pop(command, None)
            if listener is None and self.storing:
                continue
            del self._refused[command]
            if listener is not None:
                listener(refusal.error)
            elif words := words_of(refusal):
                self._notices.tell(words, "error", refusal.session)


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
