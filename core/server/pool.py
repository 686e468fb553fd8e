"""The host pool at work: gives sessions their places before their runners start, takes them back behind them, and
watches whether its members can be reached."""

import asyncio
import logging
from collections.abc import Sequence

import msgspec

from core.agents.hosts import PLACES
from core.domain.errors import ReportableError, Unavailable
from core.domain.events import HostPlaceChanged, SessionCreated, SessionStateChanged, decode_event
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.task import Host
from core.sandbox.machine import MachineSandbox, describe_machine
from core.sandbox.placement import HostPlace
from core.server.hub import Hub
from core.server.pool_file import OWN, HostLease, PoolFile, PoolHost, Waiting
from core.server.record import SERVER, write
from core.store import log
from core.store.home import Home, make_private_folder, write_private
from core.store.sqlite import Connection as Database

_log = logging.getLogger("sandbox")

WATCH_S = 15.0
"""How often members elsewhere are asked whether they are there."""

ANSWER_S = 20


class HostPool:
    """The pool of a running server."""

    def __init__(self, hub: Hub, home: Home) -> None:
        self._hub, self._home = hub, home
        self._file = PoolFile(home.pool_db)
        self._words: dict[str, str] = {}

    def close(self) -> None:
        """Let go of the file; what is given out stays given."""
        self._file.close()

    async def place(self, row: SessionRow) -> bool:
        """Whether a session has its places, which are then in its folder; else it waits, and its row says where."""
        created = decode_event(log.read(self._hub.reader, row.session, 0, 1)[0].body).fact
        if not isinstance(created, SessionCreated) or created.agent.sandbox != "docker":
            return True
        given = self._file.claim(row.session, created.task)
        if isinstance(given, Waiting):
            await self._wait(row, given)
            return False
        path = make_private_folder(self._home.sessions / row.session) / PLACES
        data = msgspec.json.encode(given)
        if not path.exists() or path.read_bytes() != data:
            write_private(path, data)
            await self._tell_places(row.session, given)
        self._words.pop(row.session, None)
        return True

    async def take_back(self, session: str) -> None:
        """The session is over and its runner gone: what it still runs elsewhere ends, then its places are free."""
        held = [lease for lease in self._file.leases() if lease.session == session]
        places = {lease.place for lease in held}
        remains: list[HostLease] = []
        for host in self._file.hosts():
            if host.kind == "machine":
                there = [lease for lease in held if lease.place == host.name]
                remains += there if host.is_lost else await _end_on_machine(host, there, str(self._home.path))
            elif host.name in places and host.name != OWN and not host.is_lost:
                await self._stopped(host, [session])
        if self._file.release(session, remains):
            _log.info("took back what session %s was given: %s", session, ", ".join(sorted(places)) or "nothing yet")
        self._words.pop(session, None)

    async def reconcile(self) -> None:
        """Take back what sessions hold that the log does not have any more."""
        for session in self._file.sessions() - {row.session for row in log.rows(self._hub.reader)}:
            await self.take_back(session)

    async def watch(self) -> None:
        """Ask members whether they are there, until cancelled."""
        await self.reconcile()
        while True:
            await asyncio.gather(*(self._ask(host) for host in self._file.hosts() if host.address.url))
            await asyncio.sleep(WATCH_S)

    async def _ask(self, host: PoolHost) -> None:
        try:
            await check_host(host)
        except (ReportableError, OSError) as error:
            await self._note(host, is_lost=True, detail=str(error))
        else:
            if host.kind == "machine":
                await self._end_remains(host)
            elif host.is_lost:
                await self._stopped(host, [row.session for row in log.rows(self._hub.reader)
                                           if row.origin == "live" and row.state in FINAL_STATES])
            await self._note(host, is_lost=False)

    async def _end_remains(self, host: PoolHost) -> None:
        """End on a machine that answers what could not be ended before."""
        remains = [lease for lease in self._file.remains() if lease.place == host.name]
        still = await _end_on_machine(host, remains, str(self._home.path))
        for lease in remains:
            if lease not in still:
                self._file.forget_remains(lease)
                _log.info("ended what session %s had left on %s", lease.session, host.name)

    async def _note(self, host: PoolHost, *, is_lost: bool, detail: str = "") -> None:
        if not self._file.note(host.name, is_lost=is_lost, detail=detail):
            return
        _log.warning("pool host %s is %s. %s", host.name, "lost" if is_lost else "back", detail)
        fact = HostPlaceChanged(state="lost" if is_lost else "back", place=host.name, detail=detail[:500])
        for lease in self._file.leases():
            if lease.place == host.name:
                one = msgspec.structs.replace(fact, host=lease.host)
                await self._write(lease.session, [one])

    async def _stopped(self, host: PoolHost, sessions: Sequence[str]) -> None:
        """End what sessions that are over left on a member. One that cannot be asked is asked when it is back."""
        from core.sandbox import reaper  # the engine's library takes a while to load

        try:
            async with asyncio.timeout(ANSWER_S):
                await reaper.stop(str(self._home.path), sessions, [host.address])
        except (Unavailable, TimeoutError) as error:
            _log.info("what is left on %s stays for now: %s", host.name, error)

    async def _tell_places(self, session: str, given: dict[str, HostPlace]) -> None:
        if all(place == HostPlace(has_data=place.has_data) for place in given.values()):
            return  # where everything runs that nobody ordered otherwise
        await self._write(session, [HostPlaceChanged(host=name, state="placed", place=place.place, gpus=place.gpus)
                                    for name, place in given.items()])

    async def _wait(self, row: SessionRow, waiting: Waiting) -> None:
        words = f"Place {waiting.place} of {waiting.of} in the queue for hosts; asks for {waiting.asks}."
        if row.state != "queued" or self._words.get(row.session) == words:
            return
        self._words[row.session] = words
        if row.reason == "waits_for_host" and row.queue_place == waiting.place:
            return
        await self._write(row.session, [SessionStateChanged(state="queued", reason="waits_for_host", detail=words,
                                                            queue_place=waiting.place)])

    async def _write(self, session: str, facts: Sequence[HostPlaceChanged | SessionStateChanged]) -> None:
        def work(conn: Database) -> None:
            if log.knows(conn, session):
                for fact in facts:
                    write(conn, session, fact, SERVER)

        await self._hub.do(session, work)


async def _end_on_machine(host: PoolHost, held: Sequence[HostLease], home: str) -> list[HostLease]:
    """End what runs on a plain machine for leases; its files stay. Gives those for which nobody could."""
    remains = []
    for lease in held:
        place = HostPlace(place=host.name, kind="machine", address=host.address)
        try:
            async with asyncio.timeout(ANSWER_S):
                left = Host(name=lease.host, machine=host.name)
                await MachineSandbox(lease.session, left, place, home=home).stop()
        except (ReportableError, OSError, TimeoutError) as error:
            _log.info("what session %s left on %s stays for now: %s", lease.session, host.name, error)
            remains.append(lease)
    return remains


async def check_host(host: PoolHost) -> str:
    """Whether a member answers, in a line of what it is. Raises Unavailable and other reportable errors."""
    if host.kind == "machine":
        return await describe_machine(host.address)
    from core.sandbox.engine import describe_engine

    return await describe_engine(host.address, ANSWER_S)
