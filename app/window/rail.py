"""The left side of a narrow window: a rail of icons, and the drawer that opens a panel over the list until Esc."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QMainWindow, QToolButton, QVBoxLayout, QWidget

from app.kit import theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import column, row
from app.kit.safe_text import PlainLabel
from app.kit.tool_button import tool_button
from app.window.panel_dock import PanelDock

WIDTH, DRAWER = 40, 300
"""Of the rail, and of what it opens."""

ICONS = {"sessions": "panel-left", "outline": "list-tree", "attention": "circle-alert"}
"""Of the panels that stand at the left; another one gets `square`."""


class Rail(QWidget):
    """An icon for each panel of the left side, then for the commands that lead elsewhere."""

    def __init__(self, docks: Sequence[PanelDock], actions: Sequence[tuple[QAction, str]],
                 asked: Callable[[str], None], parent: QWidget | None = None) -> None:
        """`actions`: each with its icon; `asked(key)`: the panel of an icon is wanted."""
        super().__init__(parent)
        self.setFixedWidth(theme.px(WIDTH))
        self.buttons: dict[str, QToolButton] = {}
        for dock in docks:
            key = dock.objectName()
            words = self.tr("{panel}, over the list until Esc").format(panel=dock.windowTitle())
            button = self.buttons[key] = tool_button(self, ICONS.get(key, "square"), words, checkable=True)
            button.clicked.connect(partial(self._ask_for_panel, asked, key))
        more = [IconButton(action, icon, self) for action, icon in actions]
        side = theme.px(tokens.HEIGHTS["button"])
        for made in (*self.buttons.values(), *more):
            made.setFixedSize(QSize(side, side))
        column(*self.buttons.values(), *more, 1, on=self, spacing=theme.px(tokens.WITHIN), margin=theme.px(6))

    def _ask_for_panel(self, asked: Callable[[str], None], key: str, *_: object) -> None:
        asked(key)

    def mark(self, key: str) -> None:
        """The panel that is open; "" for none."""
        for name, button in self.buttons.items():
            button.setChecked(name == key)


class Drawer(QFrame):
    """A panel over the list. Its dock stays where it is, hidden, and gets it back."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, PanelDock], closed: Callable[[bool], None]) -> None:
        """`closed`: called when the drawer was closed; True: the keys are to go back to the list."""
        super().__init__(window)
        self._window, self._docks, self._closed = window, docks, closed
        self.key = ""
        """The panel that is open; "" for none."""
        self.setObjectName("drawer")
        self.setAutoFillBackground(True)
        self._title = PlainLabel("", self, font=theme.font_of("title"))
        close = tool_button(self, "x", self.tr("Close (Esc)"))
        close.clicked.connect(self._leave_panel)
        head = row(self._title, 1, close, spacing=theme.px(tokens.BETWEEN),
                   margin=(theme.px(tokens.SIDE), theme.px(tokens.WITHIN), theme.px(tokens.WITHIN), 0))
        self._layout: QVBoxLayout = column(head, on=self, spacing=0, margin=1)
        window.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self.hide()

    def open(self, key: str, left: int) -> None:
        """Show a panel, `left` pixels from the window's edge."""
        self.put_back()
        self.key, dock = key, self._docks[key]
        self._title.setText(dock.windowTitle())
        self._layout.addWidget(dock.lend(), 1)
        self._place(left)
        self.show()
        self.raise_()
        dock.widget().setFocus(Qt.FocusReason.OtherFocusReason)

    def put_back(self) -> None:
        """Close without a word: the panel goes back into its dock."""
        if self.key:
            self._docks[self.key].take_back()
            self.key = ""
            self.hide()

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """Where the keys go elsewhere in the window it closes, whoever led them there."""
        if self.key and now is not None and now.window() is self._window and not self.isAncestorOf(now):
            self._leave_panel(leads=False)

    def _leave_panel(self, *_: object, leads: bool = True) -> None:
        self.put_back()
        self._closed(leads)

    def _place(self, left: int) -> None:
        shown = [d.geometry() for d in self._docks.values() if d.isVisible() and not d.isFloating()]
        top = min((r.top() for r in shown), default=0)
        bottom = max((r.bottom() for r in shown), default=self._window.height())
        self.setGeometry(QRect(left, top, theme.px(DRAWER), bottom - top + 1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self._leave_panel()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As high as what it covers."""
        if event.type() == QEvent.Type.Resize and self.key:
            self._place(self.x())
        return super().eventFilter(watched, event)
