"""A new review queue: its name, what it asks for, how much is judged twice."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from app.kit import theme
from app.kit.boxes import column
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel
from core.domain.queue import QueueWork

LONGEST_NAME, LONGEST_RUBRIC = 120, 8_000


class Wanted(msgspec.Struct, frozen=True):
    """What was chosen."""

    name: str
    work: QueueWork


class MakeQueueDialog(QDialog):
    """`chosen` gives what was Wanted."""

    chosen = Signal(object)

    def __init__(self, sessions: int, query: str, parent: QWidget) -> None:
        """`query` is the filter that chose the sessions; "" where they were chosen by hand."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("New review queue"))
        self.setMinimumWidth(theme.px(460))
        self.name = QLineEdit(self, maxLength=LONGEST_NAME)
        self.steps = QComboBox(self)
        for key, words in (("all", self.tr("All steps")), ("errors", self.tr("The steps that failed")),
                           ("reports", self.tr("Errors, answers and reports")),
                           ("some", self.tr("So many steps of each session"))):
            self.steps.addItem(words, key)
        self.count = QSpinBox(self, minimum=1, maximum=1_000_000, value=20)
        self.twice = QSpinBox(self, minimum=0, maximum=100, suffix=" %")
        self.rubric = QPlainTextEdit(self, tabChangesFocus=True)
        self.rubric.setPlaceholderText(self.tr("By what to judge (optional): what is to be kept, what masked"))
        self.rubric.setFixedHeight(theme.px(96))
        self.blind = QCheckBox(self.tr("Blind: nobody sees what others said before the own word"), self)
        about = self.tr("%Ln session(s), chosen by hand.", None, plural(sessions)) if not query else self.tr(
            "%Ln session(s), chosen by the filter {query}", None, plural(sessions)).format(query=query)
        self.about = PlainLabel(about, self, wrap=True, faint=True)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        self._form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._lay_out()
        self.name.textChanged.connect(self._adapt_form)
        self.steps.currentIndexChanged.connect(self._adapt_form)
        self.buttons.accepted.connect(self._accept_choice)
        self.buttons.rejected.connect(self.reject)
        self._adapt_form()

    def _lay_out(self) -> None:
        for text, widget in ((self.tr("Name"), self.name), (self.tr("Asks for"), self.steps),
                             (self.tr("How many"), self.count), (self.tr("Judged twice"), self.twice),
                             (self.tr("Rubric"), self.rubric), ("", self.blind)):
            self._form.addRow(PlainLabel(text, self, buddy=widget), widget)
        column(self.about, self._form, self.buttons, on=self, spacing=3 * theme.GRID, margin=4 * theme.GRID)

    def _adapt_form(self, *_: object) -> None:
        self._form.setRowVisible(self.count, self.steps.currentData() == "some")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self.name.text().strip()))

    def _accept_choice(self) -> None:
        asks = self.steps.currentData()
        work = QueueWork(steps="errors" if asks == "reports" else asks, reports=asks == "reports",
                         count=self.count.value() if asks == "some" else 0, twice=self.twice.value(),
                         rubric=self.rubric.toPlainText().strip()[:LONGEST_RUBRIC], blind=self.blind.isChecked())
        self.chosen.emit(Wanted(" ".join(self.name.text().split()), work))
        self.accept()
