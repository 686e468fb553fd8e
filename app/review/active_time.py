"""How long a person is at work on each step: only while the window is in front and keys or mouse are used.

Nothing is told of who merely looks: the time goes into the log once that person has judged something in the session.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QWindow

from app.desk.workplace import Workplace
from core.domain.errors import ReportableError
from core.protocol.operations import TellTime

TICK_MS = 1_000
SEND_S = 60.0
"""What was gathered is told at most this often, and when the session is left."""

MOST_STEPS = 1_000
_INPUT = (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel,
          QEvent.Type.TouchBegin)


class ActiveTime(QObject):
    """Gathers seconds by session and step. `clock` gives seconds; `is_front` whether the window is in front."""

    changed = Signal()

    def __init__(self, place: Workplace, parent: QObject, *, clock: Callable[[], float] = monotonic,
                 is_front: Callable[[], bool] | None = None) -> None:
        super().__init__(parent)
        self._place, self._clock = place, clock
        self._is_front = is_front or _is_front
        self._seconds: dict[str, dict[int, float]] = {}
        self._judged: set[str] = set()
        self._used = -1e9
        self._last = self._sent_at = clock()
        self._refused: set[str] = set()
        self._windows: set[int] = set()
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self.tick)
        self._timer.start()
        place.sight.left.connect(self._on_left)
        place.sight.stepped.connect(self.tick)
        for entry in place.actions.table:  # a key that is a command's never reaches the window as a key
            place.actions[entry.key].triggered.connect(self.used)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.focusWindowChanged.connect(self._on_window)
            self._on_window(app.focusWindow())

    def of(self, session: str) -> dict[int, float]:
        """What was gathered and not told yet: seconds by step."""
        return self._seconds.get(session, {})

    def judged(self, session: str) -> None:
        """The person judged something there: from now on the time is told."""
        self.used()
        self._judged.add(session)

    def used(self, *_: object) -> None:
        """A key or the mouse was used now."""
        self.tick()
        self._used = self._clock()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whatever reaches a window of ours by key or mouse."""
        if event.type() in _INPUT:
            self._used = self._clock()
        return False

    def tick(self) -> None:
        """Count what passed since the last tick, if it was at work."""
        now = self._clock()
        passed, self._last = now - self._last, now
        idle = float(self._place.settings.get("review.idle"))
        step = self._step()
        if not self._place.settings.get("review.time") or not passed > 0 or not step or not self._is_front():
            return
        active = min(now, self._used + idle) - (now - passed)  # a break counts up to the idle limit and no further
        if active > 0:
            held = self._seconds.setdefault(self._place.sight.session, {})
            held[step] = held.get(step, 0.0) + min(active, passed)
            self.changed.emit()
        if now - self._sent_at >= SEND_S:
            self.send_times()

    def send_times(self) -> None:
        """Put what was gathered into the logs of the sessions that were judged."""
        self._sent_at = self._clock()
        for session in [s for s in self._seconds if s in self._judged and s not in self._refused]:
            gathered = self._seconds.pop(session)
            rounded = {step: round(seconds, 1) for step, seconds in gathered.items() if seconds >= 0.1}
            steps = sorted(rounded)
            for first in range(0, len(steps), MOST_STEPS):
                part = {step: rounded[step] for step in steps[first : first + MOST_STEPS]}
                self._place.sender.send(session, TellTime(seconds=part), refused=partial(self._on_refused, session))

    def _on_refused(self, session: str, error: ReportableError) -> None:
        """An account that may not review, or an older server: nothing more is told, and nobody is bothered."""
        self._refused.add(session)

    def _on_left(self) -> None:
        self.tick()
        self.send_times()

    def _step(self) -> int:
        """The step that is looked at: at the live tail the newest."""
        sight = self._place.sight
        if sight.step is not None or (trajectory := sight.trajectory) is None:
            return sight.step or 0
        return trajectory.steps[-1].head.number if len(trajectory.steps) else 0

    def _on_window(self, window: QWindow | None) -> None:
        if window is not None and id(window) not in self._windows:
            self._windows.add(id(window))
            window.installEventFilter(self)


def _is_front() -> bool:
    return QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive
