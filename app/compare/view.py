"""The Compare panel: the session that is looked at beside others, from their common beginning on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QPushButton,
    QWidget,
)

from app.compare.model import ComparisonModel
from app.compare.words import arm_lines
from app.kit import theme, tokens
from app.kit.boxes import apart, column
from app.kit.elided_box import ElidedBox
from app.kit.empty import Empty, Faces
from app.kit.i18n import plural
from app.kit.plain_table import PlainTable
from app.kit.safe_text import PlainLabel, menu_text
from core.supervision.groups import Arm


class CompareView(QWidget):
    """Intents: `chosen` another session or group ("" for none), `opened` a row and side (0 is ours)."""

    chosen = Signal(str)
    opened = Signal(int, int)
    parting_asked = Signal()

    def __init__(self, model: ComparisonModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ours = PlainLabel("", self, elide=True, font=theme.bold_font(self.font()))
        self.other = ElidedBox(self)
        self.other.setAccessibleName(self.tr("The session to compare with"))
        self.other.activated.connect(self._on_chosen)
        self.table = _Table(self)
        self.table.setModel(model)
        self.table.setAccessibleName(self.tr("Steps of both sessions"))
        self.summary = PlainLabel("", self, elide=True)
        self.arms = PlainLabel("", self, wrap=True)
        self.arms.setContentsMargins(theme.px(tokens.SIDE), theme.GRID, theme.px(tokens.SIDE), theme.GRID)
        self.arms.hide()
        self.parting = QPushButton(self.tr("Where they part"), self)
        self.parting.clicked.connect(self.parting_asked)
        self.empty = Empty(self.tr("Choose a session or a group of branches above: their steps stand beside those of "
                                   "the one that is looked at, aligned on what all begin with."), self)
        self._lay_out()
        self.table.clicked.connect(self._on_index)
        self.table.entered_at.connect(self._on_index)

    def _lay_out(self) -> None:
        content = QWidget(self)
        foot = apart((self.summary, 1), self.parting)
        column(self.arms, (self.table, 1), foot, on=content, spacing=0, margin=0)
        top = QGridLayout()
        top.setColumnStretch(0, 1)
        top.setColumnStretch(1, 1)
        top.addWidget(self.ours, 0, 0)
        top.addWidget(self.other, 0, 1)
        host = column(apart((top, 1)), on=self, spacing=0, margin=0)
        self._faces = Faces(content, self.empty)
        host.addLayout(self._faces, 1)

    def offer(self, ours: str, sessions: Sequence[tuple[str, str]], chosen: str) -> None:
        """The sessions to choose from: id and title."""
        self.ours.setText(ours)
        held = [(self.other.itemData(i), self.other.itemText(i)) for i in range(self.other.count())]
        entries = [("", self.tr("Compare with…")), *((s, menu_text(t)) for s, t in sessions)]
        if held != entries:
            self.other.clear()
            for session, title in entries:
                self.other.addItem(title, session)
        self.other.setCurrentIndex(max(0, self.other.findData(chosen)))
        self.other.setEnabled(bool(sessions))

    def show_titles(self, shown: bool) -> None:
        """Say above the columns which session each is; two need no words."""
        self.table.horizontalHeader().setVisible(shown)

    def show_arms(self, arms: Sequence[Arm]) -> None:
        """How the sides of a group fared; nothing where there is no group."""
        self.arms.setText("\n".join(arm_lines(arms)))
        self.arms.setVisible(bool(arms))

    def show_comparison(self, common: int, counts: Sequence[int], rows: int) -> None:
        """Say how much all have in common; show the hint where there is nothing to compare."""
        self._faces.show_content(len(counts) > 1 and any(counts))
        if len(counts) > 2:
            self.summary.setText(self.tr("All begin with the same %Ln step(s).", None, plural(common)))
        elif common == rows:
            self.summary.setText(self.tr("Both take the same %Ln step(s).", None, plural(common)))
        elif not common:
            self.summary.setText(self.tr("They differ from the first step on."))
        else:
            self.summary.setText(self.tr("The first %Ln step(s) are the same.", None, plural(common)))
        self.parting.setEnabled(common < rows)

    def show_row(self, row: int, side: int = 0) -> None:
        """Bring a row into sight."""
        index = self.table.model().index(row, side)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _on_chosen(self) -> None:
        self.chosen.emit(str(self.other.currentData() or ""))

    def _on_index(self, index: QModelIndex) -> None:
        self.opened.emit(index.row(), index.column())


class _Table(PlainTable):
    """Enter opens."""

    entered_at = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the step."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_at.emit(self.currentIndex())
            return
        super().keyPressEvent(event)
