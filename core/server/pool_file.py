"""The host pool's own file: its members, what sessions were given of them, and who waits. One transaction decides.

It stands beside the log and is in no backup: what is given out is a fact of this computer now, whatever log is put
back. Whoever holds the file open (the server, `tiphys hosts`) sees the same; a kill leaves all of a decision or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from core.domain.errors import Conflict, InvalidInput, NotFound
from core.domain.ids import is_id
from core.domain.task import Task
from core.sandbox.placement import EngineAddress, HostPlace
from core.server.fitting import Demand, Room, fit
from core.store.home import Home
from core.store.migrations import Migrations
from core.store.schema import open_migrated
from core.store.sqlite import Connection, scalar, transaction

OWN = "local"
"""The engine of the server's own machine. It is a member without being added, with no GPU and without limits."""

migrations = Migrations("pool")

migrations.script("m0001_pool", """
CREATE TABLE member (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE lease (session TEXT NOT NULL, host TEXT NOT NULL, place TEXT NOT NULL, body BLOB NOT NULL,
                    PRIMARY KEY (session, host)) STRICT;
CREATE TABLE gpu (place TEXT NOT NULL, gpu TEXT NOT NULL, session TEXT NOT NULL, host TEXT NOT NULL,
                  PRIMARY KEY (place, gpu)) STRICT;
CREATE TABLE queue (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL UNIQUE, demand BLOB NOT NULL,
                    since TEXT NOT NULL) STRICT;
""")

# What sessions that are over may still run on plain machines.
migrations.script("m0002_remains", """
CREATE TABLE remains (session TEXT NOT NULL, host TEXT NOT NULL, place TEXT NOT NULL, body BLOB NOT NULL,
                      PRIMARY KEY (session, host, place)) STRICT;
""")


class PoolHost(msgspec.Struct, frozen=True, kw_only=True):
    """A member: a Docker engine, or a plain machine. `cpus` and `memory_mb` (None: not counted) are what sessions may
    take together; `gpus` the ids that each go to one host at a time. `is_open`: it is given to new sessions."""

    name: str
    kind: Literal["engine", "machine"] = "engine"
    address: EngineAddress = EngineAddress()
    gpus: tuple[str, ...] = ()
    cpus: float | None = None
    memory_mb: int | None = None
    has_data: bool = False
    is_open: bool = True
    is_lost: bool = False
    detail: str = ""

    def check(self) -> None:
        """Raises InvalidInput (bad_pool_host) for what cannot be a member."""
        scheme = self.address.url.partition("://")[0]
        if not is_id(self.name) or len(self.name) > 60:
            raise InvalidInput("bad_pool_host", f"{self.name[:80]!r} cannot name a member of the pool: use letters, "
                               "digits, dots and dashes.")
        if self.kind == "machine" and scheme != "ssh":
            raise InvalidInput("bad_pool_host", "A plain machine needs an address of the form ssh://[USER@]HOST[:PORT].")
        if scheme not in ("unix", "tcp", "ssh") and (scheme or self.name != OWN):
            raise InvalidInput("bad_pool_host", f"{self.address.url[:120]!r} is no engine's address: unix://PATH, "
                               "tcp://HOST:PORT with --tls, or ssh://[USER@]HOST[:PORT].")
        if scheme == "tcp" and not self.address.tls:
            raise InvalidInput("bad_pool_host", "An engine at tcp:// needs --tls FOLDER with ca.pem, cert.pem and "
                               "key.pem: without it whoever reaches the port is root there.")
        if len(set(self.gpus)) < len(self.gpus) or any(v is not None and v <= 0 for v in (self.cpus, self.memory_mb)):
            raise InvalidInput("bad_pool_host", "GPUs are named once each; CPUs and memory are more than nothing.")


class HostLease(msgspec.Struct, frozen=True, kw_only=True):
    """What one host of a session was given."""

    session: str
    host: str
    place: str
    gpus: tuple[str, ...] = ()
    cpus: float = 0.0
    memory_mb: int = 0


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A session that nothing could be given to yet: how many wait up to it, how many in all, and for what."""

    place: int
    of: int
    asks: str


class PoolFile:
    """The pool of one home. Methods block for as long as another process's transaction lasts."""

    def __init__(self, path: Path) -> None:
        self._conn: Connection = open_migrated(path, migrations)

    def close(self) -> None:
        """Let go of the file."""
        self._conn.close()

    def hosts(self) -> list[PoolHost]:
        """All members, this machine's own engine first."""
        rows = self._conn.execute("SELECT body FROM member ORDER BY name <> ?, name", (OWN,))
        found = [msgspec.json.decode(row[0], type=PoolHost) for row in rows]
        return found if any(one.name == OWN for one in found) else [PoolHost(name=OWN, has_data=True), *found]

    def host(self, name: str) -> PoolHost:
        """The member of that name. Raises NotFound (no_pool_host)."""
        found = next((one for one in self.hosts() if one.name == name), None)
        if found is None:
            raise NotFound("no_pool_host", f"The host pool has no {name}.", name=name)
        return found

    def put(self, host: PoolHost) -> None:
        """Add a member, or change it. Raises InvalidInput, Conflict (gpu_in_use) where it lacks what is given out."""
        host.check()
        with transaction(self._conn):
            given = {row[0] for row in self._conn.execute("SELECT gpu FROM gpu WHERE place = ?", (host.name,))}
            if missing := given - set(host.gpus):
                raise Conflict("gpu_in_use", f"Sessions hold the GPUs {', '.join(sorted(missing))} of {host.name}; end "
                               "them first.", name=host.name)
            self._write(host)

    def remove(self, name: str) -> None:
        """Take a member out. Raises NotFound, Conflict (host_in_use) with the sessions that hold it."""
        with transaction(self._conn):
            self.host(name)
            holders = sorted({lease.session for lease in self.leases() if lease.place == name})
            if holders:
                raise Conflict("host_in_use", f"{name} is held by {', '.join(holders)}; end them first (tiphys stop), "
                               "or close it to new ones (tiphys hosts close).", name=name)
            self._conn.execute("DELETE FROM member WHERE name = ?", (name,))
            self._conn.execute("DELETE FROM remains WHERE place = ?", (name,))

    def leases(self) -> list[HostLease]:
        """What is given out, in the order of sessions."""
        return self._leases("lease")

    def remains(self) -> list[HostLease]:
        """What sessions that are over may still run on plain machines, as nobody could end it there: its GPUs are not
        free, and its session is given nothing new, until it has ended."""
        return self._leases("remains")

    def forget_remains(self, lease: HostLease) -> None:
        """What was left there has ended."""
        self._conn.execute("DELETE FROM remains WHERE session = ? AND host = ? AND place = ?",
                           (lease.session, lease.host, lease.place))

    def waiting(self) -> list[tuple[str, str]]:
        """The sessions that wait, in their order, and what each asks for."""
        rows = self._conn.execute("SELECT session, demand FROM queue ORDER BY number")
        return [(row[0], msgspec.json.decode(row[1], type=Demand).words) for row in rows]

    def claim(self, session: str, task: Task) -> dict[str, HostPlace] | Waiting:
        """The places of a session's hosts, now and whenever it is asked again; or how it waits for them.

        Whoever waits for GPUs is passed by nobody who asks for GPUs, and nobody is passed by whom it waits with.
        """
        demand = Demand.of(task)
        with transaction(self._conn):
            held = [lease for lease in self.leases() if lease.session == session]
            if held:
                return self._places(held)
            if scalar(self._conn, "SELECT 1 FROM queue WHERE session = ?", session) is None:
                self._conn.execute("INSERT INTO queue (session, demand, since) VALUES (?, ?, ?)",
                                   (session, msgspec.json.encode(demand), datetime.now(UTC).isoformat()))
            order = [(row[0], msgspec.json.decode(row[1], type=Demand)) for row in
                     self._conn.execute("SELECT session, demand FROM queue ORDER BY number")]
            ahead = [other for one, other in order[: [name for name, _ in order].index(session)]]
            is_passed = any(other.goes_before(demand) for other in ahead)
            is_left = any(lease.session == session for lease in self.remains())
            given = None if is_passed or is_left else fit(demand, self._rooms())
            if given is None:
                return Waiting(place=len(ahead) + 1, of=len(order), asks=demand.words)
            leases = [HostLease(session=session, host=host.name, place=place, gpus=gpus, cpus=host.cpus,
                            memory_mb=host.memory_mb) for host, (place, gpus) in zip(demand.hosts, given, strict=True)]
            self._give(session, leases)
            return self._places(leases)

    def release(self, session: str, remains: Sequence[HostLease] = ()) -> bool:
        """Take back what a session was given but what `remains`, and its place in the queue; whether it had anything.
        """
        with transaction(self._conn):
            for lease in remains:
                self._conn.execute("INSERT OR REPLACE INTO remains (session, host, place, body) VALUES (?, ?, ?, ?)",
                                   (session, lease.host, lease.place, msgspec.json.encode(lease)))
            self._conn.execute("DELETE FROM gpu WHERE session = ?", (session,))
            gone = self._conn.execute("DELETE FROM lease WHERE session = ?", (session,)).rowcount
            gone += self._conn.execute("DELETE FROM queue WHERE session = ?", (session,)).rowcount
        return gone > 0

    def sessions(self) -> set[str]:
        """All that hold something or wait."""
        return {row[0] for row in self._conn.execute("SELECT session FROM lease UNION SELECT session FROM queue")}

    def note(self, name: str, *, is_lost: bool, detail: str = "") -> bool:
        """Note whether a member can be reached; whether that is news. A member that was removed is no news."""
        with transaction(self._conn):
            host = next((one for one in self.hosts() if one.name == name), None)
            if host is None or host.is_lost == is_lost:
                return False
            self._write(msgspec.structs.replace(host, is_lost=is_lost, detail=detail[:500]))
            return True

    def _leases(self, table: Literal["lease", "remains"]) -> list[HostLease]:
        rows = self._conn.execute(f"SELECT body FROM {table} ORDER BY session, host")
        return [msgspec.json.decode(row[0], type=HostLease) for row in rows]

    def _write(self, host: PoolHost) -> None:
        self._conn.execute("INSERT INTO member (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
                           "body = excluded.body", (host.name, msgspec.json.encode(host)))

    def _give(self, session: str, leases: Sequence[HostLease]) -> None:
        for lease in leases:
            self._conn.execute("INSERT INTO lease (session, host, place, body) VALUES (?, ?, ?, ?)",
                               (session, lease.host, lease.place, msgspec.json.encode(lease)))
            for gpu in lease.gpus:  # the key refuses what would be given twice
                self._conn.execute("INSERT INTO gpu (place, gpu, session, host) VALUES (?, ?, ?, ?)",
                                   (lease.place, gpu, session, lease.host))
        self._conn.execute("DELETE FROM queue WHERE session = ?", (session,))

    def _rooms(self) -> list[Room]:
        leases = [*self.leases(), *self.remains()]
        return [Room.of(one, [lease for lease in leases if lease.place == one.name])
                for one in self.hosts() if one.is_open and not one.is_lost]

    def _places(self, leases: Sequence[HostLease]) -> dict[str, HostPlace]:
        members = {one.name: one for one in self.hosts()}
        return {lease.host: HostPlace(place=lease.place, kind=members[lease.place].kind, gpus=lease.gpus,
                                      address=members[lease.place].address, has_data=members[lease.place].has_data)
                for lease in leases}


def engines_of(home: Home) -> list[EngineAddress]:
    """The addresses of all engines of a home's pool, this machine's own first."""
    if not home.pool_db.is_file():
        return [EngineAddress()]
    with closing(PoolFile(home.pool_db)) as pool:
        return [host.address for host in pool.hosts() if host.kind == "engine"]


def refuse_unfit(home: Home, task: Task) -> None:
    """Raises Conflict (no_such_host) where no member could ever take the task's hosts, whatever is free."""
    rooms = [Room.of(PoolHost(name=OWN, has_data=True), ())]
    if home.pool_db.is_file():
        with closing(PoolFile(home.pool_db)) as pool:
            rooms = [Room.of(host, ()) for host in pool.hosts()]
    if fit(Demand.of(task), rooms) is None:
        raise Conflict("no_such_host", f"No host of this server's pool could ever take task {task.id}: it asks for "
                       f"{Demand.of(task).words}. Who runs this server may add one: tiphys hosts add.", task=task.id)


