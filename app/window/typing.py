"""Letters that were meant for a box never become commands: a verdict is one letter long.

A box may be taken from who writes in it: its session ends, another reader takes over, a layout is shown. Then the keys
go back to it where it is still there; else letters do nothing until the reader says with another key, or a click, that
they have seen it. So they do after G where nobody can be guided, and until a session that is asked for is taken over.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from app.desk.workplace import Workplace

_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_HELD = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta, Qt.Key.Key_CapsLock)
_WRITING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Backspace)
"""Keys that go on with a text while nothing takes it."""


LEADING = ("go.guide", "session.take_over")
"""Commands after which one writes, in a box that may be closed, or opens in a while."""


def takes_letters(widget: QWidget | None) -> bool:
    """Whether a letter is typed there."""
    return (isinstance(widget, QLineEdit) or (isinstance(widget, QPlainTextEdit) and not widget.isReadOnly())
            or (isinstance(widget, QComboBox) and widget.isEditable()))


class Typing(QObject):
    """Watches who writes in the boxes of a window."""

    changed = Signal()
    """Letters do nothing, or something again."""

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place, self._window = place, parent
        self._is_typing = False
        """The last that the reader did was to write."""
        self._box: QWidget | None = None
        """Where they wrote last."""
        self.is_lost = False
        """Whether letters do nothing."""
        parent.installEventFilter(self)
        for key in LEADING:
            place.actions[key].triggered.connect(self._expect_letters)
        QApplication.instance().focusChanged.connect(self._on_moved)  # type: ignore[union-attr]

    def _watch_keys(self) -> None:
        for window in QGuiApplication.topLevelWindows():
            window.installEventFilter(self)

    def _expect_letters(self, *_: object) -> None:
        """Who asked for a box writes, whether it opens or not."""
        self._is_typing, self._box = True, None
        self._lose(on=True)
        QTimer.singleShot(0, self, self._find)

    def _find(self) -> None:
        if takes_letters(QApplication.focusWidget()):
            self._lose(on=False)

    def _lose(self, *, on: bool) -> None:
        if on != self.is_lost:
            self.is_lost = on
            self.changed.emit()

    def _stop(self) -> None:
        """The reader does something else than writing."""
        self._is_typing = False
        self._lose(on=False)

    def _on_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        """Qt leads the keys of a form that closes from box to box, and on to what is no box."""
        if before is not None and takes_letters(before):
            before.removeEventFilter(self)
        if takes_letters(now):
            self._lose(on=False)
            now.installEventFilter(self)  # type: ignore[union-attr]
        elif self._is_typing and (now is None or now.window() is self._window):
            self._lose(on=True)
            QTimer.singleShot(0, self, self._give_back)

    def _give_back(self) -> None:
        """What took the keys was not the reader; where the box is gone for good, letters wait for one."""
        box = self._box
        if self.is_lost and box is not None and isValid(box) and box.isVisible() and box.isEnabled():
            box.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys before anybody has them."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return not isinstance(watched, QWidget) and self._on_key(event)
        if isinstance(event, QInputMethodEvent) and event.commitString() and isinstance(watched, QWidget):
            self._is_typing, self._box = True, watched
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._stop()
        elif event.type() == QEvent.Type.Show and watched is self._window:
            self._watch_keys()
        return False

    def _on_key(self, event: QKeyEvent) -> bool:
        """Whether the key is for nobody."""
        if event.key() in _HELD:
            return False
        is_text = event.key() in _WRITING or (event.text() and event.text().isprintable())
        if event.modifiers() & _COMMANDS or not is_text:
            self._stop()
            return False
        if self.is_lost:
            event.accept()
            self._place.notices.tell(self.tr("No box takes what you type. Esc leads to the list."), "attention")
            return True
        here = QApplication.focusWidget()
        self._is_typing = takes_letters(here) and event.key() not in _WRITING[:2]
        if self._is_typing:
            self._box = here
        return False
