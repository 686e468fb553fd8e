"""How far something is, in the status bar: a text, a bar, and a button that cancels."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QSizePolicy, QWidget

from app.kit import theme
from app.kit.boxes import named, row
from app.kit.safe_text import PlainLabel

FINENESS = 1000
"""The bar's steps."""


class ProgressRow(QWidget):
    """Hidden while nothing is under way."""

    cancelled = Signal()

    def __init__(self, bar_name: str, cancel_name: str, parent: QWidget | None) -> None:
        """The names are for screen readers."""
        super().__init__(parent)
        self.text = PlainLabel("", self)
        self.bar = named(QProgressBar(self, minimum=0, maximum=FINENESS, textVisible=False), bar_name)
        self.bar.setFixedWidth(140)
        self.cancel = named(QPushButton(self.tr("Cancel"), self), cancel_name)
        self.cancel.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.cancel.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.cancel.clicked.connect(self.cancelled)
        row(self.text, self.bar, self.cancel, on=self, spacing=2 * theme.GRID, margin=0)
        self.hide()

    def show_share(self, done: float) -> None:
        """How much is done, from 0 to 1."""
        self.bar.setRange(0, FINENESS)
        self.bar.setValue(int(done * FINENESS))
