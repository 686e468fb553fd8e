"""The desks of all servers, and what is true of all of them together. A session's key says which desk it is on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desk.desk import Desk
from app.desk.desk_signals import DeskSignals
from app.desk.session_key import OWN, server_of

if TYPE_CHECKING:
    from core.domain.session import SessionRow
    from core.domain.trajectory import Trajectory
    from core.store.outbox import Queued

FORWARDED = tuple(name for name, member in vars(DeskSignals).items() if isinstance(member, Signal))


class Desks(DeskSignals):
    """Announces what any desk announces. The first desk is this computer's own server's and always there."""

    servers_changed = Signal()
    """A desk came or went."""

    def __init__(self, local: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.local = local
        self._desks: dict[str, Desk] = {}
        self.add(local)

    @property
    def all(self) -> tuple[Desk, ...]:
        """Every desk, this computer's own first."""
        return tuple(self._desks.values())

    def of(self, session: str) -> Desk:
        """The desk of the session's server; this computer's own for a server that is not here any more."""
        return self._desks.get(server_of(session), self.local)

    def add(self, desk: Desk) -> None:
        """Take a server's desk in."""
        self._desks[desk.server] = desk
        for name in FORWARDED:
            getattr(desk, name).connect(getattr(self, name))
        self._announce_all()

    def remove(self, server: str) -> Desk | None:
        """Take a server's desk out; the caller closes it. This computer's own stays."""
        if server == OWN or server not in self._desks:
            return None
        desk = self._desks.pop(server)
        desk.disconnect(self)
        self._announce_all()
        return desk

    def close(self) -> None:
        """Read no more."""
        for desk in self.all:
            desk.close()

    # ---- of all servers --------------------------------------------------------------------------

    def rows(self) -> list[SessionRow]:
        """Every session of every server."""
        return [row for desk in self.all for row in desk.rows()]

    def guided(self) -> Iterator[tuple[str, Trajectory, list[Queued]]]:
        """Every session of every server to which guidance was written, read one by one."""
        return (found for desk in self.all for found in desk.guided())

    def waiting(self) -> int:
        """How many commands no server has answered yet."""
        return sum(desk.waiting() for desk in self.all)

    def holder(self, hash: str, rather: Desk) -> Desk:
        """A desk whose copy holds a payload, which is named by its content, so that any will do; else `rather`."""
        if len(self._desks) == 1 or not rather.replica.missing([hash]):
            return rather
        return next((desk for desk in self.all if not desk.replica.missing([hash])), rather)

    def _announce_all(self) -> None:
        self.servers_changed.emit()
        self.rows_changed.emit()
        self.outbox_changed.emit()
        self.link_changed.emit()
