"""The box in which guidance is written: Ctrl+Enter sends, Enter is for the text, Tab goes to a placeholder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextEdit, QPushButton, QSizePolicy, QToolButton, QWidget

from app.guidance.mode_switch import ModeSwitch
from app.guidance.model import GuidanceLine
from app.guidance.templates import next_place
from app.kit import icons, quantities, theme, tokens
from app.kit.boxes import column, named, row
from app.kit.highlight import units
from app.kit.safe_text import PlainLabel, menu_text, set_hint
from core.protocol.operations import MAX_WORDS

LINES = 3
"""Lines of the box in sight, at least."""


class GuidanceBox(QWidget):
    """Writes new guidance, or changes what waits. What was typed is announced at once, and never thrown away."""

    sent = Signal(str, str)
    """(text, mode) of new guidance."""
    changed = Signal(str, object)
    """(guidance, new text); None withdraws."""
    draft_changed = Signal(str)
    edit_changed = Signal(str, str)
    """(guidance, text so far) of a change that is being written; ("", "") when it is over."""
    template_chosen = Signal(str)
    """Take it, once what is known is filled in."""
    template_saved = Signal(str)
    wanted = Signal()
    """A text is put into the box for the writer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = named(QPlainTextEdit(self, tabChangesFocus=True), self.tr("Write guidance"))
        self.box.installEventFilter(self)
        self.box.setFont(theme.font_of("reading"))
        self.box.setObjectName("guidance")
        self.box.setMinimumHeight(LINES * QFontMetrics(self.box.font()).lineSpacing() + 2 * theme.px(tokens.BETWEEN))
        self.mode = ModeSwitch(self)
        self.send = QPushButton(icons.icon("send", "on_fill"), self._send_words(), self, default=True)
        icons.beside_words(self.send)
        bold = QFontMetrics(theme.bold_font(self.send.font()))
        self.send.setMinimumWidth(bold.horizontalAdvance(self._send_words()) + theme.px(60))
        self.send.setToolTip(self.tr("Send (Ctrl+Enter)"))
        self.cancel = QPushButton(self.tr("Cancel"), self)
        self.cancel.setToolTip(self.tr("Leave the message as it was (Esc)"))
        self.cancel.hide()
        self.hint = PlainLabel("", self, elide=True, font=theme.font_of("fact"), meaning="attention")
        self.hint.hide()
        self.keys = PlainLabel(self.tr("Keys type here · Esc: list"), self, elide=True)
        self.keys.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.keys.setFont(theme.font_of("fact"))
        self.keys.setForegroundRole(self.palette().ColorRole.Link)
        self.keys.hide()
        self.when = PlainLabel("", self, elide=True, faint=True, font=theme.font_of("fact"))
        self.templates = QToolButton(self, autoRaise=True, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.templates.setIcon(icons.icon("plus"))
        self.templates.setAccessibleName(self.tr("Templates"))
        self.templates.setToolTip(self.tr("Begin with a ready sentence (Ctrl+T)"))
        self.templates.setMenu(QMenu(self.templates))
        self._editing = ""
        self._draft = ""
        self._warned = self._meanwhile = ""
        self._writable = False
        self._has_template = self._is_long = False
        self._lay_out()
        self.send.clicked.connect(self.submit)
        self.cancel.clicked.connect(self.stop_editing)
        self.box.textChanged.connect(self._on_text)

    def _send_words(self) -> str:
        return self.tr("Send") + "  Ctrl+Enter"

    def _lay_out(self) -> None:
        frame = self._frame = QFrame(self)
        frame.setObjectName("writing")
        line = row(self.keys, 1, self.templates, self.cancel, self.mode, self.send,
                   spacing=theme.px(tokens.BETWEEN))
        column((self.box, 1), line, on=frame, spacing=theme.GRID, margin=theme.px(6))
        column((frame, 1), self.hint, self.when, on=self, spacing=theme.GRID, margin=0)
        self.setTabOrder(self.box, self.send)

    def say_when(self, words: str) -> None:
        """When the agent reads what is written, below the box."""
        self.when.setText(words)
        self._say_hint(self.hint.text())

    @property
    def _may_send(self) -> bool:
        return self.box.isEnabled() and bool(self.text.strip()) and not self._is_long

    def _say_hint(self, words: str) -> None:
        """What the writer must know first, where else it says when it is read."""
        self.hint.setText(words)
        self.hint.setVisible(bool(words))
        self.when.setVisible(not words and bool(self.when.text()))

    # ---- what the controller says ----------------------------------------------------------------

    @property
    def text(self) -> str:
        """What stands in the box."""
        return self.box.toPlainText()

    def open_for(self, *, writable: bool, hint: str) -> None:
        """Whether one can write; `hint` stands in the empty box. A change that is being written stays stored."""
        self._leave_edit()
        self._writable = writable
        for widget in (self.box, self.mode, self.templates):
            widget.setEnabled(writable)
        set_hint(self.box, hint)
        self._on_text(announce=False)

    def set_draft(self, text: str) -> None:
        """Put a stored draft into the box."""
        blocked = self.box.blockSignals(True)
        self.box.setPlainText(text)
        self.box.blockSignals(blocked)
        self._on_text(announce=False)

    def busy(self, on: bool) -> None:
        """While a message is being stored the box cannot change; what is typed meanwhile comes into it behind."""
        self.box.setReadOnly(on)
        self.send.setEnabled(not on and self._may_send)
        if self._meanwhile and not on:
            typed, self._meanwhile = self._meanwhile, ""
            self.box.insertPlainText(typed)

    def offer_templates(self, templates: Sequence[str], manage: QAction) -> None:
        """The ready sentences; `manage` opens the place where they are changed."""
        menu = self.templates.menu()
        menu.clear()
        for number, text in enumerate(templates, 1):
            key = f"&{number}  " if number < 10 else ""
            menu.addAction(key + menu_text(text)).triggered.connect(partial(self._on_template, text))
        menu.addSeparator()
        menu.addAction(self.tr("Save this text as a template")).triggered.connect(self._save_template)
        menu.addAction(manage)

    def take(self, text: str) -> None:
        """Put a text where the writer is; a placeholder in it is selected."""
        self.wanted.emit()
        self._has_template = True
        start = len(_before(self.text, self.box.textCursor().selectionStart()))
        self.box.insertPlainText(text)
        self._select_place(start)
        self.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def give_back(self, text: str) -> bool:
        """A change that was refused: its text into the box, unless something else is being written there."""
        if self._editing or self.text.strip() or not self.box.isEnabled():
            return False
        self.box.setPlainText(text)
        self.box.moveCursor(QTextCursor.MoveOperation.End)
        self._say_hint(self.tr("Too late to change the message: your text is here, to be sent as a new one."))
        return True

    # ---- editing ---------------------------------------------------------------------------------

    def start_editing(self, line: GuidanceLine, text: str | None = None) -> None:
        """Change a message that waits; `text` goes on with a change that was begun before, and takes no keys."""
        if not self._editing:  # from one message to another: the draft is put aside already
            self._draft = self.text
        self._editing = line.id
        self._show_editing(True)
        self.set_draft(line.text if text is None else text)
        if text is None:
            self.wanted.emit()
            self.box.setFocus()

    def stop_editing(self) -> None:
        """Leave the message as it was; the draft comes back."""
        if self._editing:
            self._leave_edit()
            self.edit_changed.emit("", "")

    def _leave_edit(self) -> None:
        if self._editing:
            self._editing = ""
            self._show_editing(False)
            self.set_draft(self._draft)

    def _show_editing(self, on: bool) -> None:
        self.cancel.setVisible(on)
        self.mode.setVisible(not on)
        self.box.setEnabled(on or self._writable)  # what waits in a session that ended can still be changed
        self.send.setText(self.tr("Save change") if on else self._send_words())
        self._say_hint(self.tr("Editing a queued message") if on else "")

    # ---- own behaviour ---------------------------------------------------------------------------

    def submit(self) -> None:
        """Send, or save the change; a placeholder that is not filled in stops it once."""
        text = self.text
        if not self._may_send or self.box.isReadOnly() or self._unfilled(text):
            return
        if self._editing:
            self.changed.emit(self._editing, text.strip())
            self.stop_editing()
            return
        self._say_hint("")
        self.busy(True)
        self.sent.emit(text, self.mode.mode)

    def _unfilled(self, text: str) -> bool:
        place = next_place(text)
        if place is None or self._warned == text or not self._has_template:
            return False
        self._warned = text
        self._select_place(0)
        self._say_hint(self.tr("{place} is not filled in. Ctrl+Enter again sends it as it is.").format(
            place=text[place[0] : place[1]]))
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter sends, Escape leaves an edit, Tab goes to the next placeholder while there is one."""
        if watched is self.box and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show_keys(on=event.type() == QEvent.Type.FocusIn)
        if watched is self.box and isinstance(event, QKeyEvent) and self.box.isReadOnly() and _is_letter(event):
            self._meanwhile += event.text() if event.type() == QEvent.Type.KeyPress else ""
            event.accept()  # no command of the window
            return True
        if watched is self.box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (
                    event.modifiers() & Qt.KeyboardModifier.ControlModifier):
                self.submit()
                return True
            if event.key() == Qt.Key.Key_Escape and self._editing:
                self.stop_editing()
                return True
            if event.key() == Qt.Key.Key_Tab and self._has_template and next_place(self.text) is not None:
                self._select_place(len(_before(self.text, self.box.textCursor().selectionEnd())))
                return True
        return super().eventFilter(watched, event)

    def _show_keys(self, *, on: bool) -> None:
        """Say that letters are typed here now, and frame the box."""
        self.keys.setVisible(on)
        self._frame.setProperty("typed", on)
        self._frame.style().polish(self._frame)

    def _select_place(self, start: int) -> None:
        place = next_place(self.text, start)
        if place is not None:
            cursor = self.box.textCursor()
            cursor.setPosition(units(self.text[: place[0]]))
            cursor.setPosition(units(self.text[: place[1]]), QTextCursor.MoveMode.KeepAnchor)
            self.box.setTextCursor(cursor)

    def _on_text(self, *, announce: bool = True) -> None:
        was_long, count = self._is_long, len(self.text)
        self._is_long = count > MAX_WORDS
        if self._is_long or was_long:
            words = self.tr("{n} characters: a message has at most {most}.")
            self._say_hint(words.format(n=quantities.number(count), most=quantities.number(MAX_WORDS))
                           if self._is_long else "")
        self.send.setEnabled(self._may_send)
        if not self.text:
            self._has_template = False
        if announce and self._editing:
            self.edit_changed.emit(self._editing, self.text)
        elif announce and self.box.isEnabled():
            self.draft_changed.emit(self.text)

    def _on_template(self, text: str, *_: object) -> None:
        self.template_chosen.emit(text)

    def _save_template(self) -> None:
        if self.text.strip():
            self.template_saved.emit(self.text.strip())


def _is_letter(event: QKeyEvent) -> bool:
    return bool(event.text()) and event.text().isprintable() and event.type() != QEvent.Type.KeyRelease and not (
        event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier))


def _before(text: str, position: int) -> str:
    """The text before a position of Qt's, which counts UTF-16 units."""
    return text.encode("utf-16-le")[: 2 * position].decode("utf-16-le", "ignore")
