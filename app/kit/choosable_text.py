"""A read-only text of which some lines can be chosen: by a click, or with Tab, which goes to the next, and Enter."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit


class ChoosableText(QPlainTextEdit):
    """The lines that `offer` named are choices; every other one is text."""

    chosen = Signal(int)
    """The choice that was offered at the line."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[call-overload]
        self._starts: list[int] = []
        self._choices: list[int] = []
        self.viewport().setMouseTracking(True)

    def offer(self, start: int, choice: int) -> None:
        """Let the line that begins at a position stand for a choice; positions come in order."""
        self._starts.append(start)
        self._choices.append(choice)

    def forget_choices(self) -> None:
        """Nothing is offered any more."""
        self._starts, self._choices = [], []

    def choice_at(self, position: int) -> int:
        """The choice of the line with a position; 0 where it is none."""
        start = self.document().findBlock(position).position()
        at = bisect_left(self._starts, start)
        return self._choices[at] if at < len(self._starts) and self._starts[at] == start else 0

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The pointer says what can be chosen."""
        super().mouseMoveEvent(event)
        is_choice = bool(self._choices) and bool(self._choice_below(event))
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_choice else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses; what selects text does not."""
        super().mouseReleaseEvent(event)
        choice = self._choice_below(event)
        if choice and event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.chosen.emit(choice)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses the line of the text cursor."""
        choice = self.choice_at(self.textCursor().selectionStart())
        if choice and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(choice)
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes from choice to choice, then on to the next widget."""
        here = self.textCursor().selectionStart()
        is_on_one = self.textCursor().hasSelection() and bool(self.choice_at(here))
        place = bisect_right(self._starts, here - (not is_on_one)) if forward else bisect_left(self._starts, here) - 1
        if not 0 <= place < len(self._starts):
            return super().focusNextPrevChild(forward)
        cursor = self.textCursor()
        cursor.setPosition(self._starts[place])
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        return True

    def _choice_below(self, event: QMouseEvent) -> int:
        point = event.position().toPoint()
        found = self.cursorForPosition(point)
        below = self.blockBoundingGeometry(found.block()).translated(self.contentOffset()).bottom()
        return self.choice_at(found.position()) if point.y() <= below else 0
