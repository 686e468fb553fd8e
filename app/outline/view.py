"""The Outline panel: its lines, a box for words that appears when one types, and the plan at its foot."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from app.kit.box_over_list import key_in, went_down
from app.kit.boxes import column, words_box
from app.kit.empty import Empty, Faces
from app.kit.nothing_found import NothingFound
from app.outline.model import LineRole, OutlineModel
from app.outline.plan_view import PlanView
from app.outline.row import OutlineDelegate

_TYPED = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)


class OutlineList(QListView):
    """Enter opens a line, Left and Right fold and open its phase; letters are words to filter by."""

    opened = Signal(object)
    typed = Signal(str)
    left = Signal()
    """Esc: back to the steps."""

    def __init__(self, model: OutlineModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.lines = model
        self.delegate = OutlineDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Outline"))
        self.clicked.connect(self._open_line)

    def event(self, event: QEvent) -> bool:
        """What is typed here filters, and is no command of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_letter(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open, fold, filter; the rest is Qt's."""
        index, key = self.currentIndex(), event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self._open_line(index)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._fold(key == Qt.Key.Key_Left)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif _is_letter(event):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def show_here(self, row: int) -> None:
        """Mark the line of what is read, and bring it into sight while the reader is elsewhere."""
        self.delegate.here = row
        if row >= 0 and not self.hasFocus():
            self.setCurrentIndex(self.lines.index(row))
        self.viewport().update()

    def _fold(self, on: bool) -> None:
        """Of the phase at the cursor; Left from within a phase goes to its beginning first."""
        row = self.currentIndex().row()
        if on and (line := self.lines.line(row)) is not None and line.depth:
            above = (r for r in range(row, -1, -1) if (at := self.lines.line(r)) is not None and at.depth < line.depth)
            self.setCurrentIndex(self.lines.index(next(above, row)))
        elif self.lines.fold(row, on):
            self.setCurrentIndex(self.lines.index(row))

    def _open_line(self, index: QModelIndex) -> None:
        self.opened.emit(index.data(LineRole))


class OutlineView(QWidget):
    """`list.opened` gives an OutlineLine."""

    shown = Signal()
    """The panel came into sight."""

    def __init__(self, model: OutlineModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.words = words_box(self, self.tr("Filter the outline"), self.tr("Filter the outline"), clears=True)
        self.list = OutlineList(model, self)
        self.words.installEventFilter(self)
        self.words.hide()
        self.plan = PlanView(self)
        self.empty = Empty(self.tr("The outline of a session appears here: phases, subagents, failures, files."), self)
        self.nothing = NothingFound(self.tr("No line holds these words."), self._end_words, self)
        self._hits = Faces(self.list, self.nothing)
        self._show_hits()
        model.modelReset.connect(self._show_hits)
        content = QWidget(self)
        column(self.words, (self._hits, 1), self.plan, on=content, spacing=0, margin=0)
        self.faces = Faces(content, self.empty, self)
        self.setFocusProxy(self.list)
        self.words.textChanged.connect(self._on_words)
        self.list.typed.connect(self._begin_words)

    def showEvent(self, event: QShowEvent) -> None:
        """What went on meanwhile is shown now."""
        super().showEvent(event)
        self.shown.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The plan's share is one of this height."""
        super().resizeEvent(event)
        self.plan.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down goes into the list, Enter opens its first line, Esc lists everything again."""
        key = key_in(self.words, watched, event)
        if key == Qt.Key.Key_Escape:
            self._end_words()
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (index := self.list.currentIndex()).isValid():
            self.list.opened.emit(index.data(LineRole))
            return True
        return went_down(key, self.list) or super().eventFilter(watched, event)

    def _begin_words(self, text: str) -> None:
        self.words.show()
        self.words.setFocus()
        self.words.insert(text)

    def _end_words(self) -> None:
        self.words.clear()
        self.list.setFocus()

    def _on_words(self, text: str) -> None:
        self._model.filter(text)
        self._show_hits()
        self.list.setCurrentIndex(self._model.index(0))
        if not text:
            self.words.hide()

    def _show_hits(self) -> None:
        self._hits.show_content(self._model.rowCount() > 0 or not self.words.text())


def _is_letter(event: QKeyEvent) -> bool:
    text = event.text()
    return event.modifiers() in _TYPED and len(text) == 1 and text.isprintable() and not text.isspace()
