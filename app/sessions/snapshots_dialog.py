"""Snapshots of a session to choose from, and what is said of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from PySide6.QtCore import QLocale, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from app.kit import quantities, theme
from app.kit.boxes import column, row
from app.kit.empty import Empty, faces
from app.kit.entries import EntriesModel, EntryList, EntryRole, TwoLines
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import PlainLabel, one_line
from app.kit.scrolled import within
from core.domain.events import NotSaved, SnapshotFailed, SnapshotTaken

CAUSES = {
    "steps": QT_TRANSLATE_NOOP("Snapshots", "after so many steps"),
    "time": QT_TRANSLATE_NOOP("Snapshots", "after some time"),
    "evaluation": QT_TRANSLATE_NOOP("Snapshots", "before an evaluation"),
    "summary": QT_TRANSLATE_NOOP("Snapshots", "after a summary"),
    "guidance": QT_TRANSLATE_NOOP("Snapshots", "before advice"),
    "person": QT_TRANSLATE_NOOP("Snapshots", "by hand"),
    "end": QT_TRANSLATE_NOOP("Snapshots", "at the end"),
}
NOT_SAVED = {
    "process": QT_TRANSLATE_NOOP("Snapshots", "program {what}"),
    "shell": QT_TRANSLATE_NOOP("Snapshots", "variables of the shell {what}"),
    "temporary": QT_TRANSLATE_NOOP("Snapshots", "{what}"),
    "file": QT_TRANSLATE_NOOP("Snapshots", "file {what}"),
    "service": QT_TRANSLATE_NOOP("Snapshots", "what the service {what} holds"),
    "outside": QT_TRANSLATE_NOOP("Snapshots", "what the network saw"),
}
MOST_NAMED = 8


class SavedPlace(msgspec.Struct, frozen=True):
    """A snapshot that was taken, or could not be, and when."""

    fact: SnapshotTaken | SnapshotFailed
    at: datetime


def lines_of(place: SavedPlace, is_here: bool | None) -> TwoLines:
    """How a list shows it; `is_here`: whether the server's computer holds it still, None where nobody knows."""
    fact = place.fact
    cause = translate("Snapshots", CAUSES[fact.cause]) if fact.cause in CAUSES else fact.cause
    title = translate("Snapshots", "Step {n}, {cause}").format(
        n=quantities.number(fact.step), cause=one_line(cause, 60))
    when = quantities.short_day_and_minute(place.at)
    if isinstance(fact, SnapshotFailed):
        below = translate("Snapshots", "Not taken: {why}").format(why=one_line(fact.reason, 300))
        return TwoLines(title=title, below=below, sign="✗", meaning="error", right=when)
    gone = translate("Snapshots", "removed meanwhile") if is_here is False else ""
    return TwoLines(title=title, below=" · ".join(filter(None, (gone, size_of(fact)))), right=when,
                    sign="○" if gone else "●", meaning="muted" if gone else "live")


def size_of(fact: SnapshotTaken) -> str:
    """Files, bytes, what it took beside earlier ones, and seconds."""
    size = QLocale().formattedDataSize
    files = translate("Snapshots", "Files: {n}").format(n=quantities.number(fact.files))
    return " · ".join((files, size(fact.bytes), translate("Snapshots", "{size} new").format(
        size=size(fact.added)), quantities.duration(fact.seconds)))


def lost_of(fact: SnapshotTaken) -> str:
    """What it does not bring back; "" where it says nothing."""
    if not fact.not_saved:
        return ""
    words = list(dict.fromkeys(_lost(one) for one in fact.not_saved))
    more = [translate("Snapshots", "and {n} more").format(n=len(words) - MOST_NAMED)]
    return translate("Snapshots", "Not in it: {what}").format(
        what=", ".join(words[:MOST_NAMED] + (more if len(words) > MOST_NAMED else [])))


def _lost(one: NotSaved) -> str:
    words = translate("Snapshots", NOT_SAVED[one.kind]) if one.kind in NOT_SAVED else "{what}"
    named = words.format(what=one_line(one.what or one.kind, 60))
    return f"{one_line(one.host, 30)}: {named}" if one.host else named


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
