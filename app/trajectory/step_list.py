"""The list of steps: a one-column table whose rows are measured when first seen, and that stays where it is read.

A list view would lay out every row on every append (118 ms at 100,000 rows against 3, measured).
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.kit.flat_model import Index
from app.kit.timers import single_shot
from app.trajectory.model import TrajectoryModel
from app.trajectory.nested import NestedModel
from app.trajectory.row_heights import RowHeights
from app.trajectory.row_table import RowTable
from app.trajectory.step_row import StepRowDelegate

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class StepList(RowTable):
    """Rows of a TrajectoryModel. Follows the end until the reader scrolls up; says how much came since."""

    opened = Signal(int)
    """The reader went to a row (its number in the model)."""

    toggled = Signal(int)
    """The reader opens or closes the fold of a row."""

    entered = Signal(int)
    """The reader steps into what the step of a row called."""

    unfolded = Signal(int)
    """The reader wants to see what the step of a row called below it."""

    folded = Signal(int)
    """The reader folds what is open below a row, or goes from a subagent's row to the one that called it."""

    follow_changed = Signal(bool, int)
    """Whether the end is followed, and how many rows came since it is not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.delegate = StepRowDelegate(self)
        self.setItemDelegate(self.delegate)
        self.heights = RowHeights(self, self.delegate)
        self.is_following = True
        """Whether new rows scroll into view."""
        self.takes_up = True
        """Whether scrolling to the end is to follow it: not of what is over."""
        self._missed = 0
        self._quiet = False
        self._take_font()
        self._settle = single_shot(self, 0, self._measure_visible)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def setModel(self, model: TrajectoryModel | NestedModel) -> None:  # type: ignore[override]
        """Show a model's rows."""
        super().setModel(model)
        model.modelReset.connect(self._on_reset)
        model.rowsAboutToBeInserted.connect(self.heights.note_anchor)
        model.rowsAboutToBeRemoved.connect(self.heights.note_anchor)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)
        model.dataChanged.connect(self._on_changed)

    # ---- following -------------------------------------------------------------------------------

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._missed = 0
        self._set_following(True)
        self._to_end()

    def rest(self) -> None:
        """Stay where the reader is, whatever comes."""
        self._set_following(False)

    def nothing_missed(self) -> None:
        """What came is not new: the session was only being read."""
        self._missed = 0
        self.follow_changed.emit(self.is_following, 0)

    def show_row(self, row: int) -> None:
        """Make a row current and visible, without telling that the reader opened it."""
        if not 0 <= row < self.model().rowCount():
            return
        self._quiet = True
        index = self.model().index(row, 0)
        if index != self.currentIndex() or not self.selectionModel().isSelected(index):
            self.select_alone(row)
        self._measure_visible()
        top, height = self.rowViewportPosition(row), self.rowHeight(row)
        if top < 0 or top + height > self.viewport().height():
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
            self._measure_visible()
        self._quiet = False

    def scroll_to(self, row: int, offset: int) -> None:
        """Bring a row to a place of the viewport, in pixels from its top."""
        self._quiet, was = True, self._quiet
        self.executeDelayedItemsLayout()
        self.updateGeometries()
        self.scrollTo(self.model().index(row, 0), QAbstractItemView.ScrollHint.PositionAtTop)
        self._measure_visible()
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + self.rowViewportPosition(row) - offset)
        self._quiet = was

    def rows_whole_in_sight(self) -> range:
        """The rows that the viewport shows from top to bottom."""
        rows, height = self.rows_in_sight(), self.viewport().height()
        first = rows.start + (len(rows) > 1 and self.rowViewportPosition(rows.start) < 0)
        last = rows.stop - 1
        cut = len(rows) > 1 and self.rowViewportPosition(last) + self.rowHeight(last) > height
        return range(first, rows.stop - cut)

    def mark_read(self, row: int) -> None:
        """Draw a row as the one that is read though the reader chose none, as while the end is followed; -1: none."""
        before, self.delegate.read_row = self.delegate.read_row, row
        if before != row:
            for changed in (before, row):
                self.update(self.model().index(changed, 0))

    def clear_current(self) -> None:
        """No row is current."""
        self._quiet = True
        self.selectionModel().clear()
        self._quiet = False

    def _set_following(self, on: bool) -> None:
        if on != self.is_following or on:
            self.is_following = on
            self.follow_changed.emit(on, self._missed)

    def _to_end(self) -> None:
        count = self.model().rowCount() if self.model() is not None else 0
        for row in range(max(0, count - 80), count):
            self.heights.measure(row)
        bar = self.verticalScrollBar()
        self._quiet, was = True, self._quiet
        self.updateGeometries()
        bar.setValue(bar.maximum())
        self.executeDelayedItemsLayout()  # else the next paint does it, and asks for another one
        self._quiet = was

    def _on_scrolled(self, value: int) -> None:
        self._settle.start()

    def _reader_scrolled(self) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        if at_end and not self.is_following and self.currentIndex().row() in (-1, self.model().rowCount() - 1):
            if self.takes_up:
                self.follow()
        elif not at_end and self.is_following:
            self.rest()

    # ---- what comes ------------------------------------------------------------------------------

    def rows_in_sight(self) -> range:
        """The rows that the viewport shows, at least in part."""
        return self.heights.in_sight()

    def _on_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        self.heights.inserted(first, last)
        self._fit_numbers()
        if self.is_following:
            self._to_end()
            return
        self.heights.hold_over(first, last)
        if last == self.model().rowCount() - 1:
            self._missed += last - first + 1
            self.follow_changed.emit(False, self._missed)
        self._settle.start()

    def _on_removed(self, parent: QModelIndex, first: int, last: int) -> None:
        self.heights.removed(first, last, stay=not self.is_following)
        self._settle.start()

    def _on_changed(self, top: QModelIndex, bottom: QModelIndex) -> None:
        self.heights.forget(top.row(), bottom.row())
        self._settle.start()

    def _on_reset(self) -> None:
        self.heights.clear()
        self._missed = 0
        self._fit_numbers()
        self._settle.start()

    def _measure_visible(self) -> None:
        """Measure the rows in sight; what the reader looks at stays where it is."""
        if self.model() is None or not self.isVisible():
            return
        anchor = self.heights.anchor()
        changed = self.heights.measure_sight()
        if self.is_following and (changed or self.verticalScrollBar().value() < self.verticalScrollBar().maximum()):
            self._to_end()
        elif changed:
            self.heights.hold(anchor)

    def _fit_numbers(self) -> None:
        """Make room for the longest step number; when it grows the whole list is measured again."""
        model = self.model()
        if self.delegate.set_digits(max(3, model.digits if isinstance(model, TrajectoryModel | NestedModel) else 3)):
            self.heights.clear()
            self.viewport().update()

    # ---- Qt events -------------------------------------------------------------------------------

    def currentChanged(self, current: Index, previous: Index) -> None:
        """A row became current; by the reader unless we did it ourselves."""
        super().currentChanged(current, previous)
        if current.isValid() and not self._quiet:
            self.mark_read(-1)
            self.rest()
            self.scrollTo(current, QAbstractItemView.ScrollHint.EnsureVisible)
            self.opened.emit(current.row())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Taking the focus opens no row: Qt would choose the first one, and following would end."""
        had = self.currentIndex().isValid()
        self._quiet, was = True, self._quiet
        super().focusInEvent(event)
        self._quiet = was
        if not had:
            self.clear_current()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter, Left, Right and Space open and close folds; Home and End go to the first and last row; the rest is
        Qt's, but that Ctrl takes the selection along: no key leaves one row selected and another one to be judged."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Right, Qt.Key.Key_Left):
            self._open_or_close(event.key())
            return
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.to_edge(event.key() == Qt.Key.Key_End, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
            self._reader_scrolled()
            return
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp) and not self.currentIndex().isValid():
            read = self.delegate.read_row  # who follows reads the newest step: going up begins there
            self.select_alone(read if read >= 0 else self.model().rowCount() - 1)
            return
        if event.key() in _MOVES and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event = QKeyEvent(event.type(), event.key(), event.modifiers() & ~Qt.KeyboardModifier.ControlModifier)
        super().keyPressEvent(event)

    def _open_or_close(self, key: int) -> None:
        row, model = self.currentIndex().row(), self.model()
        assert isinstance(model, TrajectoryModel | NestedModel)
        is_nested = isinstance(model, NestedModel) and bool(model.open_at(row) or model.at(row)[0].depth)
        if key == Qt.Key.Key_Left and is_nested and model.rows[row].kind != "fold":
            self.folded.emit(row)
        elif key == Qt.Key.Key_Right and model.called_at(row):
            self.unfolded.emit(row)
        elif key != Qt.Key.Key_Left and model.called_at(row):
            self.entered.emit(row)
        else:
            self.toggled.emit(row)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a fold opens it."""
        super().mousePressEvent(event)
        row = self.rowAt(event.position().toPoint().y())
        model = self.model()
        if row >= 0 and isinstance(model, TrajectoryModel | NestedModel) and model.rows[row].kind == "fold":
            self.toggled.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click on one of several waiting steps folds them again."""
        super().mouseDoubleClickEvent(event)
        self._open_or_close(Qt.Key.Key_Return)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling up stops following, scrolling to the end takes it up again."""
        super().wheelEvent(event)
        self._reader_scrolled()

    def verticalScrollbarAction(self, action: int) -> None:
        """The scroll bar was used."""
        super().verticalScrollbarAction(action)
        QTimer.singleShot(0, self, self._reader_scrolled)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width: measure again what is seen, and keep the first row in its place."""
        anchor = self.heights.anchor() if self.model() is not None else (0, 0)
        held = not self.is_following and self._shows_current(event.oldSize().height())
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.heights.clear()
            self._measure_visible()
            if not self.is_following:
                self.heights.hold(anchor)
        elif self.is_following:
            self._to_end()
        if held and not self._shows_current(self.viewport().height()):
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)

    def _shows_current(self, height: int) -> bool:
        """Whether the current row is whole in sight in a list of that height."""
        row = self.currentIndex().row()
        top = self.rowViewportPosition(row)
        return row >= 0 and 0 <= top <= height - self.rowHeight(row)

    def changeEvent(self, event: QEvent) -> None:
        """Another font: everything is measured anew."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "delegate"):
            self.delegate.ink.forget_colours()
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._take_font()

    def _take_font(self) -> None:
        if not hasattr(self, "delegate"):
            return
        self.delegate.set_font(self.font())
        self.verticalHeader().setDefaultSectionSize(self.delegate.ink.height)
        self.heights.clear()
        self.viewport().update()
