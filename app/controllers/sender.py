"""The one way from a panel to a session of any server: an operation goes into the outbox, a refusal is a notice."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.desks import Desks
from app.notices import Notices
from app.session_key import id_of
from core.aio import TaskScope
from core.domain.errors import ReportableError, make_error
from core.protocol.messages import AnyOp, Nak


class Sender(QObject):
    """Sends operations for the controllers. Works without a server: the outbox keeps them until there is one."""

    def __init__(self, desk: Desks, scope: TaskScope, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._scope = scope
        self._notices = notices
        self.storing = 0
        """How many writes are on their way to the disk; the window does not close before they are there."""

    def send(self, session: str, op: AnyOp, *, stored: Callable[[], None] | None = None,
             failed: Callable[[], None] | None = None, refused: Callable[[ReportableError], None] | None = None,
             clear_draft: bool = False) -> None:
        """Send an operation; `stored` is called once it cannot be lost any more, `failed` if the disk would not have it
        (which is shown as a notice, too), `refused` if the server says no.

        Without `refused` a refusal is shown as a notice. `clear_draft` clears the session's draft with the same commit.
        """
        self.storing += 1
        self._scope.spawn(self._send(session, op, stored, failed, refused, clear_draft),
                          name=f"send {type(op).__name__}", on_error=self._notices.report)

    def keep_draft(self, session: str, text: str) -> None:
        """Put what is being written to a session on disk; an empty text clears it."""
        self.storing += 1
        self._scope.spawn(self._keep_draft(session, text), name="keep draft", on_error=self._notices.report)

    async def _keep_draft(self, session: str, text: str) -> None:
        try:
            await self._desk.of(session).replica.save_draft(id_of(session), text)
        finally:
            self.storing -= 1

    async def _send(self, session: str, op: AnyOp, stored: Callable[[], None] | None,
                    failed: Callable[[], None] | None, refused: Callable[[ReportableError], None] | None,
                    clear_draft: bool) -> None:
        desk, session = self._desk.of(session), id_of(session)
        client = desk.client
        try:
            if client is None:  # no server yet: the outbox keeps it, the client takes it up when there is one
                await desk.replica.add(session, op, clear_draft=clear_draft)
                command = ""
            else:
                command = await client.send(session, op, clear_draft=clear_draft)
        except ReportableError:
            if failed is not None:
                failed()
            raise
        finally:
            self.storing -= 1
        if stored is not None:
            stored()
        answer = await client.answer(command) if client is not None else None
        if isinstance(answer, Nak):
            (refused or self._notices.report)(make_error(answer.kind, answer.code, answer.sentence, answer.params))
