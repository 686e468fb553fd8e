"""Two sessions step by step: aligned on their common beginning, side by side from where they part."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.desk.row_text import head_line
from app.kit import theme
from core.domain.step import StepHead
from core.domain.trajectory import Trajectory

Index = QModelIndex | QPersistentModelIndex
SAME = 40
"""The tint of the row where they part."""


def common_steps(left: Trajectory, right: Trajectory, known: int = 0) -> int:
    """How many steps both begin with: the same tools on the same things with the same end. `known` are known to be."""
    count = known
    for a, b in zip(islice(left.steps, known, None), islice(right.steps, known, None), strict=False):
        if _act(a.head) != _act(b.head):
            break
        count += 1
    return count


class ComparisonModel(QAbstractTableModel):
    """Row N holds the Nth step of both; nothing is copied from the trajectories."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sides: tuple[Trajectory | None, Trajectory | None] = (None, None)
        self.common = 0
        self._rows = 0
        self._parted = False

    def show(self, left: Trajectory | None, right: Trajectory | None) -> None:
        """Compare two others."""
        self.beginResetModel()
        self.sides = (left, right)
        self.common, self._parted = 0, False
        self._compare()
        self._rows = self._longest() if left is not None and right is not None else 0
        self.endResetModel()

    def refresh(self) -> None:
        """Take what the trajectories got since."""
        left, right = self.sides
        if left is None or right is None:
            return
        before = self.common
        self._compare()
        rows, known = self._longest(), self._rows
        if rows > known:
            self.beginInsertRows(QModelIndex(), known, rows - 1)
            self._rows = rows
            self.endInsertRows()
        if known:  # steps are never told otherwise: only where they part, and what came, looks different
            self.dataChanged.emit(self.index(min(before, known - 1), 0), self.index(rows - 1, 1))

    def _compare(self) -> None:
        """Go on comparing where it ended; once they have parted they stay parted."""
        left, right = self.sides
        if left is not None and right is not None and not self._parted:
            self.common = common_steps(left, right, self.common)
            self._parted = self.common < min(len(left.steps), len(right.steps))

    def head(self, row: int, side: int) -> StepHead | None:
        """The step of a row on one side; None where that session is over."""
        trajectory = self.sides[side]
        return trajectory.steps[row].head if trajectory is not None and 0 <= row < len(trajectory.steps) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """The steps of the longer one."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """Two."""
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """What a step does, and in which colour it says so."""
        head = self.head(index.row(), index.column()) if index.isValid() else None
        if head is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return head_line(head)
        if role == Qt.ItemDataRole.ForegroundRole:
            same = index.row() < self.common
            return theme.colour("error" if head.is_error else "muted" if same else "ink")
        if role == Qt.ItemDataRole.BackgroundRole and index.row() == self.common:
            return theme.tint("attention", SAME)
        return None

    def _longest(self) -> int:
        return max((len(t.steps) for t in self.sides if t is not None), default=0)


def _act(head: StepHead) -> tuple[object, ...]:
    return head.tools, head.title, head.is_error, head.error_kind
