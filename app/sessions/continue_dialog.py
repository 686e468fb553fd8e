"""Having a session that ended go on: with advice, and with more to use than its limits left."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel
from core.domain.session import SessionRow
from core.domain.task import Budget

HOUR_S = 3600.0


class ContinueDialog(QDialog):
    """`chosen` gives the budget and the advice ("" for none) when the reader agrees."""

    chosen = Signal(object, str)

    def __init__(self, title: str, row: SessionRow, parent: QWidget) -> None:
        """`row` says by what the session ended: a limit that was reached needs more."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Continue the session"))
        self._ended_by = row.reason
        self.steps = QSpinBox(self, maximum=1_000_000)
        self.hours = QDoubleSpinBox(self, decimals=1, maximum=10_000)
        self.text = QPlainTextEdit(self, tabChangesFocus=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.agree = self.buttons.addButton(self.tr("Continue"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.agree.setShortcut("Ctrl+Return")  # as every other box for advice
        self._lay_out(PlainLabel(self.tr(
            "“{title}” goes on after its last step, with its files; terminals and programs that ran when it ended are "
            "gone. The agent reads that its work is to go on.").format(title=title), self, wrap=True))
        self._prepare()
        self.buttons.accepted.connect(self._accept_choice)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self, about: PlainLabel) -> None:
        form = QFormLayout()
        for label, box in ((self.tr("Advice"), self.text), (self.tr("More steps"), self.steps),
                           (self.tr("More hours of work"), self.hours)):
            box.setAccessibleName(label)
            form.addRow(label, box)
        column(about, form, self.buttons, on=self, spacing=3 * theme.GRID, margin=4 * theme.GRID)
        self.setMinimumWidth(460)

    def _prepare(self) -> None:
        """0 leaves a limit as it is, which is said; the limit that ended the session must grow."""
        self.text.setPlaceholderText(self.tr("What the agent should do better; may be empty"))
        self.text.setFixedHeight(theme.px(96))
        boxes: tuple[tuple[QSpinBox | QDoubleSpinBox, str], ...] = (
            (self.steps, "limit_steps"), (self.hours, "limit_wall"))
        for box, ended in boxes:
            box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.PlusMinus)
            box.setSpecialValueText(self.tr("as it is"))
            box.valueChanged.connect(self._enable_agree)
            if self._ended_by == ended:
                box.setValue(10)
        self._enable_agree()
        self.text.setFocus()

    def _enable_agree(self) -> None:
        left = {"limit_steps": self.steps.value(), "limit_wall": self.hours.value()}
        self.agree.setEnabled(left.get(self._ended_by, 1) > 0)

    def _accept_choice(self) -> None:
        steps, hours = self.steps.value() or None, self.hours.value() * HOUR_S or None
        self.chosen.emit(Budget(steps=steps, wall_s=hours), self.text.toPlainText().strip())
        self.accept()
