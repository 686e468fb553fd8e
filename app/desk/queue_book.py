"""The review queues of all servers, and which of them the reader works through."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from app.desk.cursor import Cursor
from app.desk.desk import Desk
from app.desk.desks import Desks
from app.desk.in_sight import InSight
from app.desk.notices import Notices
from app.desk.sender import Sender
from app.desk.session_key import id_of, key_of, server_of
from app.desk.settings import Settings
from app.kit.timers import single_shot
from core.domain.progress import Progress
from core.domain.queue import QueueItem, ReviewQueue, in_review, is_asked_blindly
from core.domain.session import SessionRow
from core.domain.session_query import InReview
from core.protocol.operations import QueueOp, TakeFromQueue

AWAY_MS = 600_000
"""A window that nobody has been at for so long keeps no session from others."""


class Shown(msgspec.Struct, frozen=True):
    """What the queue layout lists: the sessions of a queue (its key), or those that a filter says."""

    queue: str = ""
    query: str = ""
    title: str = ""


class QueueBook(QObject):
    """Queues have keys as sessions have: the id, with `@SERVER` where the server is not this computer's own."""

    changed = Signal()
    """Queues changed, or who reads what."""

    shown_changed = Signal()
    """Another list is chosen."""

    blindness_changed = Signal()
    """What the reader may see of others' opinions on the session in sight is not what it was."""

    session_chosen = Signal()
    """Another session of the list is chosen, to be seen in brief."""

    entered = Signal()
    """The reader goes on into a session of the list."""

    counted = Signal(int, int)
    """So many sessions are listed, of all that there are."""

    def __init__(self, desks: Desks, cursor: Cursor, sight: InSight, settings: Settings, sender: Sender,
                 notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desks, self._cursor, self._sight, self._settings = desks, cursor, sight, settings
        self._sender, self._notices = sender, notices
        self.shown = Shown()
        self.chosen = ""
        self.working = ""
        """The queue that the reader works through; "" for none."""
        self.place_in: Callable[[str], tuple[int, datetime | None]] = lambda _: (0, None)
        """Where the reader left a session, as whoever remembers it says: the step (0: none), and when."""
        self._awaited: tuple[str, frozenset[str]] | None = None
        self._wanted: Shown | None = None
        self._was_blind = ("", False)
        desks.queues_changed.connect(self._on_changed)
        desks.servers_changed.connect(self._on_changed)
        desks.link_changed.connect(self._look_again)
        settings.changed.connect(self._look_again)
        sight.opened.connect(self._say_reading)
        sight.opened.connect(self._look_again)
        self._away = single_shot(self, AWAY_MS, self.leave)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_state)

    # ---- reading ---------------------------------------------------------------------------------

    def all(self) -> list[tuple[str, ReviewQueue]]:
        """Every queue that is open, with its key, by server and age."""
        return [(key_of(queue.queue, desk.server), queue) for desk in self._desks.all for queue in desk.queues.queues
                if not queue.closed]

    def queue(self, key: str) -> ReviewQueue | None:
        """A queue by its key; None where it is not known."""
        return self._desks.of(key).queues.queue(id_of(key)) if key else None

    def items(self, key: str) -> list[tuple[str, QueueItem]]:
        """The sessions of a queue, by their keys, in its order."""
        return [(key_of(item.session, server_of(key)), item) for item in self._desks.of(key).queues.items(id_of(key))]

    def item(self, key: str, session: str) -> QueueItem | None:
        """A session in a queue."""
        same = bool(key) and server_of(key) == server_of(session)
        return self._desks.of(key).queues.item(id_of(key), id_of(session)) if same else None

    def me(self, key: str) -> str:
        """What the server of a queue or session calls the reader; "" while that is not known."""
        return self._desks.of(key).name

    def readers(self, session: str) -> list[str]:
        """Who else has a session open now."""
        desk = self._desks.of(session)
        return [one for one in desk.queues.readers.get(id_of(session), ()) if one != desk.name]

    def review(self, row: SessionRow) -> InReview:
        """What a filter asks of a session. Who is blind is told of no progress but their own."""
        desk = self._desks.of(row.session)
        found = in_review(row, desk.queues.of_session(id_of(row.session)), desk.name)
        if not self.is_blind(row.session):
            return found
        mine = row.judged.get(f"person:{desk.name}", Progress()).steps.total
        return msgspec.structs.replace(found, judged=mine, is_done=self._is_done(desk, row.session))

    def is_blind(self, session: str) -> bool:
        """Whether the reader is to see nothing of what others said of a session before the own word: in a blind queue
        also of one that they may still take."""
        return bool(self._settings.get("review.blind")) or self._is_asked_blind(session)

    def _is_asked_blind(self, session: str) -> bool:
        desk = self._desks.of(session)
        return desk.queues.has_blind and is_asked_blindly(desk.queues.of_session(id_of(session)), desk.name)

    def _is_done(self, desk: Desk, session: str) -> bool:
        held = [item.holder(desk.name) for _, item in desk.queues.of_session(id_of(session))]
        return any(h is not None for h in held) and all(h is None or bool(h.done) for h in held)

    def asks_of(self, session: str) -> str:
        """The queue whose work a session is: that which the reader works through, else one in which they have it."""
        if self.item(self.working, session) is not None:
            return self.working
        desk = self._desks.of(session)
        mine = [key_of(queue.queue, desk.server) for queue, item in desk.queues.of_session(id_of(session))
                if item.holder(desk.name) is not None and not queue.closed]
        return mine[0] if mine else ""

    def asking(self, session: str) -> ReviewQueue | None:
        """The queue that asks the reader for a session: one in which they have it; None where none does."""
        key = self.asks_of(session)
        item = self.item(key, session)
        return self.queue(key) if item is not None and item.holder(self.me(key)) is not None else None

    def have(self, session: str) -> None:
        """Who judges a session of the queue that they work through has it: nobody beyond those asked for does."""
        item = self.item(self.working, session)
        if item is not None and item.free and item.holder(self.me(session)) is None:
            self.send(self.working, TakeFromQueue(taken=id_of(session)))

    # ---- choosing --------------------------------------------------------------------------------

    def show(self, shown: Shown) -> None:
        """List a queue, or what a filter says."""
        if shown != self.shown:
            self.shown = shown
            self.shown_changed.emit()

    def choose(self, session: str) -> None:
        """Show a session of the list in brief."""
        if session != self.chosen:
            self.chosen = session
            self.session_chosen.emit()

    def enter(self, session: str, step: int | None = None) -> None:
        """Go on into a session; one of the listed queue is worked through from now on."""
        if self.item(self.shown.queue, session) is not None:
            self.working = self.shown.queue
        self.choose(session)
        if session != self._sight.session or step is not None:
            self._cursor.move(session, step)
        self.entered.emit()

    # ---- acting ----------------------------------------------------------------------------------

    def send(self, key: str, op: QueueOp) -> None:
        """Ask something of a queue; where its server is away, it waits, and the reader is told so."""
        self._sender.send(key, op)  # type: ignore[arg-type]
        if self._desks.of(key).link.state != "online":
            self._notices.tell(self.tr("The server is away: what you asked of the queue waits here and is decided when "
                                       "it is back."), "info")

    def await_queue(self, key: str, title: str) -> None:
        """List a queue that was asked for, as soon as its server has made it."""
        self._wanted = Shown(queue=key, title=title)
        self._on_changed()

    def go_next(self, by: int, *_: object) -> None:
        """Go to the next session of the queue that is left for the reader, or take one that nobody has."""
        key = self.asks_of(self._sight.session) or self.shown.queue or self._only()
        queue = self.queue(key)
        if queue is None:
            self._notices.tell(self.tr("No review queue is open: choose one in the Queue layout."), "info")
            return
        self.working = key
        mine = self._left(key)
        sessions = [session for session, _ in self.items(key)]
        at = sessions.index(self._sight.session) if self._sight.session in sessions else -1
        ahead = [*sessions[at + 1:], *sessions[:max(at, 0)]] if by > 0 else [
            *reversed(sessions[:max(at, 0)]), *reversed(sessions[at + 1:])]
        following = next((one for one in ahead if one in mine), None)
        if following is not None:
            self.enter(following)
        elif by > 0:
            self._take_next(key)
        else:
            self._notices.tell(self.tr("No other session of this queue is with you."), "info")

    def _only(self) -> str:
        """The one queue that there is, or the one of several in which the reader has something."""
        found = [key for key, _ in self.all()]
        mine = [key for key in found if self._left(key)]
        return (mine or found)[0] if len(mine or found) == 1 else ""

    def _left(self, key: str) -> set[str]:
        """The sessions of a queue that the reader has and is not done with."""
        me = self.me(key)
        return {session for session, item in self.items(key) if (h := item.holder(me)) is not None and not h.done}

    def _take_next(self, key: str) -> None:
        self._awaited = key, frozenset(session for session, item in self.items(key) if item.holder(self.me(key)))
        self.send(key, TakeFromQueue())

    def _on_changed(self) -> None:
        if self._awaited is not None:
            key, before = self._awaited
            fresh = [session for session, item in self.items(key)
                     if item.holder(self.me(key)) is not None and session not in before]
            if fresh:
                self._awaited = None
                self.enter(fresh[0])
        if self._wanted is not None and self.queue(self._wanted.queue) is not None:
            wanted, self._wanted = self._wanted, None
            self.show(wanted)
        self._look_again()
        self.changed.emit()

    def _look_again(self, *_: object) -> None:
        before, session = self._was_blind, self._sight.session
        self._was_blind = session, self.is_blind(session)
        if self._was_blind != before and session == before[0]:
            self.blindness_changed.emit()

    def _on_state(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self._away.stop()
            self._say_reading()
        else:
            self._away.start()

    def leave(self) -> None:
        """The reader went away: no session is theirs to read, until they are back at the window."""
        for desk in self._desks.all:
            if desk.client is not None:
                desk.client.read("")

    def _say_reading(self) -> None:
        """Each server is told which of its sessions the reader has open."""
        for desk in self._desks.all:
            if desk.client is not None:
                here = self._sight.session if server_of(self._sight.session) == desk.server else ""
                desk.client.read(id_of(here))
