"""One line in which a link, a step's number or a session's id is typed or pasted."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QWidget

from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel


class GoToDialog(QDialog):
    """`chosen` gives the text; the dialog stays open until the place is known to exist."""

    chosen = Signal(str)

    def __init__(self, text: str, parent: QWidget) -> None:
        """`text` stands there at first, selected."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Go to"))
        self.setMinimumWidth(460)
        self.box = QLineEdit(text, self, placeholderText="tiphys://session/…?step=…")
        self.box.selectAll()
        label = PlainLabel(self.tr("A link, the number of a step, or the id of a session"), self, buddy=self.box)
        self.problem = PlainLabel("", self, wrap=True, meaning="error")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(self.tr("Go"))
        column(label, self.box, self.problem, self.buttons, on=self, spacing=2 * theme.GRID, margin=4 * theme.GRID)
        self.buttons.accepted.connect(self._choose_place)
        self.buttons.rejected.connect(self.reject)
        self.box.textChanged.connect(self._on_text)
        self._on_text()

    def refuse(self, why: str) -> None:
        """There is no such place."""
        self.problem.setText("✗ " + why)

    def _on_text(self) -> None:
        self.problem.setText("")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self.box.text().strip()))

    def _choose_place(self) -> None:
        self.chosen.emit(self.box.text().strip())
