"""The box for a remark: Ctrl+Enter stores it, Esc leaves it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.kit import theme


class StepRemarkBox(QPlainTextEdit):
    """Hidden until something is written; what was not stored stays with the step it was written on. `left` comes before
    it hides, so that the focus can go where it should."""

    noted = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(self.tr("Remark on this step … Ctrl+Enter stores it, Esc leaves."))
        self.setAccessibleName(self.tr("Remark"))
        self.setFixedHeight(3 * self.fontMetrics().height() + 3 * theme.GRID)
        self.setTabChangesFocus(True)
        self._step = ("", 0)
        self._unstored: dict[tuple[str, int], str] = {}
        self.hide()

    def write(self) -> None:
        """Open it and put the cursor there."""
        self.show()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def turn_to(self, session: str, step: int) -> None:
        """Another step: what was begun on the one before waits there, and what was begun on this one is back."""
        if (session, step) == self._step:
            return
        if text := self.toPlainText().strip():
            self._unstored[self._step] = text
        self._step = session, step
        self.setPlainText(self._unstored.pop(self._step, ""))
        if not self.toPlainText():
            if self.hasFocus():
                self.left.emit()
            self.hide()
            return
        self.show()

    def offer(self, session: str, step: int, text: str) -> None:
        """A remark that was not taken, to be looked at and stored again; what is being written stays."""
        if (session, step) != self._step:
            self._unstored.setdefault((session, step), text)
        elif not self.toPlainText().strip():
            self.setPlainText(text)
            self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Store, leave, or type."""
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if entered and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            text = self.toPlainText().strip()
            self.clear()
            self._leave()
            if text:
                self.noted.emit(text)
        elif event.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(event)

    def _leave(self) -> None:
        self.left.emit()
        self.hide()
