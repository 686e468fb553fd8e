"""Opens the drafts of a run of `tiphys tasks generate`, and stores what a person says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.kit.ask import files_to_open
from app.kit.background import BackgroundWork
from core.domain.drafts import DraftAnswer, DraftRecord, DraftState
from core.domain.errors import ReportableError, Unavailable
from core.store.drafts import DraftRecords

if TYPE_CHECKING:
    from app.drafts.dialog import DraftsDialog


Answers = Mapping[int, Sequence[DraftAnswer]]
"""What the authors gave, by the drafts' numbers."""


class DraftsController(QObject):
    """Shows the dialog for a folder that the person chooses. Files are read, and words stored, in a thread."""

    def __init__(self, place: Workplace, window: QWidget) -> None:
        super().__init__(window)
        self._place, self._window = place, window
        self._records = DraftRecords(Path())
        self._name = ""
        self._work = BackgroundWork(self, self._on_unread)
        self._work.done.connect(self._on_read)
        self._answers: Answers = {}
        self._reading = BackgroundWork(self, place.notices.report)
        self._reading.done.connect(self._show_answers)
        self.dialog: DraftsDialog | None = None
        """The one of the folder that was opened last; None before it was read."""
        place.actions["file.drafts"].triggered.connect(self._on_asked)

    def _on_asked(self) -> None:
        self._place.scope.spawn(self._choose(), name="drafts")

    async def _choose(self) -> None:
        title = self.tr("The folder that tiphys tasks generate made")
        for folder in await files_to_open(self._window, title, folder=True):
            self.show(Path(folder))

    def show(self, folder: Path) -> None:
        """Read a folder, then show its dialog; where it holds no drafts, that is told."""
        self._records, self._name, self.dialog = DraftRecords(folder), folder.name, None
        self._work.start(_read, self._records)

    def _on_read(self, found: tuple[list[DraftRecord], Answers]) -> None:
        records, self._answers = found
        if self.dialog is None:
            self.dialog = self._dialog_of(records)
        else:
            self.dialog.show_drafts(records)
            self.dialog.go_on()

    def _on_unread(self, error: ReportableError) -> None:
        self._place.notices.report(error)
        if self.dialog is not None:
            self.dialog.is_waiting = False

    def _dialog_of(self, records: list[DraftRecord]) -> DraftsDialog:
        from app.drafts.dialog import DraftsDialog  # not before the first paint

        made = DraftsDialog(self._name, self._window)
        made.answers_asked.connect(self._read_answers)
        made.show_drafts(records)
        made.decided.connect(self._store_word)
        made.session_asked.connect(self._open_session)
        made.open()
        return made

    def _read_answers(self, number: int) -> None:
        """Each is 16 MiB at most: a thread reads them."""
        self._reading.start(_answers_of, self._answers, number)

    def _show_answers(self, found: tuple[int, Sequence[DraftAnswer]]) -> None:
        if self.dialog is not None:
            self.dialog.show_answers(*found)

    def _store_word(self, name: str, state: DraftState, reason: str) -> None:
        self._work.start(_read, self._records, (name, state, reason))

    def _open_session(self, session: str) -> None:
        self._place.cursor.move(session)


def _read(records: DraftRecords, word: tuple[str, DraftState, str] | None = None) -> tuple[list[DraftRecord], Answers]:
    """Store a person's word, then read all."""
    with _reported():
        if word is not None:
            records.decide(*word)
        return records.all(), records.answers()


def _answers_of(answers: Answers, number: int) -> tuple[int, Sequence[DraftAnswer]]:
    with _reported():
        return number, answers.get(number, ())


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable("folder_unusable", f"The folder of drafts cannot be used: {error}",
                          path=str(error.filename)) from error
