"""One run of the desktop: builds client, window and controllers in order, waits for the exit event, takes all down."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from app.desk.actions import Actions
from app.desk.cursor import Cursor
from app.desk.desk import Desk
from app.desk.desks import Desks
from app.desk.in_sight import InSight
from app.desk.notices import Notices
from app.desk.offline_copies import OfflineCopies
from app.desk.queue_book import QueueBook
from app.desk.run_book import RunBook
from app.desk.sender import Sender
from app.desk.servers import Servers, address_of
from app.desk.session_key import key_of, server_of, server_of_url
from app.desk.settings import Settings
from app.desk.watermarks import Watermarks
from app.desk.workplace import Workplace
from app.offline.controller import OfflineController
from app.offline.removal import RemovalController
from app.places.controller import PlacesController
from app.places.memory import PlaceMemory
from app.remarks.page import PageController
from app.servers.controller import ServerDesks, ServersController
from app.servers.invitations import InvitationsController
from app.servers.local_server import LocalServer
from app.window.application import ApplicationController
from app.window.eye_room import EyeRoom
from app.window.first_paint import FirstPaint
from app.window.instance import Doorbell, OpenRequest
from app.window.start import StartController
from app.window.status import StatusController
from app.window.tour import Tour
from app.window.undrawn import Undrawn
from app.window.updates import UpdatesController
from app.window.window import Window
from core.aio import TaskScope
from core.client.replica import Replica
from core.domain.deep_link import is_link
from core.domain.session import FINAL_STATES
from core.store.home import Home

_log = logging.getLogger("ui")
STORE_S = 3.0
"""How long closing waits for the disk."""

WINDOW_S = 5.0
"""How long the window may take to be deleted."""


class Options(argparse.Namespace):
    """What the command line says."""

    server: str
    token_file: Path | None
    home: Path | None
    session: str
    step: int | None
    language: str
    follow: bool
    demonstration: bool
    files: list[str]

    @property
    def token(self) -> str:
        """The token for the server that is named."""
        return self.token_file.read_text(encoding="utf-8").strip() if self.token_file else ""

    def as_request(self, token: str) -> OpenRequest:
        """What is asked for, for this window or for one that is open already."""
        files = [f if is_link(f) else str(Path(f).absolute()) for f in self.files]
        return OpenRequest(server=self.server, token=token, session=self.session, step=self.step, follow=self.follow,
                       files=files)


def server_of_request(asked: OpenRequest) -> str:
    """The short name of the server that a request names; "" where it names none."""
    return server_of_url(address_of(asked.server).partition("#")[0]) if asked.server else ""


def parse(argv: Sequence[str]) -> Options:
    """Read the command line of the desktop."""
    parser = argparse.ArgumentParser(prog="tiphys open", description="Watch, steer and review agents.")
    parser.add_argument("--server", default="", metavar="URL", help="work with this server too (ws:// or wss://)")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="holds the token for --server")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="where this computer's state lies")
    parser.add_argument("--session", default="", metavar="ID", help="show this session")
    parser.add_argument("--step", type=int, metavar="N", help="show this step of it")
    parser.add_argument("--language", default="", choices=("", "en", "zh_CN"))
    parser.add_argument("--follow", action="store_true", help="the files are still being written: follow them")
    parser.add_argument("--demonstration", action="store_true", help="start the demonstration")
    parser.add_argument("files", nargs="*", metavar="FILE", help="trajectories to import and show, or a tiphys:// link")
    return parser.parse_args(argv, namespace=Options())


class Desktop(QObject):
    """The parts of a running desktop, made in the order in which they need each other."""

    def __init__(self, home: Home, settings: Settings, scope: TaskScope) -> None:
        super().__init__()
        self.quit = asyncio.Event()
        self.replica = Replica(home.replicas / "local.db")
        self.notices = Notices(self)
        scope.on_error = self.notices.report
        self.undrawn = Undrawn(self.notices, self)
        self.cursor = Cursor(self)
        local = Desk(self.replica, parent=self)
        self.desks = Desks(local, self)
        self.outgoing = Sender(self.desks, scope, self.notices, self)
        self.connection = LocalServer(home, local, scope, self.notices)
        self.actions = Actions(self)
        self.place = self._workplace(home, settings, scope)
        self.servers = ServerDesks(home, self.place, self)
        self.window = Window(self.place, home.path / "window.ini")
        self.application = ApplicationController(self.place, self.window)
        self.beginning = StartController(self.place, self.window, self.application.open_dropped)
        PlaceMemory(self.place, self.window)
        self._eye_room = EyeRoom(self.place, self.window)
        Tour(self.place, self.window)
        self.places = PlacesController(self.place, self.window)
        self.invitations = InvitationsController(self.place, self.window)
        servers = ServersController(self.place, self.servers, self.window)
        self.places.server_offered.connect(servers.offer)
        for invited in (self.places.invited, servers.invited):
            invited.connect(self.invitations.open_text)
        self.application.invitation_opened.connect(self.invitations.open_file)
        OfflineController(self.place, self.window)
        PageController(self.place, self.window)
        RemovalController(self.place, self.window)
        StatusController(self.place, self.window.status, self.window)
        self.application.server_needed.connect(self.connection.serve_here)
        self.window.quit_asked.connect(self.quit.set)
        self.starts_again = False
        self.updates = UpdatesController(self.place, self.window)
        self.updates.restart_asked.connect(self._start_again)

    def _workplace(self, home: Home, settings: Settings, scope: TaskScope) -> Workplace:
        sight = InSight(self.desks, self.cursor, self)
        queues = QueueBook(self.desks, self.cursor, sight, settings, self.outgoing, self.notices, self)
        runs = RunBook(self.desks, self.cursor, self.notices, self)
        return Workplace(home=home, desks=self.desks, cursor=self.cursor, sight=sight, scope=scope,
                         notices=self.notices, queues=queues, runs=runs,
                         settings=settings, servers=Servers(home.servers, self),
                         watermarks=Watermarks(home.path / "looked.json"),
                         offline_copies=OfflineCopies(home.path / "kept.json"),
                         sender=self.outgoing, actions=self.actions)

    def _start_again(self) -> None:
        self.starts_again = True
        self.quit.set()

    def start(self, options: Options, token: str) -> None:
        """Show the window, then connect and go where the command line says.

        A server that the command line names joins the list; this computer's own is then started when it is needed.
        """
        self.window.show()
        self.servers.open_all()
        painted = FirstPaint(self.window)
        for begin in (self.window.filling.begin, self.updates.watch_installed):
            painted.came.connect(begin)
        if not options.server:
            painted.came.connect(self.connection.serve_here)
        asked = options.as_request(token)
        self.go(asked)
        if not (asked.session or asked.files) and (session := self._last_read(server_of_request(asked))):
            self.cursor.move(session)
        self.beginning.begin()
        if not self.beginning.page.isVisible():
            self.window.filling.lead()
        if options.demonstration:
            self.actions["file.demonstration"].trigger()
        self.updates.start()

    def go(self, asked: OpenRequest) -> None:
        """Go where a command line says. Raises InvalidInput (bad_address) for a server that cannot be one."""
        server = self.place.servers.add(asked.server, asked.token).id if asked.server else ""
        links = [f for f in asked.files if is_link(f)]
        files = [f for f in asked.files if not is_link(f)]
        if asked.session:
            self.cursor.open(key_of(asked.session, server), asked.step)
        if links:
            self.places.await_link(links[0])
        if files:
            opening = self.application.import_files(files, follow=asked.follow)
            self.place.scope.spawn(opening, name="import")

    def take_over(self, asked: OpenRequest) -> None:
        """Another start of the program hands over what it was asked for. Raises as `go` does."""
        self.go(asked)
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        QApplication.alert(window)

    def _last_read(self, server: str) -> str:
        """The session that the reader left last, else the one of which something was heard last; on the server that
        the command line names, if it does."""
        left = self.place.queues.place_in
        rows = [r for r in self.desks.rows() if not server or server_of(r.session) == server]
        read = {r.session: at for r in rows if (at := left(r.session)[1])}
        heard = {r.session: at for r in rows if (at := r.updated_at)}
        times = read or heard
        return max(times, key=times.__getitem__) if times else next((r.session for r in rows), "")

    async def close(self, *, keep_layout: bool = False) -> None:
        """Take everything down in reverse order; what was typed is on disk before."""
        self.window.setEnabled(False)
        if not keep_layout:
            self._eye_room.take_back()
            self.window.save_state()
        self.cursor.move("", None)
        running = any(r.origin == "live" and r.state not in FINAL_STATES for r in self.desks.local.rows())
        self.connection.leave(sessions_run=running)
        await self._stored()
        await self.place.scope.close()
        await self._take_down_window()
        self.undrawn.close()
        self.place.runs.close()
        self.desks.close()
        self.servers.close()
        self.replica.close()

    async def _stored(self) -> None:
        """Wait until what was typed and sent is on disk; a disk that hangs does not hold the window for ever."""
        deadline = asyncio.get_running_loop().time() + STORE_S
        while self.outgoing.storing and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)

    async def _take_down_window(self) -> None:
        """Delete the window with its panels and timers, which read the replica until then."""
        gone = asyncio.Event()
        self.window.destroyed.connect(gone.set)
        self.window.hide()
        self.window.deleteLater()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(gone.wait(), WINDOW_S)


async def run_desktop(app: QApplication, options: Options, home: Home, settings: Settings) -> bool:
    """Run until the window asks to quit, or a signal does. Gives whether the program is to be started again."""
    loop = asyncio.get_running_loop()
    async with TaskScope("desktop") as scope:
        token = options.token
        desktop = Desktop(home, settings, scope)
        loop.set_exception_handler(_handler(desktop.notices))
        _on_signals(loop, desktop.quit)
        desktop.start(options, token)
        doorbell = Doorbell(home, scope, desktop.take_over)
        await doorbell.listen()
        await desktop.quit.wait()
        await doorbell.close()
        await desktop.close()
    return desktop.starts_again


def _handler(notices: Notices) -> Any:
    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            notices.report(error)
        else:
            _log.error("%s", context.get("message"))

    return handle


def _on_signals(loop: asyncio.AbstractEventLoop, quit_event: asyncio.Event) -> None:
    for name in ("SIGINT", "SIGTERM"):
        try:
            loop.add_signal_handler(getattr(signal, name), quit_event.set)
        except NotImplementedError:  # Windows: the window's close button is the way
            return
