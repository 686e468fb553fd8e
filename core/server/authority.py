"""The one way in which a command of this computer writes the log of record: through the server when one runs,
else by holding the database itself. Either way the same handlers decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from core.protocol.codec import check_op
from core.protocol.operations import AnyOp
from core.server.held_database import HeldDatabase, NewEntries
from core.server.ownership import PATIENCE_S, hold_or_find
from core.store.endpoint import Endpoint
from core.store.home import Home
from core.store.sqlite import Connection as Database
from core.store.sqlite import connect, transaction

T = TypeVar("T")


class Way(Protocol):
    """One of the two ways."""

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        """Carry an operation out."""

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        """Append a journal's entries from the first; returns the last that is held."""

    async def take_in(self, look: Callable[[Database], tuple[T, NewEntries | None]],
                      judged: dict[str, int] | None = None) -> T:
        """Look at the log, make room for an import and append it."""

    async def judge_ended(self, sessions: Iterable[str], judged: Mapping[str, int]) -> None:
        """Let the rules judge those of some sessions that are over."""

    async def close(self) -> None:
        """Let go."""


class Authority:
    """Writes to the log of one home folder, as this computer's administrator."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._way: Way

    async def __aenter__(self) -> Authority:
        """Find the way. Raises Unavailable when the server does not answer, or another command writes for long."""
        found = await hold_or_find(self.home, PATIENCE_S)
        if isinstance(found, Endpoint):
            from core.server.running_server import RunningServer  # with what clients speak to servers

            self._way = await RunningServer.open(self.home, found.url)
            return self
        try:
            self._way = await HeldDatabase.open(self.home, found)
        except BaseException:
            found.release()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._way.close()

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        """Carry an operation out; returns its result. Raises ReportableError as the handlers do, InvalidInput (bad_op)
        for what no server would take."""
        check_op(op)
        return await self._way.do(session, op)

    async def append(self, session: str, journal: str, bodies: Sequence[bytes],
                     payloads: Mapping[str, bytes] | None = None) -> int:
        """Append encoded events as the entries 1, 2, … of a journal, with the payloads they name (hash → bytes).

        Entries that are held from an earlier time are skipped, so that an import may be repeated. Returns the
        last entry that is held. Raises ReportableError; missing_payload where one is neither given nor held.
        """
        return await self._way.append(session, journal, bodies, payloads or {})

    async def take_in(self, look: Callable[[Database], tuple[T, NewEntries | None]],
                      judged: dict[str, int] | None = None) -> T:
        """Store what a look at the log finds lacking, whole or not at all: until its `op.events` events are here, no
        list shows the session. Those that are asked for together are taken in one after the other; gives what `look`
        gives beside it. With `judged` the rules may judge it on the way: then that gets how many steps they saw of it.

        Raises ReportableError as `do` and `append` do, and what `look` raises.
        """
        return await self._way.take_in(look, judged)

    async def judge_ended(self, sessions: Iterable[str], judged: Mapping[str, int]) -> None:
        """Let the rules judge those of some sessions that are over, but for those that `take_in` says were `judged`; a
        server that runs does so by itself."""
        await self._way.judge_ended(sessions, judged)

    # ---- accounts: rows that no log tells of, so they are written beside a running server, which notices

    async def accounts(self, work: Callable[[Database], T]) -> T:
        """The result of work on accounts and invitations; a running server closes within a second the connections of
        those that may not be there any more. Raises what `work` raises."""
        return await asyncio.to_thread(_beside, self.home, work)


def _beside(home: Home, work: Callable[[Database], T]) -> T:
    conn = connect(home.server_db)
    try:
        with transaction(conn):
            return work(conn)
    finally:
        conn.close()
