"""Notices over the empty end of the menu bar, beside the switch of layouts: what acts on a session stays free. An error
stays until it is read."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMainWindow, QPushButton, QWidget

from app.desk.notices import Notice
from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel
from app.kit.tool_button import tool_button

MOST = 4
SECONDS = {"info": 6, "done": 6, "attention": 20, "error": 0}
SIGNS = {"info": "i", "done": "✓", "attention": "!", "error": "✗"}
MEANINGS = {"info": "muted", "done": "keep", "attention": "attention", "error": "error"}


class Toasts(QWidget):
    """The stack of notices over a window."""

    opened = Signal(object)

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._column = column(on=self, spacing=theme.GRID, margin=0)
        self._shown: list[_Toast] = []
        window.installEventFilter(self)
        self.hide()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice; one with the same words is not shown twice."""
        if any(t.notice == notice for t in self._shown):
            return
        toast = _Toast(notice, self)
        toast.closed.connect(self._on_closed)
        toast.opened.connect(self.opened)
        self._shown.append(toast)
        self._column.addWidget(toast)
        if len(self._shown) > MOST:
            self._on_closed(self._shown[0])
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay beside the switch, also from when it is there."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._place()
        return super().eventFilter(watched, event)

    def _on_closed(self, toast: object) -> None:
        if toast in self._shown:
            self._shown.remove(toast)
            self._column.removeWidget(toast)
            toast.hide()
            toast.deleteLater()
        self._place()

    def _place(self) -> None:
        self.setVisible(bool(self._shown))
        window = self.parentWidget()
        if not isinstance(window, QMainWindow) or not self._shown:
            return
        menus = window.menuBar()
        switch = menus.cornerWidget()
        right = switch.x() if switch is not None and switch.isVisible() else window.width()
        width = min(theme.px(420), right - 2 * theme.GRID)
        self.setFixedWidth(width)
        self._column.invalidate()
        height = sum(t.fit(width) for t in self._shown) + theme.GRID * (len(self._shown) - 1)
        self.setGeometry(right - width - theme.GRID, theme.GRID // 2, width, height)
        self.raise_()


class _Toast(QFrame):
    """One notice."""

    closed = Signal(object)
    opened = Signal(object)

    def __init__(self, notice: Notice, parent: QWidget) -> None:
        super().__init__(parent)
        self.notice = notice
        self.setObjectName("toast")
        sign = PlainLabel(SIGNS[notice.kind], self, font=theme.bold_font(self.font()), meaning=MEANINGS[notice.kind])
        text = PlainLabel(notice.sentence, self, wrap=True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = tool_button(self, "x", self.tr("Close this notice"))
        close.clicked.connect(self._close_toast)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(2 * theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text, 1)
        if notice.session:
            button = QPushButton(self.tr("Open"), self)
            button.clicked.connect(self._open_notice)
            row.addWidget(button)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        if seconds := SECONDS[notice.kind]:
            QTimer.singleShot(seconds * 1000, self, self._close_toast)

    def fit(self, width: int) -> int:
        """Be as high as all of the sentence needs at a width; returns that height."""
        self.ensurePolished()
        height = max(30, self._row.totalHeightForWidth(width))
        self.setFixedHeight(height)
        return height

    def _close_toast(self) -> None:
        self.closed.emit(self)

    def _open_notice(self) -> None:
        self.opened.emit(self.notice)
        self.closed.emit(self)
