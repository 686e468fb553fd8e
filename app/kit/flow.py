"""A layout that puts widgets side by side and goes on in the next line where there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from app.kit import theme


class FlowLayout(QLayout):
    """Lines of widgets, each as wide as it likes to be; one that expands takes what its line leaves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(theme.GRID)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It wants no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        """As small as can be; the width is given from outside."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        y = rect.y()
        for line in self._lines(rect.width()):
            free = rect.width() - sum(width for _, width in line) - self.spacing() * (len(line) - 1)
            fillers = sum(self._fills(item) for item, _ in line)
            x, high = rect.x(), max(item.sizeHint().height() for item, _ in line)
            for item, wanted in line:
                width = wanted + (max(0, free) // fillers if self._fills(item) else 0)
                if move:
                    item.setGeometry(QRect(QPoint(x, y), QSize(width, item.sizeHint().height())))
                x += width + self.spacing()
            y += high + self.spacing()
        return max(0, y - self.spacing() - rect.y())

    def _lines(self, room: int) -> list[list[tuple[QLayoutItem, int]]]:
        """The items of each line with the width that each likes."""
        lines: list[list[tuple[QLayoutItem, int]]] = []
        x = 0
        for item in self._items:
            if item.isEmpty():
                continue
            width = min(item.sizeHint().width(), max(1, room))
            if not lines or x + width > room:
                lines.append([])
                x = 0
            lines[-1].append((item, width))
            x += width + self.spacing()
        return lines

    @staticmethod
    def _fills(item: QLayoutItem) -> bool:
        return bool(item.expandingDirections() & Qt.Orientation.Horizontal)
