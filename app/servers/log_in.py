"""Logs in to a server by the lab's own accounts: a code is asked for, shown and entered, and the server listed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.servers import address_of
from app.kit.safe_text import one_line
from app.servers.scope_words import scope_words
from core.client.certificate import split_address
from core.domain.errors import ReportableError
from core.store.accounts import make_token

if TYPE_CHECKING:
    from app.desk.workplace import Workplace
    from app.servers.code_dialog import CodeDialog
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
        from app.servers.code_dialog import CodeDialog  # not before the first paint

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
