"""A panel's face while it has nothing to show: what will appear here, and how to get it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QStackedLayout, QWidget

from app.kit import theme
from app.kit.boxes import Item, column, row
from app.kit.safe_text import PlainLabel, plain_action


class Empty(QWidget):
    """A hint in the middle of a panel, with at most one button that does what the hint says."""

    def __init__(
        self, hint: str, parent: QWidget | None = None, *, action: QAction | None = None, title: str = ""
    ) -> None:
        super().__init__(parent)
        self.title = PlainLabel(title, self, wrap=True, font=theme.bold_font(self.font()))
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title.setVisible(bool(title))
        self.label = PlainLabel(hint, self, wrap=True, faint=True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.around = column(2, self.title, self.label, on=self, spacing=2 * theme.GRID, margin=4 * theme.GRID)
        self.button: QPushButton | None = None
        if action is not None:
            self.button = QPushButton(plain_action(action.text()), self)
            self.button.clicked.connect(action.trigger)
            self.around.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.around.addStretch(3)

    def say(self, title: str, hint: str) -> None:
        """Say something else, under a title."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.label.setText(hint)

    def set_hint(self, hint: str, *, helps: bool = True) -> None:
        """Say something else; without its button where that does not help."""
        self.label.setText(hint)
        if self.button is not None:
            self.button.setVisible(helps)


class Faces(QStackedLayout):
    """Switches a panel between its content and its hint; the layout of `host` where that is given."""

    def __init__(self, content: QWidget, empty: Empty, host: QWidget | None = None) -> None:
        super().__init__(host) if host is not None else super().__init__()
        self.addWidget(empty)
        self.addWidget(content)

    def show_content(self, on: bool) -> None:
        """Show the content, or the hint."""
        self.setCurrentIndex(1 if on else 0)


def faces(host: QWidget, empty: Empty, *items: Item) -> Faces:
    """Lay out `host` with the items below each other, or the hint in their place: what stretches touches the edges, as
    parts of one sheet, the others keep away from them."""
    content = QWidget(host)
    column(*map(_with_room, items), on=content, spacing=0, margin=0)
    made = Faces(content, empty)
    column(made, on=host, margin=0)
    return made


def _with_room(item: Item) -> Item:
    if isinstance(item, (tuple, int)):
        return item
    return row((item, 1), margin=theme.GRID)  # no more: a list of sessions is narrow
