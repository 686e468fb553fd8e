"""A line of news above a list, with one way to go there and one to close it."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from app.kit import theme
from app.kit.boxes import row
from app.kit.safe_text import PlainLabel, set_tooltip
from app.kit.tool_button import tool_button


class NewsBar(QWidget):
    """Hidden while there is nothing to say."""

    def __init__(self, go: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = PlainLabel("", self, elide=True)
        self.go = QPushButton(go, self)
        self.close_button = tool_button(self, "x", self.tr("Close"))
        self.close_button.clicked.connect(self.hide)
        row((self.label, 1), self.go, self.close_button, on=self, spacing=theme.GRID, margin=(theme.GRID, 0, 0, 0))
        self.hide()

    def show_news(self, news: str) -> None:
        """Say something; "" closes the line."""
        self.label.setText(news)
        set_tooltip(self.label, news)
        self.setVisible(bool(news))
