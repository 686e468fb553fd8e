"""The Compare panel: the session that is looked at beside others, and how the arms of a group fared."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QGridLayout, QPushButton, QWidget

from app.compare.model import ComparisonModel
from app.kit import quantities, theme, tokens
from app.kit.boxes import apart, column, named
from app.kit.elided_box import ElidedBox
from app.kit.empty import Empty, Faces
from app.kit.i18n import plural, translate
from app.kit.plain_table import PlainTable
from app.kit.safe_text import PlainLabel, menu_text, one_line
from core.domain.session import SessionRow
from core.supervision.groups import Arm, Interval, arms_of, differences


def group_words(rows: Sequence[SessionRow]) -> str:
    """A group as one may choose it: from which step, and what its arms are."""
    arms = ", ".join(f"{one_line(arm.name, 30)} ×{len(arm.sessions)}" for arm in arms_of(rows))
    return translate("CompareView", "Branches after step {n}: {arms}").format(
        n=quantities.number(min((row.parent_step for row in rows), default=0)), arms=arms)


def arm_lines(arms: Sequence[Arm]) -> list[str]:
    """One line an arm, then one for each difference to the first."""
    lines = [translate("CompareView", "{arm}: {scores}, {ended} of {count} ended").format(
        arm=one_line(arm.name, 60), scores=_mean(arm), ended=quantities.number(arm.ended),
        count=quantities.number(len(arm.sessions))) for arm in arms]
    lines += [translate("CompareView", "{arm} − {other}: {difference}").format(
        arm=one_line(one.arm, 60), other=one_line(one.other, 60),
        difference=f"{quantities.signed(one.mean, '.1f')}{_between(one.interval)}") for one in differences(arms)]
    return lines


def _mean(arm: Arm) -> str:
    if arm.mean is None:
        return translate("CompareView", "no score yet")
    return f"{quantities.score(arm.mean)}{_between(arm.interval)}"


def _between(interval: Interval | None) -> str:
    """The interval in which a mean lies with 95 %, or why there is none."""
    if interval is None:
        return translate("CompareView", " (no interval: too few)")
    return f" ({interval[0]:.1f}…{interval[1]:.1f})"


class CompareView(QWidget):
    """Intents: `chosen` another session or group ("" for none), `opened` a row and side (0 is ours)."""

    chosen = Signal(str)
    opened = Signal(int, int)
    parting_asked = Signal()

    def __init__(self, model: ComparisonModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ours = PlainLabel("", self, elide=True, font=theme.bold_font(self.font()))
        self.other = named(ElidedBox(self), self.tr("The session to compare with"))
        self.other.activated.connect(self._on_chosen)
        self.table = named(_Table(self), self.tr("Steps of both sessions"))
        self.table.setModel(model)
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

    def mark_read(self, side: int) -> None:
        """The name of the one that is looked at is bold: a step that is opened turns no sides round."""
        plain, bold = self.font(), theme.bold_font(self.font())
        self.ours.setFont(plain if side else bold)
        self.other.setFont(bold if side else plain)

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
