"""How far an import is, in the status bar: the file, how much of all bytes, and a button that cancels."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QSizePolicy, QWidget

from app import theme
from app.safe_text import PlainLabel, one_line, set_tooltip

_CHARACTERS = 40


class ImportBar(QWidget):
    """Hidden while nothing is imported."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("import_bar")
        self.text = PlainLabel("", self)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setFixedWidth(140)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("How far the import is"))
        self.cancel = QPushButton(self.tr("Cancel"), self)
        self.cancel.setAccessibleName(self.tr("Cancel the import"))
        self.cancel.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.cancel.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * theme.GRID)
        for part in (self.text, self.bar, self.cancel):
            row.addWidget(part)
        self.hide()

    def begin(self, files: int) -> None:
        """An import begins; how far it is, is not known yet."""
        self.text.setText(self.tr("Opening %n file(s)…", None, files))
        set_tooltip(self.text, "")
        self.bar.setRange(0, 0)
        self.cancel.setEnabled(True)

    def tell(self, file: str, number: int, of: int, done: float) -> None:
        """The file `number` of `of` is being read; `done` is the part of all bytes, from 0 to 1."""
        name = one_line(file, _CHARACTERS)
        if of > 1:
            name = self.tr("{name} ({number} of {of})").format(name=name, number=number, of=of)
        self.text.setText(name)
        set_tooltip(self.text, file)
        self.bar.setRange(0, 1000)
        self.bar.setValue(int(done * 1000))

    def end(self) -> None:
        """Nothing is imported any more."""
        self.hide()
