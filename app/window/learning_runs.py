"""Opens the folder of a learning run, brings its panel to the front, and the sessions that are opened from it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.desk.workplace import Workplace
from app.imports.controller import ImportsController
from app.kit.ask import files_to_open
from app.window.window import Window


class LearningRuns(QObject):
    """What of a learning run is the window's: which folder, which layout, which panel is in front."""

    def __init__(self, place: Workplace, window: Window, imports: ImportsController) -> None:
        super().__init__(window)
        self._place, self._window, self._imports = place, window, imports
        place.actions["run.open"].triggered.connect(self._open_run)
        place.actions["run.show"].triggered.connect(self._show_run)
        place.runs.opened.connect(self._on_opened)
        place.runs.session_made.connect(self._import_session)
        place.runs.session_opened.connect(self._show_steps)

    def _open_run(self) -> None:
        self._place.scope.spawn(self._choose_run(), name="open run")

    async def _choose_run(self) -> None:
        for folder in await files_to_open(self._window, self.tr("Open the folder of a learning run"), folder=True):
            self._place.runs.open(Path(folder))

    def _on_opened(self) -> None:
        """Its curves want room, and what stands beside them in this layout is about training too."""
        self._window.layouts.show("export")
        self._show_run()

    def _show_run(self) -> None:
        self._window.show_panel("learning")

    def _import_session(self, file: str, step: int) -> None:
        self._place.scope.spawn(self._imports.open([file], step=step), name="import")

    def _show_steps(self) -> None:
        """The panel of the run stands where the list of steps does."""
        self._window.show_panel("trajectory")
        QTimer.singleShot(0, self, self._place.cursor.focus_list)  # the list is seen from then on
