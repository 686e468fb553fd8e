"""Asks the other servers for words in their own logs: what they hold need not be on this computer."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from app.desk.desk import Desk
from app.desk.workplace import Workplace
from app.find.hits import ServerReply, sound
from app.kit.timers import single_shot
from core.domain.errors import ReportableError
from core.domain.ids import new_id
from core.protocol.messages import Search

AGAIN_MS = 2_000
"""A server that has not read all of its log is asked again so much later, as long as it gets on."""

MAX_BEHIND = 2**31 - 1


class RemoteSearch(QObject):
    """One question at a time to every other server; `answered` when a reply came."""

    answered = Signal()

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place = place
        self._words, self._limit = "", 0
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again = single_shot(self, AGAIN_MS, self._ask_again)
        self.replies: dict[str, ServerReply] = {}
        """By server: what came of the question."""
        place.desks.link_changed.connect(self._on_link)
        place.desks.servers_changed.connect(self._on_servers)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still to come."""
        return any(reply.state == "asking" for reply in self.replies.values())

    def ask(self, words: str, limit: int) -> None:
        """Ask every other server; an older question is forgotten."""
        self.drop()
        self._words, self._limit = words, limit
        for desk in self._place.desks.all[1:]:
            self._ask(desk)

    def drop(self) -> None:
        """Nobody wants the answers any more."""
        self._words = ""
        self._again.stop()
        self.replies.clear()
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def _ask(self, desk: Desk) -> None:
        known = self.replies.get(desk.server)
        self.replies[desk.server] = known if known is not None and known.state == "answered" else ServerReply()
        self._tasks[desk.server] = self._place.scope.spawn(
            self._await_reply(desk, self._words), name=f"search {desk.server}")

    async def _await_reply(self, desk: Desk, words: str) -> None:
        try:
            reply = await self._reply(desk, words)
        except ReportableError as error:
            reply = ServerReply(state=error.code)
        if words != self._words or desk not in self._place.desks.all:
            return
        before = self.replies.get(desk.server, ServerReply())
        self.replies[desk.server] = reply
        if reply.behind and not 0 < before.behind <= reply.behind:
            self._again.start()
        self.answered.emit()

    async def _reply(self, desk: Desk, words: str) -> ServerReply:
        if desk.client is None:
            return ServerReply(state="server_away")
        found = await desk.client.search(Search(id=new_id(), words=words, limit=self._limit))
        hits = sound(found.hits, desk.server, self._limit)
        return ServerReply(state="answered", hits=hits, more=found.more, behind=min(max(0, found.behind), MAX_BEHIND))

    def _ask_again(self) -> None:
        for desk in self._place.desks.all[1:]:
            if self._words and desk.server in self.replies and self.replies[desk.server].behind:
                self._ask(desk)

    def _on_link(self) -> None:
        """A server that was away is there: it is asked what the others were asked."""
        back = [desk for desk in self._place.desks.all[1:] if desk.link.state == "online"
                and self._words and desk.server in self.replies and self.replies[desk.server].state == "server_away"]
        for desk in back:
            self._ask(desk)
        if back:
            self.answered.emit()

    def _on_servers(self) -> None:
        """A server that was taken off the list counts no more, one that was added is asked when it is there."""
        here = {desk.server for desk in self._place.desks.all[1:]}
        for server in [one for one in self.replies if one not in here]:
            del self.replies[server]
            if (task := self._tasks.pop(server, None)) is not None:
                task.cancel()
        if self._words:
            self.replies |= {server: ServerReply(state="server_away") for server in here - self.replies.keys()}
            self.answered.emit()
