"""What stands where the words in a box leave nothing of a list: that it is so, and the way back to all of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QSizePolicy, QWidget

from app.kit import theme, tokens
from app.kit.box_over_list import key_in, went_down
from app.kit.empty import Empty
from app.kit.i18n import translate


class NothingFound(Empty):
    """Its button shows all again, and Esc does wherever in it the keys are."""

    def __init__(self, hint: str, show_all: Callable[[], object], parent: QWidget) -> None:
        action = QAction(translate("NothingFound", "Show all (Esc)"), parent)
        action.triggered.connect(show_all)
        super().__init__(hint, parent, action=action)
        self._action = action
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)  # the list decides how low it gets
        self.around.setContentsMargins(theme.px(tokens.SIDE), theme.GRID, theme.px(tokens.SIDE), theme.GRID)
        self.around.setSpacing(theme.GRID)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape shows all, as the button says."""
        if event.key() == Qt.Key.Key_Escape:
            self._action.trigger()
        else:
            super().keyPressEvent(event)


class FilterKeys(QObject):
    """The keys of a box that filters a list: Esc empties it, and goes on into the list as Down and Enter do."""

    def __init__(self, box: QLineEdit, view: QAbstractItemView) -> None:
        super().__init__(box)
        self._box, self._view = box, view
        box.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        key = key_in(self._box, watched, event)
        if key == Qt.Key.Key_Escape:
            self._box.clear()
            self._view.setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return went_down(key, self._view) or super().eventFilter(watched, event)
