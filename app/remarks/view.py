"""The Remarks panel: the list, the whole of the chosen one, and the box in which one is written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from app.kit import theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import apart, column, named, row, words_box
from app.kit.empty import Empty, Faces
from app.kit.entries import EntriesModel, EntryList
from app.kit.i18n import plural
from app.kit.nothing_found import FilterKeys, NothingFound
from app.kit.safe_text import PlainLabel, one_line
from app.kit.thin_line import Gist

LINES = 4
"""Lines of the box in sight."""


class RemarkBox(QWidget):
    """Writes one remark: Ctrl+Enter gives it, Escape leaves without."""

    given = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about = PlainLabel("", self, elide=True, faint=True)
        self.text = named(QPlainTextEdit(self, tabChangesFocus=True), self.tr("Remark"))
        self.text.setPlaceholderText(self.tr("Ctrl+Enter adds the remark, Esc leaves without."))
        self.text.setFixedHeight(LINES * self.fontMetrics().lineSpacing())
        self.text.installEventFilter(self)
        self.add = QPushButton(self.tr("Add"), self)
        self.add.clicked.connect(self._give_text)
        column(self.about, row((self.text, 1), self.add, spacing=theme.GRID), on=self, spacing=theme.GRID,
               margin=(theme.px(tokens.SIDE), 0, theme.px(tokens.SIDE), 0))
        self.hide()

    def write(self, about: str) -> None:
        """Begin a remark; what was begun before stays."""
        self.about.setText(one_line(about, 300))
        self.show()
        self.text.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter and Escape."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                self.left.emit()
                return True
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._give_text()
                return True
        return super().eventFilter(watched, event)

    def _give_text(self) -> None:
        text = self.text.toPlainText().strip()
        if text:
            self.text.clear()
            self.hide()
            self.given.emit(text)


class RemarksView(QWidget):
    """A list; `list.opened` gives a Remark."""

    filtered = Signal(str)

    def __init__(self, model: EntriesModel, writing: QAction, parent: QWidget | None = None) -> None:
        """`writing` begins a remark on what is selected."""
        super().__init__(parent)
        self.gist = Gist(self)
        self.gist.followed.connect(writing.trigger)
        self.filter = words_box(self, self.tr("Filter remarks …"), self.tr("Filter remarks"), clears=True)
        self.filter.textChanged.connect(self.filtered)
        self.list = EntryList(model, self.tr("Remarks"), self)
        self.list.setMinimumHeight(theme.px(tokens.HEIGHTS["session"]))
        self.empty = Empty("", self)
        self.nothing = NothingFound(self.tr("No remark holds these words."), self.filter.clear, self)
        FilterKeys(self.filter, self.list)
        hits = QWidget(self)
        self._hits = Faces(self.list, self.nothing, hits)
        self._faces = Faces(hits, self.empty)
        self.box = RemarkBox(self)
        self.write = IconButton(writing, "message-square", self)
        column(apart((self.filter, 1), self.write), (self._faces, 1), self.box, on=self, spacing=0, margin=0)
        self.setFocusProxy(self.list)

    def show_state(self, count: int, *, blind: bool) -> None:
        """Show the list, or why it is empty."""
        self._faces.show_content(bool(count or self.filter.text()))
        self._hits.show_content(count > 0)
        is_nothing = not count and not self.filter.text()
        self.gist.say(self.tr("No remark yet") if is_nothing else self.tr("%Ln remark(s)", None, plural(count)),
                       self.tr("write one") if is_nothing else "", is_nothing=is_nothing)
        if blind:
            self.empty.set_hint(self.tr("Blind: what others remark on a step appears once you have decided on it."))
        else:
            self.empty.set_hint(self.tr("Select words in the Step panel and press Ctrl+Alt+M to remark on them."))
