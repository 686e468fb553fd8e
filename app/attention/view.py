"""The Attention panel: what needs a person's look in any session, to be worked through."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit import theme
from app.kit.boxes import row
from app.kit.empty import Empty, faces
from app.kit.entries import EntriesModel, EntryList, EntryRole
from app.kit.i18n import plural
from app.kit.thin_line import Gist


class AttentionView(QWidget):
    """Intents: `opened` and `dealt_with`, each with an Alert."""

    opened = Signal(object)
    dealt_with = Signal(object)

    def __init__(self, model: EntriesModel, next_session: QAction, parent: QWidget | None = None) -> None:
        """`next_session` goes to the next entry."""
        super().__init__(parent)
        self.gist = Gist(self)
        self.gist.say(self.tr("Nothing needs you"))
        self.list = EntryList(model, self.tr("What needs attention"), self)
        self.done = QPushButton(self.tr("Dealt with"), self)
        self.done.setToolTip(self.tr("Take the chosen entry off the list (Delete)"))
        self.done.setEnabled(False)
        self.next = QPushButton(self.tr("Next"), self)
        key = next_session.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self.next.setToolTip(self.tr("Open the next one ({key})").format(key=key))
        self.next.clicked.connect(next_session.trigger)
        empty = Empty(self.tr("Sessions that repeat themselves, fail often, stand still, wait for you or have ended "
                              "are listed here, each with the step to look at."), self,
                      title=self.tr("Nothing needs you"))
        self._faces = faces(self, empty, (self.list, 1), row(1, self.done, self.next, spacing=theme.GRID))
        self.list.opened.connect(self.opened)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        model.modelReset.connect(self._on_reset)
        self.done.clicked.connect(self._on_done)

    def show_content(self, on: bool) -> None:
        """Show the list, or that there is nothing to do."""
        self._faces.show_content(on)
        rows = self.list.model().rowCount() if on else 0
        self.gist.say(self.tr("%Ln need(s) you", None, plural(rows)) if on else self.tr("Nothing needs you"),
                       is_nothing=not on)

    def select(self, row: int) -> None:
        """Make an entry current."""
        self.list.setCurrentIndex(self.list.model().index(row, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete takes the current entry off the list."""
        if event.matches(QKeySequence.StandardKey.Delete):
            self._on_done()
            return
        super().keyPressEvent(event)

    def _on_current(self, current: QModelIndex) -> None:
        self.done.setEnabled(current.isValid())

    def _on_reset(self) -> None:
        self.done.setEnabled(False)

    def _on_done(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.dealt_with.emit(index.data(EntryRole))
