"""Sessions step by step: aligned on their common beginning, side by side from where each parts from the first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from app.desk.row_text import head_line
from app.kit import theme
from app.kit.flat_model import Index
from core.domain.step import StepHead
from core.domain.trajectory import Trajectory

SAME = 40
"""The tint of the row where they part."""

MOST_SHARED = 10_000_000
"""Steps that a branch may have from another session; a file that names more is not believed, and no view has so many
rows."""


class ComparisonModel(QAbstractTableModel):
    """Row N holds the Nth step of all; nothing is copied from the trajectories.

    A branch has no steps of its own up to its base: what it shares with the session that it branched from is there.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sides: tuple[Trajectory | None, ...] = ()
        self.same: list[int] = []
        """Per side but the first, how many rows are the same as there; it may be more yet where it is not `parted`."""
        self.parted: set[int] = set()
        self.titles: tuple[str, ...] = ()
        self._rows = 0

    @property
    def common(self) -> int:
        """How many rows all begin with."""
        return min(self.same, default=0)

    def show(self, *sides: Trajectory | None, titles: Sequence[str] = ()) -> None:
        """Compare others; nothing is shown where one is not here. `titles` stand above the columns."""
        self.beginResetModel()
        self.sides, self.titles = sides, tuple(titles)
        self.same, self.parted = [0] * max(0, len(sides) - 1), set()
        self._compare()
        self._rows = self._longest() if self._is_whole() else 0
        self.endResetModel()

    def refresh(self) -> None:
        """Take what the trajectories got since."""
        if not self._is_whole():
            return
        before = self.common
        self._compare()
        rows, known = self._longest(), self._rows
        if rows > known:
            self.beginInsertRows(QModelIndex(), known, rows - 1)
            self._rows = rows
            self.endInsertRows()
        if known:  # steps are never told otherwise: only where they part, and what came, looks different
            self.dataChanged.emit(self.index(min(before, known - 1), 0), self.index(rows - 1, len(self.sides) - 1))

    def _is_whole(self) -> bool:
        return len(self.sides) > 1 and None not in self.sides

    def _compare(self) -> None:
        """Go on comparing where it ended; who has parted stays parted."""
        for side in range(1, len(self.sides)) if self._is_whole() else ():
            if side not in self.parted:
                self._compare_side(side)

    def _compare_side(self, side: int) -> None:
        row = max(self.same[side - 1], self._base(0), self._base(side))
        while (left := self.head(row, 0)) is not None and (right := self.head(row, side)) is not None:
            if _act(left) != _act(right):
                self.parted.add(side)
                break
            row += 1
        self.same[side - 1] = min(row, self._length(0), self._length(side))

    def head(self, row: int, side: int) -> StepHead | None:
        """The step of a row on one side; None where that session is over, or has it from another."""
        trajectory = self.sides[side]
        place = row - self._base(side)
        return trajectory.steps[place].head if trajectory is not None and 0 <= place < len(trajectory.steps) else None

    def row_of(self, side: int, step: int) -> int | None:
        """The row of a step of one side."""
        trajectory = self.sides[side]
        at = trajectory.index_of(step) if trajectory is not None else None
        return None if at is None else at + self._base(side)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """The steps of the longest one."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """One for each session."""
        return 0 if parent.isValid() else len(self.sides)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
                   ) -> object:
        """Which session a column is."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.titles[section] if section < len(self.titles) else None
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """What a step does, and in which colour it says so."""
        head = self.head(index.row(), index.column()) if index.isValid() else None
        if head is None:
            return self._shared(index, role) if index.isValid() else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return head_line(head)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.colour("error" if head.is_error else "muted" if self._is_same(index) else "ink")
        if role == Qt.ItemDataRole.BackgroundRole and self._parts_at(index):
            return theme.tint("attention", SAME)
        return None

    def _shared(self, index: Index, role: int) -> object:
        """A step that a branch has from the session that it branched from."""
        if index.row() >= self._base(index.column()):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.tr("shared step {n}").format(n=index.row() + 1)
        return theme.colour("muted") if role == Qt.ItemDataRole.ForegroundRole else None

    def _is_same(self, index: Index) -> bool:
        return index.row() < (self.same[index.column() - 1] if index.column() else self.common)

    def _parts_at(self, index: Index) -> bool:
        """The first side marks where the first of the others parts, each other one where it does itself."""
        return index.row() == (self.same[index.column() - 1] if index.column() else self.common)

    def _base(self, side: int) -> int:
        trajectory = self.sides[side]
        branched = trajectory.branched if trajectory is not None else None
        return branched.base if branched is not None and branched.base <= MOST_SHARED else 0

    def _length(self, side: int) -> int:
        trajectory = self.sides[side]
        return self._base(side) + len(trajectory.steps) if trajectory is not None else 0

    def _longest(self) -> int:
        return max((self._length(side) for side in range(len(self.sides))), default=0)


def _act(head: StepHead) -> tuple[object, ...]:
    return head.tools, head.title, head.is_error, head.error_kind
