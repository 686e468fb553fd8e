"""The snapshots of a session: what each holds, and what one can do with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from app.kit import theme
from app.kit.boxes import column, row
from app.kit.empty import Empty, faces
from app.kit.entries import EntriesModel, EntryRole
from app.kit.entry_list import EntryList
from app.kit.safe_text import PlainLabel
from app.kit.scrolled import within
from app.sessions.snapshot_words import SavedPlace, lines_of, lost_of
from core.domain.events import SnapshotTaken


class SnapshotsDialog(QDialog):
    """`branch_asked` and `restore_asked` give the chosen snapshot."""

    branch_asked = Signal(object)
    restore_asked = Signal(object)

    def __init__(self, title: str, take: QAction, parent: QWidget) -> None:
        """`take` has one more taken."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Snapshots of “{title}”").format(title=title))
        self.resize(within(parent, 560, 520))
        self._places: dict[str, SavedPlace] = {}
        self._here: set[str] | None = None
        self._why_not, self._step = "", 0
        self.model = EntriesModel(self)
        self.list = EntryList(self.model, self.tr("Snapshots"), self)
        self.lost = PlainLabel("", self, wrap=True, faint=True)
        self.why = PlainLabel("", self, wrap=True, faint=True)
        self.take, self.branch, self.restore = (QPushButton(words, self) for words in (
            self.tr("Take one now"), self.tr("Branch from it…"), self.tr("Restore…")))
        self._faces = self._lay_out()
        self._connect(take)

    def _lay_out(self) -> object:
        body = QWidget(self)
        empty = Empty(self.tr("Snapshots are taken by the rules of the task, and by hand. None was taken yet."), body)
        shown = faces(body, empty, (self.list, 1), self.lost, self.why)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column((body, 1), row(self.take, 1, self.branch, self.restore, buttons, spacing=2 * theme.GRID), on=self,
               spacing=2 * theme.GRID, margin=3 * theme.GRID)
        return shown

    def _connect(self, take: QAction) -> None:
        self.take.clicked.connect(take.trigger)
        self.take.setEnabled(take.isEnabled())
        take.enabledChanged.connect(self.take.setEnabled)
        self.branch.clicked.connect(self._on_branch)
        self.restore.clicked.connect(self._on_restore)
        self.list.selectionModel().currentChanged.connect(self._show_chosen)
        for button in (self.take, self.branch, self.restore):
            button.setAutoDefault(False)
        self._show_chosen()

    def _on_branch(self) -> None:
        self.branch_asked.emit(self._chosen)

    def _on_restore(self) -> None:
        self.restore_asked.emit(self._chosen)

    def show_snapshots(self, places: Sequence[SavedPlace]) -> None:
        """Show these, the newest first; the newest is chosen until the reader chooses."""
        chosen = self.list.currentIndex().data(EntryRole) if self.list.currentIndex().isValid() else None
        self._places = {str(number): place for number, place in enumerate(places)}
        entries = [(key, lines_of(place, self._is_here(place))) for key, place in reversed(self._places.items())]
        self.model.show(entries)
        self._faces.show_content(bool(places))  # type: ignore[attr-defined]
        row = next((at for at, (key, _) in enumerate(entries) if key == chosen), 0)
        self.list.setCurrentIndex(self.model.index(row))
        self._show_chosen()

    def show_here(self, ids: Sequence[str] | None) -> None:
        """Say which of them the server's computer holds; None: nobody knows now."""
        self._here = None if ids is None else set(ids)
        self.show_snapshots(list(self._places.values()))

    def refuse_restore(self, why: str, step: int) -> None:
        """Only a snapshot of `step` can be restored, and none where `why` says what stands in the way."""
        self._why_not, self._step = why, step
        self._show_chosen()

    def _is_here(self, place: SavedPlace) -> bool | None:
        return None if self._here is None or not isinstance(place.fact, SnapshotTaken) else place.fact.id in self._here

    @property
    def _chosen(self) -> SnapshotTaken | None:
        place = self._places.get(self.list.currentIndex().data(EntryRole) or "")
        return place.fact if place is not None and isinstance(place.fact, SnapshotTaken) else None

    def _show_chosen(self, *_: object) -> None:
        fact = self._chosen
        is_held = fact is not None and (self._here is None or fact.id in self._here)
        why = self._obstacle(fact) if fact is not None else ""
        self.lost.setText(lost_of(fact) if fact is not None else "")
        self.why.setText(why)
        for label in (self.lost, self.why):
            label.setVisible(bool(label.text()))
        self.branch.setEnabled(is_held and fact is not None and fact.step > 0)
        self.restore.setEnabled(is_held and not why)

    def _obstacle(self, fact: SnapshotTaken) -> str:
        """Why this snapshot cannot be restored in place."""
        if self._here is not None and fact.id not in self._here:
            return self.tr("The server's computer holds it no more.")
        if fact.step != self._step:
            return self.tr("The session has come further since: the log stays as it is, so branch from it.")
        return self._why_not
