"""The Guidance panel: everything an annotator says to one session, with its fate and its effect, and the box."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from app.guidance.box import GuidanceBox
from app.guidance.effect import EffectModel
from app.guidance.model import GuidanceModel
from app.guidance.queue_view import QueueView
from app.kit import icons, theme, tokens
from app.kit.boxes import column
from app.kit.docks import show_dock_of
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.kit.safe_text import plain_action
from app.kit.thin_line import Gist

TEMPLATES = (
    QT_TRANSLATE_NOOP("GuidanceView", "Look at the {error} of step {step} before you go on: {why}"),
    QT_TRANSLATE_NOOP("GuidanceView", "Do not use the test split for training or for choosing."),
    QT_TRANSLATE_NOOP("GuidanceView", "You repeat yourself since step {step}. Say what you have tried, "
                                       "then try another way: {other way}"),
    QT_TRANSLATE_NOOP("GuidanceView", "Start it in the background and check on it every {minutes} minutes."),
    QT_TRANSLATE_NOOP("GuidanceView", "Look at {file} again: {what is wrong there}"),
)


BOTH = 420
"""The height from which on what was said before stands over the box instead of in its place."""


class GuidanceView(QWidget):
    """Queue and box, one above the other or side by side."""

    def __init__(self, model: GuidanceModel, effect: EffectModel, actions: Mapping[str, QAction],
                 parent: QWidget | None = None) -> None:
        """`actions`: those whose keys begin with "guide.", by the rest of the key."""
        super().__init__(parent)
        self.gist = Gist(self)
        self.queue = QueueView(model, effect, self)
        self.writing = GuidanceBox(self)
        self.list, self.box, self.send = self.queue.list, self.writing.box, self.writing.send
        self._actions = actions
        self._usual = "note"
        self._closed = self.tr("No session is chosen")
        """Why nobody can be guided; "" where somebody can."""
        self._began_at: QWidget | None = None
        """Where the keys were when the box was asked for and closed: it has them when it opens, if they still are."""
        for place, (key, icon) in enumerate((("edit", "pencil"), ("withdraw", "undo-2"), ("again", "copy"),
                                             ("effect", "history"))):
            self.queue.head.insertWidget(2 + place, _small(self, actions[key], icon))
        gap = theme.px(tokens.BETWEEN)
        column((self.queue, 1), self.writing, on=self, margin=gap, spacing=gap)
        self._connect()
        self.set_target("", "")

    def _connect(self) -> None:
        for key, slot in (("edit", self._edit), ("withdraw", self._withdraw_current), ("again", self._send_again),
                          ("template", self._template), ("find", self._find)):
            self._actions[key].triggered.connect(slot)
        self._actions["effect"].toggled.connect(self.queue.show_effect)
        self._actions["find_all"].toggled.connect(self._find_all)
        self.queue.everywhere.toggled.connect(self._actions["find_all"].setChecked)
        self.queue.withdraw_asked.connect(self._withdraw_current)
        self.queue.again_asked.connect(self._send_again)
        self.queue.current_changed.connect(self._on_current)
        self.queue.all_shown.connect(self._show_writing)
        self.writing.wanted.connect(self._return_room)
        self._on_current()

    def _show_writing(self, *_: object) -> None:
        """What was said before has the box's place where there is no room for both."""
        self.writing.setVisible(not self.queue.shows_all or self.height() >= theme.px(BOTH))

    def _return_room(self) -> None:
        """The box is wanted: it comes to the front, and what was looked through gives its place back."""
        show_dock_of(self)
        if self.writing.isHidden():
            self._actions["effect"].setChecked(False)
            self.queue.end_find()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There may be room for both now."""
        super().resizeEvent(event)
        self._show_writing()

    def set_target(self, title: str, why_not: str) -> None:
        """Name the session that is written to; `why_not` says why none can be, then the box is closed."""
        self._closed = "" if title and not why_not else why_not or self.tr("No session is chosen")
        self._say_gist()
        self.writing.open_for(writable=bool(title) and not why_not, hint=why_not or (
            self.tr("Tell “{title}” what to do. Ctrl+Enter sends.").format(title=title) if title else
            self.tr("Choose a session to guide it.")))
        if not self._closed and self._began_at is not None and self._began_at is QApplication.focusWidget():
            self.start_writing()

    def _say_gist(self) -> None:
        self.gist.say(self._closed or self.tr("Tell the agent something"),
                       is_nothing=bool(self._closed) and not self.queue.line_count)

    def set_mode(self, mode: str) -> None:
        """Choose note or interrupt; each text that was sent leads back to it."""
        self._usual = mode
        self.writing.mode.mode = mode

    def sent_ok(self, text: str) -> None:
        """The text cannot be lost any more: clear the box if it is still that text."""
        if self.writing.text == text:
            self.writing.set_draft("")
        self.set_mode(self._usual)
        self.writing.busy(False)

    def start_writing(self) -> None:
        """Put the cursor into the box."""
        self._return_room()
        self._began_at = None if self.box.isEnabled() else QApplication.focusWidget()
        self.box.window().activateWindow()
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _edit(self) -> None:
        if (line := self.queue.to_change) is not None:
            self.writing.start_editing(line)

    def _withdraw_current(self) -> None:
        line = self.queue.line
        if line is not None and line.changeable:
            self.writing.changed.emit(line.id, None)

    def _send_again(self) -> None:
        line = self.queue.line
        if line is not None and self.box.isEnabled():
            self.writing.take(line.text)

    def _template(self) -> None:
        if self.box.isEnabled():
            self.start_writing()
            self.writing.templates.showMenu()

    def _find(self) -> None:
        show_dock_of(self)
        self._actions["effect"].setChecked(False)
        self.queue.start_find()

    def _find_all(self, on: bool) -> None:
        self.queue.everywhere.setChecked(on)
        self._find() if on else None

    def _on_current(self) -> None:
        self._say_gist()
        line = self.queue.line
        self._actions["edit"].setEnabled(self.queue.to_change is not None)
        self._actions["withdraw"].setEnabled(line is not None and line.changeable)
        self._actions["again"].setEnabled(line is not None and self.box.isEnabled())
        shown = self._actions["effect"].isChecked()
        here = line is not None and line.step is not None and not line.session
        self._actions["effect"].setEnabled(shown or here)


def _small(parent: QWidget, action: QAction, icon: str) -> QToolButton:
    made = QToolButton(parent)
    action.setIcon(icons.icon(icon))
    made.setDefaultAction(action)
    made.setAccessibleName(plain_action(action.text()).rstrip("…"))
    made.setAutoRaise(True)
    return made
