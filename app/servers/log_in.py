"""Logs in to a server by the lab's own accounts: a code is asked for, shown and entered, and the server listed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from app.desk.servers import address_of
from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel, one_line
from app.kit.scrolled import within
from app.servers.scope_words import scope_words
from core.client.certificate import split_address
from core.domain.errors import ReportableError
from core.store.accounts import make_token

if TYPE_CHECKING:
    from app.desk.workplace import Workplace
    from app.servers.dialog import ServersDialog
    from core.client.device_login import DeviceLogIn


class LogInController(QObject):
    """One log-in at a time; closing the dialog of the code ends it."""

    def __init__(self, place: Workplace, parent: QWidget, asked_in: Callable[[], ServersDialog | None]) -> None:
        """`asked_in` is the dialog where the reader asks, while it is open."""
        super().__init__(parent)
        self._place, self._parent, self._asked_in = place, parent, asked_in
        self._task: asyncio.Task[None] | None = None
        self.dialog: CodeDialog | None = None

    def start(self, address: str, name: str) -> None:
        """Log in to the server at an address; what is wrong with it is said where it was asked."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._place.scope.spawn(self._log_in(address, name), name="log in", on_error=self._refuse)

    def _refuse(self, error: BaseException) -> None:
        view = self._asked_in()
        if isinstance(error, ReportableError) and view is not None:
            view.refuse(error)
        else:
            self._place.notices.report(error)

    async def _log_in(self, address: str, name: str) -> None:
        from core.client.device_login import begin, log_in

        url = address_of(address)
        server = split_address(url)[0]
        started = await begin(url)
        id_token = await self._agreed(started, server)
        token = make_token()
        joined = await log_in(url, id_token, token)
        entry = self._place.servers.add(url, token, name)
        if (view := self._asked_in()) is not None:
            view.accept_added(entry.id)
        self._place.notices.tell(self.tr("You work on {server} as {name} now: {scopes}.").format(
            server=one_line(server, 80), name=one_line(joined.name, 40), scopes=scope_words(joined.scopes)), "done")

    async def _agreed(self, started: DeviceLogIn, server: str) -> str:
        """The ID token, when the code was entered; the log-in is cancelled with the dialog."""
        code = started.code
        dialog = self.dialog = CodeDialog(self._asked_in() or self._parent, server, code.user_code,
                                          code.verification_uri, code.verification_uri_complete)
        if self._task is not None:
            dialog.rejected.connect(self._task.cancel)
        dialog.open()
        try:
            return await started.id_token()
        finally:
            self.dialog = None
            dialog.accept()
            dialog.deleteLater()


class CodeDialog(QDialog):
    """Closed by whoever waits for the log-in, or rejected by the reader, who then logs in no more."""

    def __init__(self, parent: QWidget, server: str, code: str, place: str, whole: str) -> None:
        """`whole` is the address that has the code in it, which is opened here; `place` is what a person types."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Log in"))
        self.resize(within(parent, 440, 220))
        self._code, self._whole = code, whole or place
        what = PlainLabel(self.tr("To log in to {server}, open this page in any browser and enter the code:").format(
            server=one_line(server, 80)), self, wrap=True)
        self.place = self._copied(place)
        self.code = self._copied(code)
        font = self.code.font()
        font.setPointSizeF(2 * font.pointSizeF())
        self.code.setFont(font)
        wait = PlainLabel(self.tr("This window closes by itself when you have agreed there."), self, wrap=True,
                          faint=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.browse = buttons.addButton(self.tr("Open the page"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy = buttons.addButton(self.tr("Copy the code"), QDialogButtonBox.ButtonRole.ActionRole)
        self.browse.clicked.connect(self._on_browse)
        self.copy.clicked.connect(self._on_copy)
        buttons.rejected.connect(self.reject)
        self.browse.setDefault(True)
        column(what, self.place, self.code, wait, 1, buttons, on=self, spacing=2 * theme.GRID, margin=4 * theme.GRID)

    def _copied(self, text: str) -> PlainLabel:
        label = PlainLabel(one_line(text, 300), self, wrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse
                                      | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        return label

    def _on_browse(self) -> None:
        QDesktopServices.openUrl(QUrl(self._whole))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
