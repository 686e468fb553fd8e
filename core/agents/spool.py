"""The runner's traffic with the server: entries out, guidance and controls in. The agent never waits for it.

`core.protocol.append_state` decides the order of entries; this module adds payloads, the inbox, and live text.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from core.agents.delivery import Inbox, News
from core.agents.journal import Journal
from core.client.connection import ReconnectingConnection
from core.client.status import Status
from core.domain.errors import Conflict, InvalidInput, ReportableError
from core.domain.events import blobs_of, decode_stored
from core.protocol.append_state import Appender, SendBlobs, Stored
from core.protocol.frames import pieces
from core.protocol.messages import Append, Close, Command, Events, Failed, Live, Nak, Seen, Subscribe, Welcome, Wire

log = logging.getLogger("wire")

LIVE_EVERY_S = 0.15


class Spool:
    """Owns the link of one session's runner (`core.client.connection.Owner`)."""

    def __init__(self, journal: Journal, inbox: Inbox, url: str, token: str, on_news: Callable[[News], None],
                 find: Callable[[], str] | None = None, call: Command | None = None,
                 link: ReconnectingConnection | None = None) -> None:
        """`on_news` is told what came in, after it is in the journal. `call` makes the session, where this side does.
        With a `link` that several share, its owner hands on what comes for this session, and `run` is not for this one.
        """
        self._journal, self._inbox, self._on_news = journal, inbox, on_news
        self._appender = Appender(journal.session, journal.id, journal.entries)
        self.link = link or ReconnectingConnection(url, token, self, program="tiphys agent", find=find)
        self._caught_up = asyncio.Event()
        self._stored = asyncio.Event()
        self._call = call
        self._live: dict[str, str] = {}
        self._live_rings = asyncio.Event()
        self.lost: ReportableError | None = None
        self._homeless = False
        self._checked = False
        journal.on_entries.append(self.pump)

    @property
    def client(self) -> str:
        """The journal's identity."""
        return self._journal.id

    async def run(self) -> None:
        """Keep the link up until cancelled. Raises Conflict (fenced) when a newer runner took over."""
        await self.link.run()

    def pump(self) -> None:
        """The journal grew: send what may be sent."""
        self._post(self._appender.pump())

    @property
    def is_flushed(self) -> bool:
        """Whether the server is known to hold every entry."""
        return self._appender.upto >= self._journal.head

    async def flushed(self, seconds: float) -> bool:
        """Wait until the server holds every entry; False when the time is over first."""
        try:
            async with asyncio.timeout(seconds):
                while not self.is_flushed and self.lost is None:
                    self._stored.clear()
                    await self._stored.wait()
        except TimeoutError:
            return False
        return self.is_flushed

    async def caught_up(self, seconds: float | None) -> bool:
        """Wait until the journal has seen the log's end once on this connection; False when the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self._caught_up.wait()
        except TimeoutError:
            return False
        return True

    # ---- live text: newest wins

    def tell_live(self, channel: Literal["thought", "action"], text: str) -> None:
        """Show text that is being made; lost when nobody listens."""
        self._live[channel] = text[-32_000:]
        self._live_rings.set()

    async def run_live(self) -> None:
        """Send live text, a few times a second at most."""
        while True:
            await self._live_rings.wait()
            self._live_rings.clear()
            for channel, text in self._live.items():
                self.link.post(Live(session=self._journal.session, channel=channel, text=text))
            self._live.clear()
            await asyncio.sleep(LIVE_EVERY_S)

    # ---- what the link tells

    async def on_welcome(self, welcome: Welcome) -> None:
        """A connection begins: go on reading the log where the journal ends, and take the lease.

        The first time only when all of the log was read: from a journal that was copied nobody may be fenced.
        """
        held = self._journal.slot("epoch", str)
        if held != welcome.epoch:
            with self._journal.transaction("epoch"):
                self._journal.put_slot("epoch", welcome.epoch)
                if held is not None:
                    self._begin_again()
        self._homeless = False
        if self._call is not None:
            self.link.post(self._call)
        if self._checked:
            self._post(self._appender.connect())
        known = max(0, self._inbox.cursor - 1)  # one event more than needed, so that the log's head is told at once
        self.link.post(Subscribe(session=self._journal.session, after=known))

    async def on_message(self, message: Wire) -> None:
        """A message came."""
        if isinstance(message, Events) and message.session == self._journal.session:
            await self._take_events(message)
            return
        if isinstance(message, Failed):
            self._failed(message)
        if isinstance(message, Nak):
            await self._not_made(message)
        for effect in self._appender.take(message):
            match effect:
                case SendBlobs(hashes):
                    self._send_blobs(hashes)
                case Stored(upto):
                    self._store(upto)
                case Wire():
                    self._post([effect])

    async def on_piece(self, frame: bytes) -> None:
        """A runner asks for no payloads."""

    def on_status_changed(self, status: Status) -> None:
        """The link went up or down; the agent does not care."""
        if status.state != "online":
            log.info("server %s: %s", status.state, status.sentence)

    def _failed(self, failed: Failed) -> None:
        log.warning("%s", failed.sentence)
        if failed.kind == InvalidInput.__name__ and failed.about == self._journal.session:
            self._refused(failed)
        elif failed.code == "no_session":
            self._homeless = True
        elif failed.code == "ahead_of_log":  # an older copy of the database was put back, with the identity that it had
            self._read_again()

    async def _not_made(self, nak: Nak) -> None:
        """The session that this runner writes cannot be made: a restored log may have to be told of its caller first.
        """
        log.warning("%s", nak.sentence)
        if nak.code == "no_session":
            await self.link.restart(Close.GAP, nak.sentence)
            return
        self.lost = InvalidInput(nak.code, nak.sentence)
        self._stored.set()

    def _refused(self, failed: Failed) -> None:
        """An entry that the server will never take holds up all that follow: to ask again would be in vain."""
        self.lost = InvalidInput("refused_entry", "The server refuses what follows entry "
                                 f"{self._appender.upto} of this journal, and nothing more can be sent; the journal "
                                 f"holds it. {failed.sentence}", upto=self._appender.upto, why=failed.sentence)
        self._caught_up.set()
        self._on_news(News())

    def _read_again(self) -> None:
        with self._journal.transaction("older log"):
            self._begin_again()
        self.link.post(Subscribe(session=self._journal.session, after=0))

    def _begin_again(self) -> None:
        """The server's log is another one: read it from its start, and hold no payload for sent."""
        self._inbox.rewind()
        self._journal.mark_unsent()

    async def _take_events(self, message: Events) -> None:
        try:
            news = self._inbox.take(message.first, [bytes(b) for b in message.bodies])
        except Conflict as error:
            if error.code == "other_log":
                log.warning("%s", error.sentence)
                self._read_again()
                return
            if error.code != "seq_gap":
                self.lost = error
                self._caught_up.set()
                self._on_news(News())
                return
            await self.link.restart(Close.GAP, error.sentence)
            return
        self.link.post(Seen(session=self._journal.session, seq=self._inbox.cursor))
        if self._homeless:  # the lease was asked for before a restored server was told of the session again
            self._homeless = False
            self._post(self._appender.connect())
        if self._inbox.cursor >= message.head:
            self._caught_up.set()
            if not self._checked:
                self._checked = True
                self._post(self._appender.connect())
        self._on_news(news)

    def _post(self, messages: list[Wire]) -> None:
        for message in messages:
            if isinstance(message, Append):
                self._send_blobs(self._journal.unsent(_named(message)))
            self.link.post(message)

    def _send_blobs(self, hashes: tuple[str, ...] | list[str]) -> None:
        for name in hashes:
            data = self._journal.compressed(name)
            if data is None:
                log.error("The server asks for %s, which the journal does not hold.", name[:12])
                continue
            for frame in pieces(name, data):
                self.link.post(frame)

    def _store(self, upto: int) -> None:
        """Payloads of stored entries need not be sent again."""
        before = self._journal.slot("acked", int) or 0
        if upto > before:
            bodies = self._journal.entries(before + 1, upto - before, 1 << 62)
            names = [name for body in bodies for name in blobs_of(decode_stored(body).fact)]
            with self._journal.transaction("acked"):
                self._journal.mark_sent(names)
                self._journal.put_slot("acked", upto)
        self._stored.set()


def _named(append: Append) -> list[str]:
    return [name for body in append.bodies for name in blobs_of(decode_stored(bytes(body)).fact)]
