"""A panel's face while it has nothing to show: what will appear here, and how to get it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.kit import theme
from app.kit.safe_text import PlainLabel


class Empty(QWidget):
    """A hint in the middle of a panel, with at most one button that does what the hint says."""

    def __init__(
        self, hint: str, parent: QWidget | None = None, *, action: QAction | None = None, title: str = ""
    ) -> None:
        super().__init__(parent)
        self.title = PlainLabel(title, self)
        self.title.setFont(theme.bold_font(self.font()))
        self.title.setWordWrap(True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title.setVisible(bool(title))
        self.label = PlainLabel(hint, self)
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setForegroundRole(self.palette().ColorRole.PlaceholderText)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(4 * theme.GRID,) * 4)
        column.setSpacing(2 * theme.GRID)
        column.addStretch(2)
        column.addWidget(self.title)
        column.addWidget(self.label)
        if action is not None:
            button = QPushButton(action.text().replace("&", "").rstrip("…") + "…", self)
            button.clicked.connect(action.trigger)
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def say(self, title: str, hint: str) -> None:
        """Say something else, under a title."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.label.setText(hint)

    def set_hint(self, hint: str) -> None:
        """Say something else."""
        self.label.setText(hint)


class Faces(QStackedLayout):
    """Switches a panel between its content and its hint."""

    def __init__(self, content: QWidget, empty: Empty) -> None:
        super().__init__()
        self.addWidget(empty)
        self.addWidget(content)

    def show_content(self, on: bool) -> None:
        """Show the content, or the hint."""
        self.setCurrentIndex(1 if on else 0)
