"""What is in sight: the session and the step that are looked at, and when they change. What panels listen to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desk.cursor import Cursor
from app.desk.desks import Desks
from core.domain.session import FINAL_STATES

if TYPE_CHECKING:
    from app.desk.desk import Desk
    from core.domain.session import SessionRow
    from core.domain.trajectory import Trajectory


class InSight(QObject):
    """Follows the cursor and the desk, so that no panel has to ask whether what changed is what it shows.

    A move to another session emits `left`, `opened`, `stepped`, in this order, each to every listener before the next
    begins; a move within the session `stepped` alone. What comes emits `grew`; another log `replaced`, then `grew`. Who
    acts on what panels show by then listens to `arrived` and `settled`, for panels come at any time. Nothing is emitted
    of a session that is not in sight, and nothing is read before a listener asks for it but the end of a run that was
    over.
    """

    left = Signal()
    """The session goes out of sight: `session` and `step` still name it. Not emitted where there was none."""

    opened = Signal()
    """Another session is in sight, or none."""

    arrived = Signal()
    """All have heard of `opened`."""

    stepped = Signal()
    """The cursor moved: emitted once for every move."""

    grew = Signal()
    """The trajectory in sight holds more than before."""

    settled = Signal()
    """All have heard of `stepped`, or of `grew`."""

    replaced = Signal()
    """The server's log of the session is another one: `trajectory` is another object, what was held is stale."""

    def __init__(self, desks: Desks, cursor: Cursor, parent: QObject | None = None) -> None:
        """To be made before whoever else listens to `desks` and `cursor`."""
        super().__init__(parent)
        self._desks, self._cursor = desks, cursor
        self._session, self._step = cursor.session, cursor.step
        self._end: int | None = None
        """The last step of a session that was over when it came into sight; 0: it went on, None: not known yet."""
        cursor.moved.connect(self._on_moved)
        desks.trajectory_changed.connect(self._on_changed)
        desks.trajectory_replaced.connect(self._on_replaced)

    @property
    def session(self) -> str:
        """The session; "" when none is in sight."""
        return self._session

    @property
    def step(self) -> int | None:
        """The step; None at the live tail."""
        return self._step

    @property
    def desk(self) -> Desk:
        """The desk of the session's server; this computer's own where no session is in sight."""
        return self._desks.of(self._session)

    @property
    def is_over(self) -> bool:
        """Whether it was read from a file and was over when it came into sight: then its end is followed by choice."""
        return bool(self._end)

    @property
    def row(self) -> SessionRow | None:
        """The session's row; None where no session is in sight, or one that is not known yet."""
        return self.desk.row(self._session) if self._session else None

    @property
    def trajectory(self) -> Trajectory | None:
        """The trajectory as far as it is held here; None where no session is in sight."""
        return self.desk.trajectory(self._session) if self._session else None

    def holder(self, hash: str) -> Desk:
        """The desk to ask for a payload of what is in sight: whose copy holds it, else that of the session's server."""
        return self._desks.holder(hash, self.desk)

    def _on_moved(self, session: str, step: int | None) -> None:
        is_another = session != self._session
        if is_another and self._session:
            self.left.emit()
        self._session, self._step = session, step
        if is_another:
            self._end = None
            self._look_at_end()
            self.opened.emit()
            self.arrived.emit()
        self.stepped.emit()
        self.settled.emit()

    def _on_changed(self, session: str) -> None:
        if session == self._session:
            self._stay()
            self.grew.emit()
            self.settled.emit()

    def _look_at_end(self) -> None:
        """Remember the end of a session that was read from a file and is over, as soon as all of it is here."""
        row = self.row
        if row is None or self._end == 0:
            return
        if self._end is None and (row.origin == "live" or row.state not in FINAL_STATES):
            self._end = 0
        elif self.desk.progress(self._session) >= 1 and (trajectory := self.trajectory) and trajectory.steps:
            self._end = int(trajectory.steps.numbers[-1])

    def _stay(self) -> None:
        """A file that was at its end and grows takes nobody along who did not choose to follow: they stand at the step
        that was its last."""
        trajectory, end = self.trajectory, self._end
        if (end and self._step is None and not self._cursor.follows and trajectory is not None
                and trajectory.steps and trajectory.steps.numbers[-1] != end and trajectory.index_of(end) is not None):
            self._cursor.to_step(end)
        self._look_at_end()

    def _on_replaced(self, session: str) -> None:
        if session == self._session:
            self.replaced.emit()
            self._on_changed(session)
