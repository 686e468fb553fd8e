"""Opens invitations: asks once, exchanges the one-time token for one of this computer's own, and lists the server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.servers import address_of
from app.desk.session_key import server_of_url
from app.kit.ask import yes_or_no
from app.kit.safe_text import one_line
from app.servers.scope_words import scope_words
from core.client.certificate import split_address
from core.domain.errors import ReportableError
from core.domain.invitation import Invitation, parse_invitation
from core.store.accounts import make_token

if TYPE_CHECKING:
    from app.desk.frame import Frame
    from app.desk.workplace import Workplace


class InvitationsController(QObject):
    """Takes an invitation from wherever it comes: a link, a file, the clipboard."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._window = place, window

    def open_text(self, text: str, parent: QWidget | None = None) -> None:
        """Join where a link invites to, once the reader agreed; what is wrong with it is told."""
        try:
            invitation = parse_invitation(text)
        except ReportableError as error:
            self._place.notices.report(error)
            return
        self._place.scope.spawn(self._join(invitation, parent), name="invitation")

    def open_file(self, path: str) -> None:
        """The same for an invitation's file."""
        from core.client.invitation import read_invitation

        try:
            self.open_text(str(read_invitation(Path(path))))
        except ReportableError as error:
            self._place.notices.report(error)

    async def _join(self, invitation: Invitation, parent: QWidget | None) -> None:
        from core.client.invitation import accept

        url = address_of(invitation.server)
        address, pin = split_address(url)
        if not await self._is_wanted(invitation, address, pin, parent):
            return
        self._place.notices.tell(self.tr("Joining {server}…").format(server=one_line(address, 80)))
        token = make_token()
        joined = await accept(Invitation(server=url, name=invitation.name, token=invitation.token), token)
        self._place.servers.add(url, token)
        self._place.notices.tell(self.tr("You work on {server} as {name} now: {scopes}.").format(
            server=one_line(address, 80), name=one_line(joined.name, 40), scopes=scope_words(joined.scopes)), "done")

    async def _is_wanted(self, invitation: Invitation, address: str, pin: str, parent: QWidget | None) -> bool:
        question = self.tr("Join the server {server} as {name}?").format(
            server=one_line(address, 80), name=one_line(invitation.name, 40))
        lines = [self.tr("Its sessions then appear in your list. Agree only if you expected this invitation.")]
        if pin:
            lines.append(self.tr("Fingerprint of its certificate: {pin}…").format(pin=pin[:16]))
        if self._place.servers.get(server_of_url(address)) is not None:
            lines.append(self.tr("The server is on your list; the token that it has there is replaced."))
        return await yes_or_no(parent or self._window.widget, question, self.tr("Join"), detail="\n\n".join(lines))
