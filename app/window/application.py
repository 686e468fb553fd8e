"""Wires what belongs to the application and not to a panel: new session, import, settings, help, look."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QLocale, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from app.desk.run_files import is_run
from app.desk.workplace import Workplace
from app.drafts.controller import DraftsController
from app.imports.bar import ImportBar
from app.imports.controller import ImportsController
from app.kit import icons, theme
from app.kit.ask import files_to_open
from app.kit.theme import RESOURCES
from app.review.merging import MergingController
from app.sessions.new import NewSessionController
from app.window.keys import Keys
from app.window.learning_runs import LearningRuns
from app.window.palette_controller import PaletteController
from app.window.window import Window
from core.domain.invitation import SUFFIX
from core.domain.version import version

D = TypeVar("D", bound=QDialog)
CONNECT_S = 15.0
"""How long an import waits for the server."""


class ApplicationController(QObject):
    """Opens dialogs (never executes them) and runs the imports that they ask for."""

    server_needed = Signal()
    """This computer's own server is to run: something goes into its log."""

    invitation_opened = Signal(str)
    """Among the files that were opened is an invitation to a server."""

    def __init__(self, place: Workplace, window: Window) -> None:
        super().__init__(window)
        self._place, self._window = place, window
        bar = ImportBar(window)
        window.status.addPermanentWidget(bar)
        self.imports = ImportsController(place, bar, self._connected)
        MergingController(place, window, self._connected)
        DraftsController(place, window)
        PaletteController(place, window)
        LearningRuns(place, window, self.imports)
        NewSessionController(place, window, self.server_needed.emit)
        self._set_keys = Keys(place.actions, place.settings, self)
        self._connect()
        for problem in place.settings.problems:
            place.notices.tell(problem, "attention")

    def _connect(self) -> None:
        actions = self._place.actions
        actions["file.import"].triggered.connect(partial(self._open_chosen, False))
        actions["file.import_folder"].triggered.connect(partial(self._open_chosen, True))
        actions["file.cancel_import"].triggered.connect(self.imports.cancel)
        self._window.files_dropped.connect(self.open_dropped)
        actions["file.settings"].triggered.connect(self._open_settings)
        actions["file.keys"].triggered.connect(self._change_keys)
        actions["help.keys"].triggered.connect(self._show_keys)
        actions["help.manual"].triggered.connect(self._open_manual)
        actions["help.about"].triggered.connect(self._show_about)
        self._place.settings.changed.connect(self._on_setting)
        QApplication.styleHints().colorSchemeChanged.connect(self._on_scheme)
        if hasattr(QApplication.styleHints(), "accessibility"):
            QApplication.styleHints().accessibility().contrastPreferenceChanged.connect(self._on_scheme)

    # ---- imports ---------------------------------------------------------------------------------

    def _open_chosen(self, folder: bool, *_: object) -> None:
        self._place.scope.spawn(self._choose_files(folder=folder), name="import")

    def open_dropped(self, files: list[str]) -> None:
        """Open files and folders that were dropped, or found."""
        self._place.scope.spawn(self.import_files(files), name="import")

    async def _choose_files(self, *, folder: bool) -> None:
        title = self.tr("Open a folder of trajectories") if folder else self.tr("Open trajectories")
        files = await files_to_open(self._window, title, folder=folder)
        if files:
            await self.import_files(files)

    async def import_files(self, files: Sequence[str], *, follow: bool = False) -> None:
        """Import files; open the first session that comes of them. With `follow` they are being written. The folder
        of a learning run is shown as that."""
        invitations = [file for file in files if file.endswith(SUFFIX)]
        for file in invitations:
            self.invitation_opened.emit(file)
        runs = [file for file in files if Path(file).is_dir() and is_run(Path(file))]
        for file in runs:
            self._place.runs.open(Path(file))
        rest = [file for file in files if file not in (*invitations, *runs)]
        if rest:
            await self.imports.open(rest, follow=follow)

    async def _connected(self) -> None:
        online = asyncio.Event()

        def look() -> None:
            if self._place.desks.local.link.state == "online":
                online.set()

        self.server_needed.emit()
        self._place.desks.link_changed.connect(look)
        look()
        try:
            await asyncio.wait_for(online.wait(), CONNECT_S)
        except TimeoutError:  # the importer then says what is wrong, or does without
            return
        finally:
            self._place.desks.link_changed.disconnect(look)

    # ---- dialogs ---------------------------------------------------------------------------------

    def _open_settings(self) -> None:
        from app.window.settings_dialog import SettingsDialog  # dialogs are not loaded before the first paint

        _show(SettingsDialog(self._place.settings, self._window))

    def _show_keys(self) -> None:
        from app.window.keys_dialog import KeysDialog

        dialog = _show(KeysDialog(self._place.actions, self._window))
        dialog.change_asked.connect(self._change_keys)
        dialog.change_asked.connect(dialog.accept)

    def _change_keys(self) -> None:
        from app.window.keys_editor import KeysEditor

        _show(KeysEditor(self._place.actions, self._set_keys, self._window))

    def _open_manual(self) -> None:
        page = manual_page(QLocale().language() == QLocale.Language.Chinese)
        if page is None:
            self._place.notices.tell(self.tr("The manual is not built here: “make site” in the source makes it. Its "
                                             "pages lie in docs."), "attention")
        else:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(page)))

    def _show_about(self) -> None:
        box = QMessageBox(self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(self.tr("About Tiphys"))
        box.setIconPixmap(icons.icon("ship-wheel", "person").pixmap(32, 32))
        box.setText(f"Tiphys {version()}")
        box.setInformativeText(self.tr(
            "Hold the helm of agents that work for hours or days, and turn what they did into training data."))
        _show(box)

    # ---- look ------------------------------------------------------------------------------------

    def _on_setting(self, key: str) -> None:
        if key in ("appearance.colours", "appearance.contrast", "appearance.text_size"):
            self._dress()

    def _on_scheme(self) -> None:
        settings = self._place.settings
        if "system" in (settings.text("appearance.colours"), settings.text("appearance.contrast")):
            self._dress()

    def _dress(self) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            settings = self._place.settings
            theme.apply(app, settings.text("appearance.colours"), float(settings.get("appearance.text_size")),
                        settings.text("appearance.contrast"))


def _show(dialog: D) -> D:
    """Open a dialog that deletes itself when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def manual_page(chinese: bool = False) -> Path | None:
    """The first page; None where there is none."""
    prefix = Path(sys.prefix).resolve().parents[1]  # PREFIX/lib/tiphys is the Python that a package brings
    for folder in (prefix / "share" / "doc" / "tiphys" / "manual", RESOURCES.parent / "dist" / "site"):
        page = folder / "zh" / "index.html" if chinese else folder / "index.html"
        if page.exists():
            return page
    return None
