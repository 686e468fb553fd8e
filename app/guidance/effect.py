"""What the agent did after a message, beside the steps before it: rows of two columns, and each side in numbers."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from app.desk.row_text import head_line
from app.kit import quantities, theme
from app.kit.flat_model import Index
from app.kit.i18n import plural
from core.domain.step import StepHead
from core.domain.trajectory import Trajectory

SHOWN_STEPS = 8
"""So many steps of each side."""


class SideNumbers(msgspec.Struct, frozen=True):
    """One side: its first and last step, how many failed, how many different actions, how long they took (seconds)."""

    first: int = 0
    last: int = 0
    errors: int = 0
    different: int = 0
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """How many steps."""
        return self.last - self.first + 1 if self.first else 0


def sides_of(trajectory: Trajectory, delivered: int, most: int = SHOWN_STEPS) -> tuple[list[StepHead], list[StepHead]]:
    """The heads of the steps before the one that was given the message first, and of those from it on."""
    at = trajectory.index_of(delivered)
    if at is None:
        return [], []
    before = [trajectory.steps[i].head for i in range(max(0, at - most), at)]
    after = [trajectory.steps[i].head for i in range(at, min(len(trajectory.steps), at + most))]
    return before, after


def numbers_of(heads: list[StepHead]) -> SideNumbers:
    """One side in numbers."""
    if not heads:
        return SideNumbers()
    took = (quantities.between(h.started_at, h.ended_at) for h in heads)
    return SideNumbers(heads[0].number, heads[-1].number, sum(h.is_error for h in heads),
                       len({(h.tools, h.title) for h in heads}), sum(t for t in took if t is not None))


class EffectModel(QAbstractTableModel):
    """Row N: the Nth step before (the nearest last) and the Nth step after."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sides: tuple[list[StepHead], list[StepHead]] = ([], [])

    def show(self, before: list[StepHead], after: list[StepHead]) -> None:
        """Show other steps."""
        if (before, after) != self.sides:
            self.beginResetModel()
            self.sides = (before, after)
            self.endResetModel()

    def head(self, row: int, side: int) -> StepHead | None:
        """The step of a cell, None where that side is shorter."""
        heads = self.sides[side] if 0 <= side < 2 else []
        return heads[row] if 0 <= row < len(heads) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """The longer side."""
        return 0 if parent.isValid() else max(map(len, self.sides))

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """Before, after."""
        return 0 if parent.isValid() else 2

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """Which side, in numbers."""
        shows_words = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if not shows_words or orientation != Qt.Orientation.Horizontal or section > 1:
            return None
        whole = role == Qt.ItemDataRole.ToolTipRole
        return self._words(numbers_of(self.sides[section]), after=bool(section), whole=whole)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """What a step did; errors in their colour, with a sign."""
        head = self.head(index.row(), index.column()) if index.isValid() else None
        if head is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return head_line(head)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.colour("error" if head.is_error else "ink")
        return None

    def _words(self, numbers: SideNumbers, *, after: bool, whole: bool) -> str:
        """A side in words; the header shows the first of them, its tip the `whole`."""
        if not numbers.steps:
            return self.tr("No step after it yet") if after else self.tr("No step before it")
        side = self.tr("After: {first}–{last}") if after else self.tr("Before: {first}–{last}")
        parts = (side.format(first=quantities.number(numbers.first), last=quantities.number(numbers.last)),
                 self.tr("%Ln error(s)", None, plural(numbers.errors)),
                 self.tr("%Ln different action(s)", None, plural(numbers.different)),
                 quantities.duration(numbers.seconds))
        return " · ".join(p for p in (parts if whole else parts[:2]) if p)
