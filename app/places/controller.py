"""Deep links: copies one of the place that is looked at, and goes where one leads."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.desk.frame import Frame, list_of_steps
from app.desk.notices import sentence_of
from app.desk.servers import address_of
from app.desk.session_key import id_of, key_of, server_of, server_of_url
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from core.domain.deep_link import DeepLink, is_link, parse_link
from core.domain.errors import NotFound, ReportableError
from core.domain.invitation import is_invitation

WAIT_MS = 15_000
"""A session that a link names may come with the server's list so long after the start."""


class PlacesController(QObject):
    """Goes to links, step numbers and sessions. A link also brings the panel and what the list of steps showed."""

    server_offered = Signal(str)
    """A link leads to a server that is not on the list: its address."""

    invited = Signal(str)
    """A link invites to a server."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._window = place, window
        self._awaited: DeepLink | None = None
        self._view: dict[str, str] = {}
        self._patience = single_shot(self, WAIT_MS, self._give_up)
        place.actions["go.link"].triggered.connect(self._ask_place)
        place.actions["go.copy_link"].triggered.connect(self._copy_link)
        place.sight.opened.connect(self._enable_copy)
        place.sight.left.connect(self._on_left)
        place.sight.settled.connect(self._show_view)
        place.desks.rows_changed.connect(self._on_rows)
        window.link_dropped.connect(self.open_text)
        self._enable_copy()

    def link(self) -> DeepLink | None:
        """The place that is looked at; None where no session is."""
        sight = self._place.sight
        if not sight.session:
            return None
        entry = self._place.servers.get(server_of(sight.session))
        return DeepLink(id_of(sight.session), sight.step, self._panel(), entry.address if entry is not None else "",
                        list_of_steps(self._window).shown_filters())

    def _panel(self) -> str:
        """The panel that has the keyboard; "" for the list of steps, which a link opens anyway."""
        focus = QApplication.focusWidget()
        key = next((key for key, dock in self._window.docks.items() if focus and dock.isAncestorOf(focus)), "")
        return "" if key == "trajectory" else key

    def key_of(self, link: DeepLink) -> str:
        """The window's name of a link's session. A link without a server means this computer's own, or else the one
        server that holds the session. Raises NotFound (no_server)."""
        if link.server:
            server = server_of_url(address_of(link.server).partition("#")[0])
            if self._place.servers.get(server) is None:
                raise NotFound("no_server", f"The link leads to {link.server}, which is not among your servers.",
                               address=link.server)
            return key_of(link.session, server)
        held = [key_of(link.session, desk.server) for desk in self._place.desks.all]
        known = [key for key in held if self._place.desks.of(key).row(key) is not None]
        return known[0] if held[0] in known or len(known) == 1 else link.session

    def open_text(self, text: str) -> None:
        """Go where a text leads, or say why not."""
        try:
            self._follow(text)
        except ReportableError as error:
            self._place.notices.report(error)

    def await_link(self, text: str) -> None:
        """Go to a link of the command line: its session may not be known before the server has answered."""
        with suppress(ReportableError):
            if not self._is_here(link := parse_link(text)):
                self._awaited = link
                self._patience.start()
                return
        self.open_text(text)

    def _is_here(self, link: DeepLink) -> bool:
        """Whether there is nothing to wait for: its session is here, or its server is not on the list."""
        try:
            key = self.key_of(link)
            return self._place.desks.of(key).row(key) is not None
        except ReportableError:
            return True

    def _read(self, text: str) -> DeepLink:
        """Raises InvalidInput (bad_link), NotFound (no_step, no_session)."""
        number, here = text.lstrip("#").replace(",", ""), self._place.sight.session
        if number.isascii() and number.isdigit() and here and self._place.desks.of(number).row(number) is None:
            entry = self._place.servers.get(server_of(here))
            return DeepLink(id_of(here), int(number), server=entry.address if entry is not None else "")
        return parse_link(text if is_link(text) else str(DeepLink(text)))

    def _follow(self, text: str) -> None:
        """Raises as `_read` and `_go` do."""
        if is_invitation(text):
            self.invited.emit(text)
        else:
            self._go(self._read(text))

    def _go(self, link: DeepLink) -> None:
        try:
            session = self.key_of(link)
        except NotFound:
            self.server_offered.emit(link.server)
            raise
        row = self._place.desks.of(session).row(session)
        if row is None:
            raise NotFound("no_session", f"There is no session {link.session} here.", session=link.session)
        if link.step is not None and row.steps and not 0 < link.step <= row.steps:
            raise NotFound("no_step", f"Session {link.session} has no step {link.step}.", step=link.step)
        if link.panel in self._window.docks:
            self._window.show_panel(link.panel)
        self._place.cursor.move(session, link.step)
        self._view = link.view
        self._show_view()

    def _on_left(self) -> None:
        self._view = {}

    def _show_view(self) -> None:
        """What the link's list showed, as soon as there are steps to choose from."""
        if self._view and (trajectory := self._place.sight.trajectory) is not None and len(trajectory.steps):
            view, self._view = self._view, {}
            list_of_steps(self._window).show_filters(view)

    def _ask_place(self) -> None:
        from app.places.go_to_dialog import GoToDialog  # not before the first paint

        held = QGuiApplication.clipboard().text()[:500]
        dialog = GoToDialog(held.strip() if is_link(held) else "", self._window.widget)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._on_chosen)
        self._dialog = dialog
        dialog.open()

    def _on_chosen(self, text: str) -> None:
        try:
            self._follow(text)
        except ReportableError as error:
            self._dialog.refuse(sentence_of(error))
        else:
            self._dialog.accept()

    def _copy_link(self) -> None:
        link = self.link()
        if link is not None:
            QGuiApplication.clipboard().setText(str(link))
            self._place.notices.tell(self.tr("Link copied: {link}").format(link=link), "done")

    def _enable_copy(self) -> None:
        self._place.actions["go.copy_link"].setEnabled(bool(self._place.sight.session))

    def _on_rows(self) -> None:
        link = self._awaited
        if link is not None and self._is_here(link):
            self._awaited = None
            self._patience.stop()
            self.open_text(str(link))

    def _give_up(self) -> None:
        if self._awaited is not None:
            self.open_text(str(self._awaited))
            self._awaited = None
