"""The log of record of a home whose lock this process holds: commands are carried out where they are given."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from core.domain.errors import Unavailable
from core.domain.ids import new_id
from core.protocol.messages import Append, Command
from core.protocol.operations import AnyOp, DeleteSession, ImportSession
from core.server.append import MissingPayloads, append_entries, decoded
from core.server.deletion import finish
from core.server.end_rules import EndRules
from core.server.handlers import apply_command
from core.server.lookups import lookups_of
from core.server.ownership import own
from core.store import accounts, blobs, log
from core.store.home import Home
from core.store.lock import FileLock
from core.store.schema import open_log
from core.store.sqlite import Connection as Database
from core.store.sqlite import connect
from core.store.writer import Writer

if TYPE_CHECKING:
    from core.server.import_rules import ImportRules

_log = logging.getLogger("session")

T = TypeVar("T")


class NewEntries(msgspec.Struct, frozen=True):
    """What is to be taken in of a session: its events as the entries of a journal, and the payloads that they name."""

    session: str
    op: ImportSession
    journal: str
    bodies: Sequence[bytes]
    payloads: Mapping[str, bytes]


class HeldDatabase:
    """The way of `Authority` where no server runs: the database is ours as long as we hold the lock."""

    def __init__(self, home: Home, lock: FileLock, writer: Writer, principal: accounts.Principal) -> None:
        self._home = home
        self._lookups, self._lock, self._writer, self._principal = lookups_of(home), lock, writer, principal
        self._rules: ImportRules | None = None

    @classmethod
    async def open(cls, home: Home, lock: FileLock) -> HeldDatabase:
        writer = Writer(home.server_db, _opened)
        try:
            await writer.do(lambda conn: own(conn, home))
            token = home.admin_token.read_text().strip()
            return cls(home, lock, writer, await writer.do(lambda conn: accounts.principal(conn, token)))
        except BaseException:
            writer.close()
            raise

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        result = await self._writer.do(lambda conn: self._apply(conn, session, op))
        if isinstance(op, DeleteSession) and result["is_deleted"]:
            await self._finish_deletion(session)
        return result

    async def _finish_deletion(self, session: str) -> None:
        """What cannot be removed now is removed by the next server that starts."""
        try:
            await finish(self._home, self._writer)
        except Unavailable as error:
            _log.warning("what session %s left beside the log stays until a server runs: %s", session, error.sentence)

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        account = self._principal.name
        return await self._writer.do(lambda conn: _append(conn, session, journal, bodies, payloads, account))

    async def take_in(self, look: Callable[[Database], tuple[T, NewEntries | None]],
                      judged: dict[str, int] | None = None) -> T:
        """All in one transaction, the look too: so many sessions share a commit, and each sees those before it."""
        def work(conn: Database) -> T:
            result, found = look(conn)
            if found is not None:
                self._apply(conn, found.session, found.op)
                self._take_entries(conn, found, judged)
            return result

        return await self._writer.do(work)

    def _take_entries(self, conn: Database, found: NewEntries, judged: dict[str, int] | None) -> None:
        rules = None if judged is None else self._import_rules(judged)
        if rules is not None:
            rules.begin(conn, found.session, len(found.bodies))
        _append(conn, found.session, found.journal, found.bodies, found.payloads, self._principal.name, rules)
        if rules is not None:
            rules.judge(conn, found.payloads)

    def _import_rules(self, judged: dict[str, int]) -> ImportRules:
        if self._rules is None:
            from core.server.import_rules import ImportRules  # with all rules, which few commands ask

            self._rules = ImportRules(self._home.path / "rules", judged)
        return self._rules

    async def judge_ended(self, sessions: Iterable[str], judged: Mapping[str, int]) -> None:
        with closing(connect(self._home.server_db, readonly=True)) as reader:
            rules = EndRules(_HeldLog(reader, self._writer), self._home)
            try:
                await rules.judge(sessions, judged)
            finally:
                await rules.close()

    def _apply(self, conn: Database, session: str, op: AnyOp) -> dict[str, Any]:
        command = Command(id=new_id(), cseq=1, session=session, op=op)
        return apply_command(conn, self._principal, command, self._lookups)

    async def close(self) -> None:
        self._writer.close()
        self._lock.release()


def _opened(path: Path | str) -> Database:
    """A writing connection that holds few pages: what a command stores is not looked at again."""
    conn = open_log(path)
    conn.execute(f"PRAGMA cache_size=-{_CACHE_KB}")
    return conn


_CACHE_KB = 16_384
_AT_ONCE = 2_000
"""Entries that are decoded and held together; the transaction holds all."""


class _HeldLog:
    """The log as the rules use it, while no server runs."""

    def __init__(self, reader: Database, writer: Writer) -> None:
        self.reader, self._writer = reader, writer

    async def do(self, session: str, work: Callable[[Database], T]) -> T:
        return await self._writer.do(work)


def _append(conn: Database, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes],
            account: str, rules: ImportRules | None = None) -> int:
    """`rules` take the events that are appended."""
    blobs.put_all(conn, payloads.items())
    fence, _ = log.lease(conn, session, journal)
    done = 0
    try:
        for start in range(0, len(bodies), _AT_ONCE):
            some = tuple(msgspec.Raw(b) for b in bodies[start : start + _AT_ONCE])
            given = Append(session=session, fence=fence, first=start + 1, bodies=some)
            events = decoded(map(bytes, some))
            done = append_entries(conn, given, by_agent=False, account=account, events=events, stored=payloads)
            if rules is not None:
                rules.take(events)
    except MissingPayloads as missing:
        raise missing_payload(missing.hashes[0]) from None
    return done


def missing_payload(hash: str) -> Unavailable:
    """What is raised where an import names a payload that nobody has."""
    return Unavailable("missing_payload", f"The payload {hash[:12]}… is neither given nor held.", hash=hash)
