"""Opens the drafts of a run of `tiphys tasks generate`, and stores what a person says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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


class DraftsRead(NamedTuple):
    """What lies in a folder of drafts."""

    records: list[DraftRecord]
    answers: Mapping[int, Sequence[DraftAnswer]]


class AnswersRead(NamedTuple):
    """What the author of a draft gave."""

    number: int
    answers: Sequence[DraftAnswer]


class DraftsUnread(NamedTuple):
    """Why a thread could not read them: it has nobody to tell."""

    error: ReportableError


class DraftsController(QObject):
    """Shows the dialog for a folder that the person chooses. Files are read, and words stored, in a thread."""

    def __init__(self, place: Workplace, window: QWidget) -> None:
        super().__init__(window)
        self._place, self._window = place, window
        self._records = DraftRecords(Path())
        self._name = ""
        self._work = BackgroundWork(self)
        self._work.done.connect(self._on_read)
        self._answers: Mapping[int, Sequence[DraftAnswer]] = {}
        self._reading = BackgroundWork(self)
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

    def _on_read(self, found: DraftsRead | DraftsUnread) -> None:
        if isinstance(found, DraftsUnread):
            self._place.notices.report(found.error)
            if self.dialog is not None:
                self.dialog.is_waiting = False
            return
        self._answers = found.answers
        if self.dialog is None:
            self.dialog = self._dialog_of(found)
        else:
            self.dialog.show_drafts(found.records)
            self.dialog.go_on()

    def _dialog_of(self, found: DraftsRead) -> DraftsDialog:
        from app.drafts.dialog import DraftsDialog  # not before the first paint

        made = DraftsDialog(self._name, self._window)
        made.answers_asked.connect(self._read_answers)
        made.show_drafts(found.records)
        made.decided.connect(self._store_word)
        made.session_asked.connect(self._open_session)
        made.open()
        return made

    def _read_answers(self, number: int) -> None:
        """Each is 16 MiB at most: a thread reads them."""
        self._reading.start(_answers_of, self._answers, number)

    def _show_answers(self, found: AnswersRead | DraftsUnread) -> None:
        if isinstance(found, DraftsUnread):
            self._place.notices.report(found.error)
        elif self.dialog is not None:
            self.dialog.show_answers(*found)

    def _store_word(self, name: str, state: DraftState, reason: str) -> None:
        self._work.start(_read, self._records, (name, state, reason))

    def _open_session(self, session: str) -> None:
        self._place.cursor.move(session)


def _read(records: DraftRecords, word: tuple[str, DraftState, str] | None = None) -> DraftsRead | DraftsUnread:
    """Store a person's word, then read all."""
    try:
        if word is not None:
            records.decide(*word)
        return DraftsRead(records.all(), records.answers())
    except (ReportableError, OSError) as error:
        return _unread(error)


def _answers_of(answers: Mapping[int, Sequence[DraftAnswer]], number: int) -> AnswersRead | DraftsUnread:
    try:
        return AnswersRead(number, answers.get(number, ()))
    except (ReportableError, OSError) as error:
        return _unread(error)


def _unread(error: ReportableError | OSError) -> DraftsUnread:
    if isinstance(error, ReportableError):
        return DraftsUnread(error)
    return DraftsUnread(Unavailable("folder_unusable", f"The folder of drafts cannot be used: {error}",
                                    path=str(error.filename)))
