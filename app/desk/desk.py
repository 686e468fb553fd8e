"""The desk of one server: its replica, its client and the open trajectories, as Qt signals. What panels read from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer

from app.desk.desk_signals import DeskSignals
from app.desk.fetches import Fetch, Fetches
from app.desk.fold import AT_ONCE, Folder
from app.desk.link_status import LinkStatus, link_status
from app.desk.queue_shelf import QueueShelf
from app.desk.refusal import Refusal
from app.desk.session_key import OWN, id_of, key_of
from core.domain.errors import make_error
from core.domain.session import SessionRow
from core.protocol.messages import Nak

if TYPE_CHECKING:
    from core.client.client import Client
    from core.client.replica import Replica
    from core.domain.events import Placed
    from core.domain.queue import QueueState, Reader
    from core.domain.trajectory import Trajectory
    from core.protocol.messages import Ack
    from core.store.outbox import Queued

FLUSH_MS = 8
"""Changes are told at most this often (half a screen refresh), and so that telling them takes no more than a third of
the time: the first at once, later ones together."""

MOST_OPEN = 6
"""How many trajectories stay folded in memory."""

MOST_WATCHED = 100
"""How many sessions, the last that were opened, are kept up to date; a server takes 256 from one connection."""


class Desk(DeskSignals):
    """One server's replica and client for the GUI: cheap synchronous reads, conflated signals, bodies on demand.

    Sessions are named by their keys (`app.desk.session_key`); only the replica and the client are given a bare id.
    """

    def __init__(self, replica: Replica, client: Client | None = None, parent: QObject | None = None,
                 server: str = OWN) -> None:
        super().__init__(parent)
        self.server, self.replica, self.client = server, replica, client
        self.queues = QueueShelf(replica)
        self._folder = Folder(replica, self._on_folded, self)
        self._open: OrderedDict[str, Trajectory] = OrderedDict()
        self._watched: OrderedDict[str, None] = OrderedDict()
        self._fetches = Fetches(replica, self)
        self._dirty: set[str] = set()
        self._rows_dirty = False
        self._since = datetime.now(UTC)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._fold_changed)
        self._next_at = 0.0
        self._closed = False
        self._remembered = replica.person
        self._connect()

    # ---- reading ---------------------------------------------------------------------------------

    def rows(self) -> list[SessionRow]:
        """Every session that is known, in the replica's order."""
        rows = self.replica.rows()
        return rows if self.server == OWN and not self._folder.unreadable else [self._named(row) for row in rows]

    def row(self, session: str) -> SessionRow | None:
        """One session's row, None where the session is not known, and once the desk is closed: a panel's clock may tick
        while a window is taken down."""
        row = None if self._closed else self.replica.row(id_of(session))
        return self._named(row) if row is not None else None

    def trajectory(self, session: str) -> Trajectory:
        """The trajectory as far as the replica holds it; kept folded, brought up to date by events.

        A long session that is opened for the first time grows for some seconds: see `progress`.
        """
        held = self._open.get(session)
        if held is None:
            held = self._open[session] = self._folder.open(session)
            if session in self._folder.unreadable:
                self._on_rows()
            while len(self._open) > MOST_OPEN:
                self._folder.leave(self._open.popitem(last=False)[0])
        self._open.move_to_end(session)
        return held

    def progress(self, session: str) -> float:
        """How much of an open session is in its trajectory, 0 to 1; 1 once it has what is here. It is a share of all
        that the server has: while more comes it never goes back."""
        held, row = self._open.get(session), self.row(session)
        if held is None or not self._folder.is_behind(session):
            return 1.0
        return self._folder.progress(session, held, row.seq if row is not None else 0)

    @property
    def link(self) -> LinkStatus:
        """The connection now; without a client it is off, since the desk was made or the reader took it off."""
        return link_status(self.client, self._since)

    def body(self, hash: str, callback: Callable[[bytes], None], absent: Callable[[], None] | None = None) -> Fetch:
        """Give a payload to `callback`: at once when it is here, else when the server has sent it, before all that
        was asked for earlier. `absent` is called when the server does not hold it.

        Cancel the returned Fetch when the reader has moved on; a stale answer is then dropped.
        """
        return self._fetches.ask(hash, callback, absent)

    def read(self, session: str, after: int = 0, limit: int = 256) -> Sequence[Placed]:
        """Events of a session after `after`, in order, a part at a time."""
        return self.replica.read(id_of(session), after, limit)

    def head(self, session: str) -> int:
        """The seq of the newest event of a session that is held here."""
        return self.replica.head(id_of(session))

    def held(self, hash: str) -> bytes | None:
        """A payload, None where it is not here; `want` it then."""
        return self.replica.body(hash)

    def want(self, hashes: Iterable[str]) -> None:
        """Fetch payloads; `blob_arrived` tells of each. Nothing happens without a server."""
        if self.client is not None:
            self.client.want(list(hashes))

    def draft(self, session: str) -> str:
        """What was being written to a session."""
        return self.replica.draft(id_of(session))

    def guided(self) -> Iterator[tuple[str, Trajectory, list[Queued]]]:
        """Every session (its key) to which something was said: its guidance and row alone, and what was sent of it."""
        return ((key_of(made.session, self.server), made, sent) for made, sent in self.replica.guided())

    def commands(self, session: str) -> Sequence[Queued]:
        """What this computer told a session's server, newest first."""
        return self.replica.commands(id_of(session))

    def waiting(self) -> int:
        """How many commands the server has not answered yet."""
        return len(self.replica.waiting())

    @property
    def name(self) -> str:
        """What the server calls the person who sits here, or did when it was reached last; "" before that."""
        return (self.client.status.name if self.client is not None else "") or self._remembered

    def watch(self, session: str) -> None:
        """Ask the server for a session's events, from now on or as soon as there is one."""
        if not session:
            return
        self._watched[session] = None
        self._watched.move_to_end(session)
        if self.client is not None:
            self.client.watch(id_of(session))
        while len(self._watched) > MOST_WATCHED:
            oldest, _ = self._watched.popitem(last=False)
            if self.client is not None:
                self.client.unwatch(id_of(oldest))

    def unwatch(self, session: str) -> None:
        """Ask for a session's events no more."""
        self._watched.pop(session, None)
        if self.client is not None:
            self.client.unwatch(id_of(session))

    def attach(self, client: Client) -> None:
        """Work with a client from now on; what was watched and wanted is asked of it too."""
        if self.client is not client:
            self._leave()
        self.client = client
        client.on_status.append(self._on_status)
        client.on_live.append(self._on_live)
        client.on_absent.append(self._on_absent)
        client.on_readers.append(self._on_readers)
        for session in self._watched:
            client.watch(id_of(session))
        self._fetches.attach(client)
        self.link_changed.emit()

    def detach(self) -> None:
        """Work without a server from now on, by the reader's choice."""
        self._leave()
        self.client = None
        self._fetches.attach(None)
        self._since = datetime.now(UTC)
        self.link_changed.emit()

    def _leave(self) -> None:
        if self.client is not None:
            self.client.on_status.clear()
            self.client.on_live.clear()
            self.client.on_absent.clear()
            self.client.on_readers.clear()
            self.queues.take_readers(())

    def close(self) -> None:
        """Read no more: the replica is about to be closed, and a flush may still be due."""
        self._closed = True
        self._timer.stop()
        self._folder.close()

    # ---- what comes ------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.replica.rows_changed.append(self._on_rows)
        self.replica.events_added.append(self._on_events)
        self.replica.queues_changed.append(self._on_queues)
        self.replica.outbox_changed.append(self.outbox_changed.emit)
        self.replica.command_answered.append(self._on_answer)
        self.replica.blob_arrived.append(self._on_blob)
        self.replica.copies_dropped.append(self._on_dropped)
        self.replica.session_deleted.append(self._on_deleted)
        if self.client is not None:
            self.attach(self.client)

    def _on_queues(self, state: QueueState | None) -> None:
        self.queues.take(state)
        self.queues_changed.emit()

    def _on_readers(self, readers: Sequence[Reader]) -> None:
        self.queues.take_readers(readers)
        self.queues_changed.emit()

    def _on_status(self, *_: object) -> None:
        self._remembered = self.name
        if self.link.state != "online" and self.queues.readers:
            self._on_readers(())
        self.link_changed.emit()

    def _on_answer(self, reply: Ack | Nak) -> None:
        refusal = None
        if isinstance(reply, Nak):
            command = self.replica.command(reply.id)
            error = make_error(reply.kind, reply.code, reply.sentence, reply.params)
            refusal = Refusal(key_of(command.session, self.server), command.op, error)
        self.answered.emit(reply.id, refusal)

    def _on_live(self, session: str, channel: str, text: str) -> None:
        self.live_text.emit(key_of(session, self.server), channel, text)

    def _named(self, row: SessionRow) -> SessionRow:
        key = key_of(row.session, self.server)
        why = row.unreadable or self._folder.unreadable.get(key, "")
        return row if row.session == key and row.unreadable == why else msgspec.structs.replace(
            row, session=key, unreadable=why)

    def _on_rows(self) -> None:
        self._rows_dirty = True
        self._soon()

    def _on_events(self, session: str, first: int, last: int) -> None:
        self._dirty.add(key_of(session, self.server))
        self._rows_dirty = True
        self._soon()

    def _on_dropped(self, session: str | None) -> None:
        gone = list(self._open) if session is None else [key_of(session, self.server)]
        for one in gone:
            self._folder.forget(one)
            if self._open.pop(one, None) is not None:
                self.trajectory_replaced.emit(one)
        self._on_rows()

    def _on_deleted(self, session: str) -> None:
        self._watched.pop(key_of(session, self.server), None)
        self.session_deleted.emit(key_of(session, self.server))

    def _on_blob(self, hash: str) -> None:
        self._fetches.came(hash)
        self.blob_arrived.emit(hash)

    def _on_absent(self, hash: str) -> None:
        self._fetches.absent(hash)
        self.blob_absent.emit(hash)

    def _soon(self) -> None:
        if not self._closed and not self._timer.isActive():
            self._timer.start(max(0, int((self._next_at - monotonic()) * 1000)))

    def _fold_changed(self) -> None:
        began = monotonic()
        dirty, self._dirty = self._dirty, set()
        for session in dirty:
            if session in self._open and not self._folder.is_behind(session):
                self._folder.catch_up(self._open[session], AT_ONCE)
                self._on_folded(session)
        if self._rows_dirty:
            self._rows_dirty = False
            self.rows_changed.emit()
        self._next_at = began + max(FLUSH_MS / 1000, 3 * (monotonic() - began))

    def _on_folded(self, session: str) -> None:
        if session in self._folder.unreadable:
            self._on_rows()
        if session in self._open:
            self.trajectory_changed.emit(session)
