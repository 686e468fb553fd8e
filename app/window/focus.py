"""No button that judges gets the keyboard's focus by itself: where Qt would give it one, a list takes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.desk.workplace import Workplace


class LostFocus(QObject):
    """Finds the focus again that went with the start page, or with what a layout hides."""

    def __init__(self, place: Workplace, bars: Sequence[QWidget], sessions: QWidget, parent: QObject) -> None:
        """`bars` judge; `sessions` takes the keys where the list of steps is behind another panel, as in Compare."""
        super().__init__(parent)
        self._place, self._bars, self._sessions = place, bars, sessions
        place.sight.opened.connect(self.find_soon)

    def find_soon(self) -> None:
        """Look when what is being shown and hidden now has its place."""
        QTimer.singleShot(0, self, self._find)

    def _find(self) -> None:
        if self._is_lost():
            self._place.cursor.focus_list()
        if self._is_lost():
            self._sessions.setFocus(Qt.FocusReason.OtherFocusReason)

    def _is_lost(self) -> bool:
        here = QApplication.focusWidget()
        if not self._place.sight.session:  # the start page leads the keys itself
            return False
        return here is None or not here.isVisible() or any(bar.isAncestorOf(here) for bar in self._bars)
