"""The Disagreements panel: the steps on which opinions differ, and the numbers of agreement."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit import theme
from app.kit.boxes import apart, column
from app.kit.empty import Empty, Faces
from app.kit.entries import EntriesModel, EntryList
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, plain_action
from app.kit.thin_line import Gist


class DisagreementsView(QWidget):
    """A list; `list.opened` gives a step's number."""

    def __init__(self, model: EntriesModel, following: QAction, parent: QWidget | None = None) -> None:
        """`following` goes to the next disagreement."""
        super().__init__(parent)
        self.gist = Gist(self)
        self.list = EntryList(model, self.tr("Steps on which opinions differ"), self)
        self.numbers = PlainLabel("", self, wrap=True, font=theme.small_font(self.font()))
        self.next = QPushButton(plain_action(following.text()), self)
        self.next.clicked.connect(following.trigger)
        self.empty = Empty("", self)
        self._faces = Faces(self.list, self.empty)
        column((self._faces, 1), apart((self.numbers, 1), self.next), on=self, spacing=0, margin=0)

    def show_state(self, count: int, *, blind: bool) -> None:
        """Show the list, or why it is empty."""
        self._faces.show_content(count > 0)
        self.gist.say(self.tr("%Ln step(s) on which opinions differ", None, plural(count)) if count else
                       self.tr("Blind: shown once you have decided") if blind else self.tr("Nobody disagrees"),
                       is_nothing=not count)
        self.next.setEnabled(count > 0)
        self.empty.set_hint(
            self.tr("Blind: a step appears here once you have decided on it and others decide otherwise.") if blind else
            self.tr("Steps that one keeps and another masks appear here: people, rules and judges."))
