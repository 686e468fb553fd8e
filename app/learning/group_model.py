"""The group of one task as a table: a column for each session, the best first; a row for each step."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from app.kit import quantities
from app.kit.flat_model import Index
from app.kit.safe_text import one_line
from app.learning.samples import tokens_of
from core.workers.reinforcement import GroupSheet, SessionSheet, StepSheet

StepRole = int(Qt.ItemDataRole.UserRole) + 1
MemberRole = StepRole + 1


class GroupModel(QAbstractTableModel):
    """Cells are steps (StepRole), heads are sessions (MemberRole)."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.group: GroupSheet | None = None
        self.members: list[SessionSheet] = []
        self._steps: list[dict[int, StepSheet]] = []
        self._numbers: list[int] = []

    def show(self, group: GroupSheet | None) -> None:
        """Show another group; the same one again moves nothing."""
        if group == self.group:
            return
        self.beginResetModel()
        self.group = group
        order = sorted(group.sessions, key=lambda m: (-m.reward, len(m.steps), tokens_of(m))) if group else []
        self.members = order
        self._steps = [{step.number: step for step in member.steps} for member in order]
        self._numbers = sorted({number for steps in self._steps for number in steps})
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """As many as the longest session has steps."""
        return 0 if parent.isValid() else len(self._numbers)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """One for each session."""
        return 0 if parent.isValid() else len(self.members)

    def step(self, index: Index) -> StepSheet | None:
        """The step of a cell; None behind a session's end."""
        if not index.isValid() or index.column() >= len(self._steps) or index.row() >= len(self._numbers):
            return None
        return self._steps[index.column()].get(self._numbers[index.row()])

    def place(self, session: str, step: int) -> QModelIndex:
        """The cell of a step; no index where it is not of this group."""
        column = next((i for i, member in enumerate(self.members) if member.session == session), -1)
        return self.index(self._numbers.index(step) if step in self._numbers else -1, column)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The step, or its words for assistive technology."""
        step = self.step(index)
        if step is None:
            return None
        if role == StepRole:
            return step
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{one_line(step.text, 200)}, {quantities.signed(step.advantage, '.2f')}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
                   ) -> object:
        """The session of a column; the number of a row's step."""
        if orientation == Qt.Orientation.Vertical:
            return str(self._numbers[section]) if role == Qt.ItemDataRole.DisplayRole else None
        if not 0 <= section < len(self.members):
            return None
        member = self.members[section]
        if role == MemberRole:
            return member
        return f"{member.reward:.2f}" if role == Qt.ItemDataRole.DisplayRole else None
