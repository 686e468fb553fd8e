"""Free words on a step: those that it has, and a line with completion to put one on or take it off."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from app.kit import theme
from app.kit.boxes import row
from app.kit.safe_text import PlainLabel, one_line


class TagLine(QWidget):
    """`tagged` a word: put on, or taken off where it is on already; `left` when the line closes."""

    tagged = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = PlainLabel("", self, elide=True, faint=True)
        self.box = QLineEdit(self, placeholderText=self.tr("Tag: Enter puts it on or takes it off, Esc leaves"))
        self.box.setAccessibleName(self.tr("Tag"))
        self.box.installEventFilter(self)
        self._known = QStringListModel(self)
        completer = QCompleter(self._known, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.box.setCompleter(completer)
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
