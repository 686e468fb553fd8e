"""Fetches all of a session: every event and every payload, so that it can be reviewed without a network."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.events import blobs_of

if TYPE_CHECKING:
    from app.desk.desk import Desk

IN_FLIGHT = 64
"""Payloads that are asked for at a time: what the reader looks at meanwhile does not wait behind thousands."""

EVENTS_AT_ONCE = 256
AGAIN_MS = 1_000
"""What is still awaited is asked for again so often; a repeat costs nothing."""


class Download(QObject):
    """One session's fetching. It waits while the server is away, and ends when all is here, or by `cancel`."""

    progressed = Signal()
    ended = Signal(bool)
    """Whether everything that the server holds is here now."""

    def __init__(self, desk: Desk, session: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.absent = 0
        """Payloads that the server does not hold either."""
        self._desk = desk
        self._at = self._total = 0
        self._due: deque[str] = deque()
        self._known: set[str] = set()
        self._open: set[str] = set()
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._work_a_part)
        self._again = QTimer(self, interval=AGAIN_MS)
        self._again.timeout.connect(self._ask_again)
        for signal in (desk.rows_changed, desk.link_changed):
            signal.connect(self._timer.start)
        self._desk.blob_arrived.connect(self._on_came)
        self._desk.blob_absent.connect(self._on_absent)

    def start(self) -> None:
        """Begin."""
        self._desk.watch(self.session)
        self._timer.start()
        self._again.start()

    def cancel(self) -> None:
        """Fetch no more; what came stays."""
        self._end(False)

    @property
    def is_waiting(self) -> bool:
        """Whether the server is away."""
        return self._desk.link.state != "online"

    @property
    def share(self) -> float:
        """From 0 to 1; a third of it are the events."""
        row = self._desk.row(self.session)
        events = min(1.0, self._desk.head(self.session) / row.seq) if row is not None and row.seq else 0.0
        left = len(self._due) + len(self._open)
        return (events + 2 * events * (1 - left / len(self._known) if self._known else 1.0)) / 3

    def _work_a_part(self) -> None:
        """A part at a time, as often as the window has nothing else to do."""
        scanned = self._scan()
        self._ask()
        row = self._desk.row(self.session)
        whole = row is not None and self._at >= row.seq > 0
        if whole and not self._due and not self._open:
            self._end(True)
            return
        if not scanned:
            self._timer.stop()
        self.progressed.emit()

    def _scan(self) -> bool:
        placed = self._desk.read(self.session, self._at, EVENTS_AT_ONCE)
        for one in placed:
            fresh = [h for h in blobs_of(one.event.fact) if h not in self._known]
            self._known.update(fresh)
            self._due.extend(self._desk.replica.missing(dict.fromkeys(fresh)))
            self._at = one.seq
        return bool(placed)

    def _ask(self) -> None:
        due = [self._due.popleft() for _ in range(min(len(self._due), IN_FLIGHT - len(self._open)))]
        asked = self._desk.replica.missing(due)  # some came meanwhile, for a reader
        if asked:
            self._open.update(asked)
            self._desk.want(asked)

    def _ask_again(self) -> None:
        """Who looked at one and left took our asking back with theirs, and another client knows nothing of it."""
        self._open = set(self._desk.replica.missing(self._open))
        self._desk.want(self._open)
        self._timer.start()

    def _on_came(self, hash: str) -> None:
        if hash in self._open:
            self._open.discard(hash)
            self._timer.start()

    def _on_absent(self, hash: str) -> None:
        self.absent += hash in self._open
        self._on_came(hash)

    def _end(self, whole: bool) -> None:
        self._timer.stop()
        self._again.stop()
        for signal in (self._desk.rows_changed, self._desk.link_changed):
            signal.disconnect(self._timer.start)
        self._desk.blob_arrived.disconnect(self._on_came)
        self._desk.blob_absent.disconnect(self._on_absent)
        self.ended.emit(whole)
