"""How much of a session is on this computer, in the status bar, and a button that cancels."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from app import theme
from app.safe_text import PlainLabel


class KeepBar(QWidget):
    """Hidden while nothing is fetched as a whole."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = PlainLabel("", self)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setFixedWidth(140)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("How much of the session is here"))
        self.cancel = QPushButton(self.tr("Cancel"), self)
        self.cancel.setAccessibleName(self.tr("Stop fetching the session"))
        self.cancel.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * theme.GRID)
        for part in (self.text, self.bar, self.cancel):
            row.addWidget(part)
        self.hide()

    def tell(self, text: str, done: float) -> None:
        """What is fetched, and how much of it is here, from 0 to 1."""
        self.text.setText(text)
        self.bar.setValue(int(done * 1000))
        self.show()
