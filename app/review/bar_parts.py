"""What the review bar is made of: how far a session is judged, the tags of a step, the box for a remark."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QCompleter, QPlainTextEdit, QWidget

from app.kit import theme, tokens
from app.kit.boxes import row, words_box
from app.kit.safe_text import PlainLabel, one_line


class JudgedBar(QWidget):
    """Parts of a whole; the words beside it say the same in numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, int], ...] = ()
        self._whole = 1

    def show_parts(self, parts: tuple[tuple[str, int], ...], whole: int) -> None:
        """The parts as meaning and count, of a whole."""
        self._parts, self._whole = parts, max(1, whole)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(140), theme.px(9))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The parts from the left; in high contrast framed, with gaps between them."""
        painter, high = QPainter(self), theme.is_high_contrast()
        tall = theme.px(9 if high else 6)
        box = QRectF(0, (self.height() - tall) / 2, self.width(), tall)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.colour("line"))
        painter.setBrush(theme.colour("base" if high else "line"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), tokens.RADII["bar"], tokens.RADII["bar"])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        x, gap = box.left(), 2 if high else 0
        for meaning, count in self._parts:
            width = box.width() * count / self._whole
            painter.fillRect(QRectF(x, box.top(), max(0.0, width - gap), tall), theme.colour(meaning))
            x += width


class TagLine(QWidget):
    """`tagged` a word: put on, or taken off where it is on already; `left` when the line closes."""

    tagged = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = PlainLabel("", self, elide=True, faint=True)
        self.box = words_box(self, self.tr("Tag: Enter puts it on or takes it off, Esc leaves"), self.tr("Tag"))
        self.box.installEventFilter(self)
        self._known = QStringListModel(self)
        self.box.setCompleter(QCompleter(self._known, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive,
                                         filterMode=Qt.MatchFlag.MatchContains))
        row((self.line, 1), (self.box, 2), on=self, spacing=2 * theme.GRID, margin=0)
        self.box.hide()
        self.hide()
        self.box.returnPressed.connect(self._enter_tag)

    def show_tags(self, tags: Iterable[str]) -> None:
        """The tags of the step."""
        texts = sorted(one_line(tag, 60) for tag in tags)
        self.line.setText("  ".join(f"# {tag}" for tag in texts))
        self.line.setVisible(bool(texts))
        self.setVisible(bool(texts) or self.box.isVisibleTo(self))

    def write(self, known: Iterable[str]) -> None:
        """Open the line; `known` tags are offered."""
        self._known.setStringList(sorted(known, key=str.casefold))
        self.show()
        self.box.show()
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc closes the line."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self._leave()
            return True
        return super().eventFilter(watched, event)

    def _enter_tag(self) -> None:
        """Take the word; an empty line closes."""
        word = " ".join(self.box.text().split())
        self.box.clear()
        if word:
            self.tagged.emit(word)
        else:
            self._leave()

    def _leave(self) -> None:
        self.left.emit()
        self.box.clear()
        self.box.hide()
        self.setVisible(bool(self.line.text()))


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
