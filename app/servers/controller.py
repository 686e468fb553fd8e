"""Keeps a desk and a connection for each server of the list; opens the dialog that changes the list."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desk.desk import Desk
from app.desk.session_key import server_of
from app.kit.ask import yes_or_no
from app.kit.safe_text import one_line
from app.servers.connection_state import state_of
from app.servers.local_server import DeskConnection
from app.servers.log_in import LogInController
from core.client.replica import Replica
from core.domain.errors import ReportableError
from core.domain.invitation import is_invitation

if TYPE_CHECKING:
    from app.desk.frame import Frame
    from app.desk.workplace import Workplace
    from app.servers.dialog import ServersDialog
    from core.store.home import Home


class ServerDesks(QObject):
    """Servers that somebody else runs: each has its own copy, outbox and connection."""

    def __init__(self, home: Home, place: Workplace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._home, self._place = home, place
        self._connections: dict[str, DeskConnection] = {}
        place.servers.changed.connect(self._on_changed)

    def open_all(self) -> None:
        """Open every server of the list, and connect those that the reader wants connected."""
        if self._place.servers.problem:
            self._place.notices.tell(self._place.servers.problem, "error")
        for entry in self._place.servers.all:
            self._open(entry.id)
            self._on_changed(entry.id)

    def close(self) -> None:
        """Close the copies; their desks and connections are closed before."""
        for desk in self._place.desks.all[1:]:
            desk.replica.close()

    def hurry(self, server: str) -> None:
        """Try to connect at once."""
        client = self.desk(server).client
        if client is not None:
            client.hurry()

    def desk(self, server: str) -> Desk:
        """The desk of a server; this computer's own where that one could not be opened."""
        return next((d for d in self._place.desks.all if d.server == server), self._place.desks.local)

    def _open(self, server: str) -> None:
        if server in self._connections:
            return
        try:
            replica = Replica(self._home.replicas / f"{server}.db")
        except ReportableError as error:
            self._place.notices.report(error)
            return
        desk = Desk(replica, parent=self, server=server)
        self._connections[server] = DeskConnection(desk, self._place.scope, self._place.notices)
        self._place.desks.add(desk)

    def _on_changed(self, server: str) -> None:
        """Make it as the list says: open and connected, open and offline, or gone."""
        entry = self._place.servers.get(server)
        if entry is None:
            self._place.scope.spawn(self._take_down(server), name="leave a server")
            return
        self._open(server)
        connection = self._connections.get(server)
        if connection is None:
            return
        if entry.connected and connection.wanted != (entry.url, entry.token):
            connection.connect_to(entry.url, entry.token)
        elif not entry.connected and connection.wanted is not None:
            connection.leave()
        self._place.desks.link_changed.emit()
        self._place.desks.rows_changed.emit()

    async def _take_down(self, server: str) -> None:
        connection = self._connections.pop(server, None)
        if connection is None:
            return
        if server_of(self._place.sight.session) == server:
            self._place.cursor.move("")
        desk = self._place.desks.remove(server)
        task = connection.leave()
        if task is not None:
            await asyncio.wait([task])
        if desk is not None:
            desk.close()
            desk.replica.close()
            desk.deleteLater()


class ServersController(QObject):
    """The dialog of the servers: what it shows, and what the reader does there."""

    invited = Signal(str)
    """An invitation's link was given as an address."""

    def __init__(self, place: Workplace, desks: ServerDesks, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._desks, self._window = place, desks, window
        self._dialog: ServersDialog | None = None
        self.log_in = LogInController(place, window.widget, lambda: self._dialog)
        place.actions["file.servers"].triggered.connect(self.show)
        place.desks.link_changed.connect(self._show_servers)
        window.servers_asked.connect(self.show)

    def show(self) -> None:
        """Open the dialog."""
        from app.servers.dialog import ServersDialog  # not before the first paint

        dialog = self._dialog = ServersDialog(
            self._window.widget, [server.url for server in self._place.settings.lab_servers])
        dialog.finished.connect(self._on_closed)
        dialog.added.connect(self._add_server)
        dialog.log_in_asked.connect(self.log_in.start)
        dialog.renamed.connect(self._place.servers.rename)
        dialog.connected.connect(self._connect_server)
        dialog.removed.connect(self._remove_server)
        self._show_servers()
        dialog.open()

    def offer(self, address: str) -> None:
        """Open the dialog with an address filled in: nothing is connected before the reader agrees."""
        self.show()
        if self._dialog is not None:
            self._dialog.address.setText(address)
            self._dialog.token.setFocus()

    def _on_closed(self, *_: object) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None

    def _show_servers(self) -> None:
        if self._dialog is not None:
            self._dialog.show_servers([(entry, state_of(self._desks.desk(entry.id).link, " "))
                                       for entry in self._place.servers.all])

    def _add_server(self, address: str, token: str, name: str) -> None:
        if self._dialog is None:
            return
        if is_invitation(address):
            self._dialog.reject()
            self.invited.emit(address)
            return
        try:
            entry = self._place.servers.add(address, token, name)
        except ReportableError as error:
            self._dialog.refuse(error)
            return
        self._dialog.accept_added(entry.id)

    def _connect_server(self, server: str, on: bool) -> None:
        self._place.servers.set_connected(server, on)
        if on:
            self._desks.hurry(server)

    def _remove_server(self, server: str) -> None:
        self._place.scope.spawn(self._remove_asked(server), name="remove server")

    async def _remove_asked(self, server: str) -> None:
        entry = self._place.servers.get(server)
        if entry is None:
            return
        question = self.tr("Take “{name}” off the list?").format(name=one_line(entry.name, 40))
        detail = self.tr("Its token is forgotten. The copy of its sessions, and what was not sent yet, stay on this "
                         "computer and come back when the server is added again.")
        if await yes_or_no(self._dialog or self._window.widget, question, self.tr("Take off"), detail=detail):
            self._place.servers.remove(server)
