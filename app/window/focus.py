"""Where the keys go back to: the list of steps, or the list of what the layout shows in its place.

No button that judges gets the keyboard's focus by itself: where Qt would give it one, a list takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDockWidget, QLineEdit, QPlainTextEdit, QWidget

from app.desk.workplace import Workplace
from app.window.typing import Typing


class LostFocus(QObject):
    """Leads the focus back, and finds it again where it went with the start page or with what a layout hides."""

    def __init__(self, place: Workplace, bars: Sequence[QWidget], panels: Callable[[], Iterable[QWidget]],
                 parent: QObject) -> None:
        """`bars` judge; `panels` gives those whose list takes the keys where the steps are not in front."""
        super().__init__(parent)
        self._place, self._bars, self._panels = place, bars, panels
        self._owed: QWidget | None = None
        self.typing = Typing(place, parent)
        self._asked, self._is_asking = 0, False
        place.sight.opened.connect(self.find_soon)
        place.sight.grew.connect(self._return_owed_keys)
        for entry in place.actions.table:
            place.actions[entry.key].triggered.connect(self._count_asked)
        for dock in parent.findChildren(QDockWidget):
            dock.visibilityChanged.connect(partial(self._on_front, dock))
        QApplication.instance().focusChanged.connect(self._on_moved)  # type: ignore[union-attr]

    def lead_back(self) -> None:
        """Give the keys to the list of steps; where that is not in front, as in Compare, to the first list that is."""
        if not self._place.cursor.focus_list() and (found := self._first_list()) is not None:
            found.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def is_home(self, widget: QWidget) -> bool:
        """Whether this is the list that the keys go back to."""
        return widget is self._first_list()

    def walked_list(self, dock: QWidget) -> QWidget | None:
        """The list in a dock while the reader goes through it by keys: the next key is for it again."""
        here = QApplication.focusWidget()
        walks = (isinstance(here, QAbstractItemView) and dock.isAncestorOf(here)
                 and QApplication.mouseButtons() == Qt.MouseButton.NoButton)
        return here if walks else None

    def lead_on(self, walked: QWidget | None, show: Callable[[], None]) -> None:
        """Another layout stands: go on in the list that is walked, which `show` brings to the front, or else lead back
        when what it shows and hides has its place: Qt gives the keys to what comes next."""
        if walked is not None:
            show()
            self._count_asked()
            walked.setFocus()
            return
        self._place.cursor.focus_list()
        QTimer.singleShot(0, self, self._lead_back_in_session)

    def _lead_back_in_session(self) -> None:
        here = QApplication.focusWidget()
        # who writes already chose the place, also while a box sends and is read-only
        writes = isinstance(here, QLineEdit | QPlainTextEdit) and here.isVisible()
        if self._place.sight.session and not writes:  # the start page leads the keys itself
            self.lead_back()

    def _first_list(self) -> QAbstractItemView | None:
        lists = (found for panel in self._panels() if not panel.visibleRegion().isEmpty()
                 for found in panel.findChildren(QAbstractItemView) if found.isVisible() and found.isEnabled())
        return next(lists, None)

    def _on_front(self, dock: QDockWidget, front: bool) -> None:
        """A dock came to the front of its place, or went behind another tab: for Qt it is as visible there."""
        here = QApplication.focusWidget()
        if not front and here is not None and dock.isVisible() and dock.isAncestorOf(here):
            QTimer.singleShot(0, self, partial(self._leave_behind, here))

    def _leave_behind(self, here: QWidget) -> None:
        if QApplication.focusWidget() is here and here.visibleRegion().isEmpty():
            self.lead_back()

    def find_soon(self) -> None:
        """Look when what is being shown and hidden now has its place."""
        QTimer.singleShot(0, self, self._find)

    def _on_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        """Where Qt itself moved the focus, as it hid what had it, the next in its order took the keys by chance."""
        window = self.parent()
        if (isinstance(window, QWidget) and before is not None and now is not None and not before.isVisible()
                and before.window() is window and now.window() is window
                and not self._is_asking and QApplication.mouseButtons() == Qt.MouseButton.NoButton):
            QTimer.singleShot(0, self, partial(self._return_keys, now, self._asked))

    def _count_asked(self) -> None:
        """What a reader asks for may move the focus, and that is no chance, wherever it was before."""
        self._asked, self._is_asking = self._asked + 1, True  # whoever does it is called before this or after
        self._owed = None
        QTimer.singleShot(0, self, partial(QTimer.singleShot, 0, self, self._end_asking))  # after calls that are queued

    def _end_asking(self) -> None:
        self._is_asking = False

    def _return_keys(self, chance: QWidget, asked: int) -> None:
        """Steps that are still being read can take no keys: then once more when they are there."""
        if self._place.sight.session and QApplication.focusWidget() is chance and self._asked == asked:
            self.lead_back()
            self._owed = None if self._place.cursor.focus_list() else QApplication.focusWidget()

    def _return_owed_keys(self) -> None:
        if self._owed is not None and self._owed is QApplication.focusWidget():
            QTimer.singleShot(0, self, partial(self._return_keys, self._owed, self._asked))

    def _find(self) -> None:
        if self._is_lost():
            self.lead_back()

    def _is_lost(self) -> bool:
        here = QApplication.focusWidget()
        if not (self._place.sight.session or self._place.desks.rows()):  # the start page leads the keys itself
            return False
        return here is None or not here.isVisible() or any(bar.isAncestorOf(here) for bar in self._bars)
