"""Which files steps read: the heads of the steps that read are looked at, some milliseconds at a time."""

from __future__ import annotations

from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.trajectory import Trajectory
from core.formats.tools import table_of

SLICE_S, PAUSE_MS = 0.006, 4
"""How long looking may hold the window, and how long it then rests."""


class ReadPaths(QObject):
    """The paths that the steps of a trajectory read, each with the numbers of these steps, in order."""

    grew = Signal()
    """More is known than before."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.steps: dict[str, list[int]] = {}
        self._trajectory: Trajectory | None = None
        self._at = 0
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._look_at_heads)

    def show(self, trajectory: Trajectory | None) -> None:
        """Look at a trajectory, from where it was looked at last."""
        if trajectory is not self._trajectory:
            self._trajectory, self._at, self.steps = trajectory, 0, {}
        if trajectory is not None and self._at < len(trajectory.steps):
            self._timer.start()

    def _look_at_heads(self) -> None:
        until, before = perf_counter() + SLICE_S, sum(map(len, self.steps.values()))
        trajectory = self._trajectory
        if trajectory is None:
            self._timer.stop()
            return
        table = table_of(trajectory.created.origin if trajectory.created else "")
        steps = trajectory.steps
        reads = [bool(shape.tools) and table.tool(shape.tools[0]).kind == "read" for shape in steps.shapes]
        while self._at < len(steps) and perf_counter() < until:
            if reads[steps.shape_of[self._at]]:
                self._take(self._at)
            self._at += 1
        if self._at >= len(steps):
            self._timer.stop()
        if sum(map(len, self.steps.values())) != before:
            self.grew.emit()

    def _take(self, at: int) -> None:
        assert self._trajectory is not None
        head = self._trajectory.steps[at].head
        path = head.title.removeprefix(head.tools[0]).strip().partition(" · ")[0].partition(" (+")[0]
        if path and not head.is_error:
            self.steps.setdefault(path, []).append(head.number)
