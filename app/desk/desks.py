"""The desks of all servers as one: what every panel reads from. A session's key says which desk it is on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desk.desk import Desk, Link
from app.desk.fetches import Fetch
from app.desk.session_key import OWN, server_of

if TYPE_CHECKING:
    from app.desk.cursor import Cursor
    from core.domain.events import Placed
    from core.domain.session import SessionRow
    from core.domain.trajectory import Trajectory
    from core.store.outbox import Queued


class Desks(QObject):
    """The same signals and reads as one Desk. The first desk is this computer's own server's and always there."""

    rows_changed = Signal()
    trajectory_changed = Signal(str)
    trajectory_replaced = Signal(str)
    outbox_changed = Signal()
    link_changed = Signal()
    answered = Signal(str, object)
    live_text = Signal(str, str, str)
    blob_arrived = Signal(str)
    servers_changed = Signal()
    """A desk came or went."""

    def __init__(self, local: Desk, cursor: Cursor, parent: QObject | None = None) -> None:
        """The cursor's session is what payloads are fetched for: they have no session of their own."""
        super().__init__(parent)
        self.local = local
        self._cursor = cursor
        self._desks: dict[str, Desk] = {}
        self.add(local)

    @property
    def all(self) -> tuple[Desk, ...]:
        """Every desk, this computer's own first."""
        return tuple(self._desks.values())

    def add(self, desk: Desk) -> None:
        """Take a server's desk in."""
        self._desks[desk.server] = desk
        for name in ("rows_changed", "trajectory_changed", "trajectory_replaced", "outbox_changed", "link_changed",
                     "answered", "live_text", "blob_arrived"):
            getattr(desk, name).connect(getattr(self, name))
        self._tell_all()

    def remove(self, server: str) -> Desk | None:
        """Take a server's desk out; the caller closes it. This computer's own stays."""
        if server == OWN or server not in self._desks:
            return None
        desk = self._desks.pop(server)
        desk.disconnect(self)
        self._tell_all()
        return desk

    def close(self) -> None:
        """Read no more."""
        for desk in self.all:
            desk.close()

    # ---- reading ---------------------------------------------------------------------------------

    def of(self, session: str) -> Desk:
        """The desk of the session's server; this computer's own for a server that is not here any more."""
        return self._desks.get(server_of(session), self.local)

    @property
    def here(self) -> Desk:
        """The desk of the session that is looked at."""
        return self.of(self._cursor.session)

    @property
    def link(self) -> Link:
        """The connection of the session that is looked at."""
        return self.here.link

    def is_local(self, session: str) -> bool:
        """Whether a session is on this computer's own server."""
        return server_of(session) == OWN

    def rows(self) -> list[SessionRow]:
        """Every session of every server."""
        return [row for desk in self.all for row in desk.rows()]

    def row(self, session: str) -> SessionRow | None:
        """One session's row, None where the session is not known."""
        return self.of(session).row(session)

    def trajectory(self, session: str) -> Trajectory:
        """The trajectory as far as it is held here."""
        return self.of(session).trajectory(session)

    def progress(self, session: str) -> float:
        """How much of what is held of an open session is in its trajectory: 0 to 1."""
        return self.of(session).progress(session)

    def watch(self, session: str) -> None:
        """Ask the session's server for its events."""
        self.of(session).watch(session)

    def read(self, session: str, after: int = 0, limit: int = 256) -> Sequence[Placed]:
        """Events of a session after `after`, in order, a part at a time."""
        return self.of(session).read(session, after, limit)

    def head(self, session: str) -> int:
        """The seq of the newest event of a session that is held here."""
        return self.of(session).head(session)

    def draft(self, session: str) -> str:
        """What was being written to a session."""
        return self.of(session).draft(session)

    def guided(self) -> Iterator[tuple[str, Trajectory, list[Queued]]]:
        """Every session of every server to which something was said, read one by one."""
        return (told for desk in self.all for told in desk.guided())

    def commands(self, session: str) -> Sequence[Queued]:
        """What this computer told a session's server, newest first."""
        return self.of(session).commands(session)

    def waiting(self) -> int:
        """How many commands no server has answered yet."""
        return sum(desk.waiting() for desk in self.all)

    def name_of(self, session: str) -> str:
        """What the session's server calls the person who sits here."""
        return self.of(session).name_of(session)

    def log_path(self, session: str = "") -> Path:
        """The file that holds the copy of a session's log."""
        return self.of(session or self._cursor.session).log_path(session)

    # ---- payloads: named by their content, so any copy will do -------------------------------------

    def body(self, hash: str, callback: Callable[[bytes], None], absent: Callable[[], None] | None = None) -> Fetch:
        """Give a payload to `callback`, from any copy that holds it, else from the server of the cursor's session."""
        return self._holder(hash).body(hash, callback, absent)

    def held(self, hash: str) -> bytes | None:
        """A payload, None where no copy holds it."""
        return self._holder(hash).held(hash)

    def want(self, hashes: Iterable[str]) -> None:
        """Fetch payloads from the server of the cursor's session."""
        self.here.want(hashes)

    def _holder(self, hash: str) -> Desk:
        here = self.here
        if len(self._desks) == 1 or not here.replica.missing([hash]):
            return here
        return next((desk for desk in self.all if not desk.replica.missing([hash])), here)

    def _tell_all(self) -> None:
        self.servers_changed.emit()
        self.rows_changed.emit()
        self.outbox_changed.emit()
        self.link_changed.emit()
