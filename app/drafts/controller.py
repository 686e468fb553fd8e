"""Opens the drafts of a run of `tiphys tasks generate`, and stores what a person says of them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.drafts.dialog import DraftsDialog
from app.kit.ask import files_to_open
from core.domain.drafts import DraftState
from core.domain.errors import ReportableError, Unavailable
from core.store.drafts import DraftRecords


class DraftsController(QObject):
    """Shows the dialog for a folder that the person chooses."""

    def __init__(self, place: Workplace, window: QWidget) -> None:
        super().__init__(window)
        self._place, self._window = place, window
        self._records = DraftRecords(Path())
        self._dialog: DraftsDialog | None = None
        place.actions["file.drafts"].triggered.connect(self._on_asked)

    def _on_asked(self) -> None:
        self._place.scope.spawn(self._choose(), name="drafts", on_error=self._place.notices.report)

    async def _choose(self) -> None:
        title = self.tr("The folder that tiphys tasks generate made")
        for folder in await files_to_open(self._window, title, folder=True):
            self.show(Path(folder))

    def show(self, folder: Path) -> DraftsDialog | None:
        """The dialog of a folder; None where it holds no drafts, which is told."""
        self._records = DraftRecords(folder)
        dialog = DraftsDialog(folder.name, self._window)
        if not self._fill(dialog):
            dialog.deleteLater()
            return None
        self._dialog = dialog
        dialog.decided.connect(self._store_word)
        dialog.session_asked.connect(self._open_session)
        dialog.open()
        return dialog

    def _fill(self, dialog: DraftsDialog) -> bool:
        try:
            dialog.show_drafts(self._records.all(), self._records.answers())
        except (ReportableError, OSError) as error:
            self._place.notices.report(_reported(error))
            return False
        return True

    def _store_word(self, name: str, state: DraftState, reason: str) -> None:
        try:
            self._records.decide(name, state, reason)
        except (ReportableError, OSError) as error:
            self._place.notices.report(_reported(error))
            return
        if self._dialog is not None and self._fill(self._dialog):
            self._dialog.go_on()

    def _open_session(self, session: str) -> None:
        self._place.cursor.move(session)


def _reported(error: ReportableError | OSError) -> ReportableError:
    if isinstance(error, ReportableError):
        return error
    return Unavailable("folder_unusable", f"The folder of drafts cannot be used: {error}", path=str(error.filename))
