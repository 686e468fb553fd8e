"""Supervision: every session that should be working has a living runner.

Runners are processes of their own (own session, own log file): they outlive the server, and a restarted server
finds them by the lock that each holds, not by being their parent.
"""

import asyncio
import logging
import subprocess
import time
from pathlib import Path

import msgspec

from core import program
from core.domain.errors import ReportableError
from core.domain.events import SessionStateChanged
from core.domain.ids import root_session
from core.domain.session import EX_TEMPFAIL, FINAL_STATES, SessionRow
from core.logs import Thinned
from core.server.called import end_orphan
from core.server.hub import Hub
from core.server.pool import HostPool
from core.server.record import SERVER, write
from core.server.service_manager import child_environment
from core.store import accounts, log
from core.store.home import Home, make_private_folder, write_private
from core.store.sqlite import Connection as Database
from core.store.sqlite import scalar

_log = logging.getLogger("session")

LOOK_EVERY_S, LOOK_PAUSE_S = 1.0, 0.05
QUICK_S = 20.0
"""A runner that lives shorter than this died quickly."""

QUICK_DEATHS = 3
"""After so many quick deaths in a row the session has failed."""

ROLL_OUT_S = 60.0
"""So long a roll-out may be out of reach before the sessions that it left have failed."""

TRY_AGAIN_S = 5.0
"""A runner that says that it cannot work now is started again after so long, and not counted as dead."""

LOG_TAIL = 2_000


class RunnerWatch(msgspec.Struct):
    """What is known of one session's runner: the child, if it is ours, and how its forerunners fared."""

    child: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    quick_deaths: int = 0
    next_at: float = 0.0
    is_admitted: bool = False
    """Whether the database is known to know the token of a runner that was alive before this server."""


class Supervisor:
    """Starts missing runners, at once and then whenever one is gone."""

    def __init__(self, hub: Hub, home: Home, url: str, command: list[str] | None = None,
                 pool: HostPool | None = None) -> None:
        """`command` is how this program is called; its default finds out. `pool` gives the sessions' hosts their
        places; without one they run on this machine's engine."""
        self._hub, self._home, self._pool = hub, home, pool
        self.url = url
        """Where runners that are started from now on reach the server."""
        self._command = command or program.command("tiphys")
        self._watches: dict[str, RunnerWatch] = {}
        self._retired: set[str] = set()
        self._look = asyncio.Event()
        self._failures = Thinned(_log)
        hub.on_changed.append(self._changed)

    async def run(self) -> None:
        """Supervise until cancelled. Runners go on."""
        while True:
            self._look.clear()
            try:
                await self.look()
            except ReportableError as error:  # a full disk, say: look again
                self._failures.say(logging.ERROR, error.code, "runners cannot be looked after now: %s", error.sentence)
            await asyncio.sleep(LOOK_PAUSE_S)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._look.wait()
            except TimeoutError:
                continue

    def let_go(self) -> None:
        """The server ends: the runners are nobody's children from now on."""
        for watch in self._watches.values():
            if watch.child is not None and watch.child.poll() is None:
                watch.child.returncode = 0  # Popen's destructor would complain about a child that is meant to live on

    async def look(self) -> None:
        """Look after every session once; one that cannot be looked after now is no reason to leave the others."""
        for row in log.rows(self._hub.reader):
            if row.origin != "live" or row.seq == 0:
                continue
            try:
                await self._look_after(row)
            except (ReportableError, OSError) as error:  # a full disk, a folder that is not ours, no more processes
                self._failures.say(logging.ERROR, str(getattr(error, "errno", "")) or str(error),
                                   "the runner of %s cannot be looked after now: %s", row.session, error)

    async def _look_after(self, row: SessionRow) -> None:
        root = root_session(row.session)
        if root != row.session:  # its caller's runner writes it
            if row.state not in FINAL_STATES and not self._hub.lookups.is_alive(root):
                await self._hub.do(row.session, lambda conn: end_orphan(conn, row.session))
        elif row.is_outside:
            return
        elif row.state in FINAL_STATES:
            await self._retire(row.session)
        else:
            self._retired.discard(row.session)
            await self._tend(row)

    def _changed(self, session: str) -> None:
        if session not in self._watches:
            self._look.set()

    async def _retire(self, session: str) -> None:
        """The session is over: once its runner is gone, so is the token that reached it."""
        watch = self._watches.get(session)
        if session in self._retired or (watch and watch.child and watch.child.poll() is None):
            return
        if self._hub.lookups.is_alive(session):
            return
        if self._pool is not None:
            await self._pool.take_back(session)
        self._watches.pop(session, None)
        self._retired.add(session)
        token = self._home.sessions / session / "token"
        if token.exists():
            await self._hub.store(lambda conn: forget_token(conn, session, token))

    async def _watch_roll_out(self, row: SessionRow) -> None:
        """A session that nobody writes any more, and that no runner goes on with, has failed."""
        watch = self._watches.setdefault(row.session, RunnerWatch(started_at=time.monotonic()))
        if self._hub.is_connected(row.session):
            watch.started_at = time.monotonic()
        elif time.monotonic() - watch.started_at > ROLL_OUT_S:
            await self._give_up(row, "The roll-out that played this session ended before it.")

    async def _tend(self, row: SessionRow) -> None:
        if row.is_rolled_out:
            await self._watch_roll_out(row)
            return
        watch = self._watches.setdefault(row.session, RunnerWatch())
        if watch.child is not None:
            if watch.child.poll() is None:
                return
            self._count_death(watch)
        if self._hub.lookups.is_alive(row.session):
            await self._admit(row.session, watch)
            return
        if self._is_elsewhere(row.session):
            return
        if watch.quick_deaths >= QUICK_DEATHS:
            await self._give_up(row, last_line(self._home.sessions / row.session / "runner.log"))
        elif time.monotonic() >= watch.next_at and (self._pool is None or await self._pool.place(row)):
            await self._start(row.session, watch)

    def _count_death(self, watch: RunnerWatch) -> None:
        lived = time.monotonic() - watch.started_at
        status, watch.child = watch.child.returncode if watch.child else 0, None
        if status == EX_TEMPFAIL:
            watch.next_at = time.monotonic() + TRY_AGAIN_S
            return
        watch.quick_deaths = watch.quick_deaths + 1 if lived < QUICK_S else 0
        watch.next_at = time.monotonic() + (0.5 * 2**watch.quick_deaths if watch.quick_deaths else 0)

    def _is_elsewhere(self, session: str) -> bool:
        """Whether a runner on another machine wrote this session: its journal is there, and so is the next runner."""
        return bool(log.journal(self._hub.reader, session)) and not (self._home.sessions / session).is_dir()

    async def _admit(self, session: str, watch: RunnerWatch) -> None:
        """Let a runner that outlived its server in, also where the database is a backup without its token."""
        folder = self._home.sessions / session
        if watch.is_admitted or not (folder / "token").exists():
            return
        await self._hub.store(lambda conn: runner_token(conn, session, folder))
        watch.is_admitted = True

    async def _start(self, session: str, watch: RunnerWatch) -> None:
        if not self._home.server_db.exists():  # deleted with its folder: the server ends soon, and brings nothing back
            return
        folder = make_private_folder(self._home.sessions / session)
        try:
            token = await self._hub.store(lambda conn: runner_token(conn, session, folder))
        except ReportableError as error:
            self._failures.say(logging.ERROR, error.code, "no token for the runner of %s: %s", session, error.sentence)
            return
        watch.child = spawn(self._command, self._home.path, session, self.url, token)
        watch.started_at = time.monotonic()
        _log.info("started runner %d of session %s", watch.child.pid, session)

    async def _give_up(self, row: SessionRow, detail: str) -> None:
        fact = SessionStateChanged(state="failed", reason="runner_died", detail=detail)
        await self._hub.do(row.session, lambda conn: _fail(conn, row.session, fact))
        self._watches.pop(row.session, None)
        _log.error("the runner of session %s died: %s", row.session, detail)


def spawn(command: list[str], home: Path, session: str, url: str, token: Path) -> subprocess.Popen[bytes]:
    """Start a runner that lives on when we end."""
    folder = token.parent
    argv = [*command, "agent", "--session", session, "--url", url, "--token-file", str(token), "--folder", str(folder)]
    with (folder / "runner.log").open("ab") as file:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=folder,
                                start_new_session=True, env=child_environment(home))


def runner_token(conn: Database, session: str, folder: Path) -> Path:
    """The file with a session's own token, which reaches that session alone; made anew where it is void."""
    path = folder / "token"
    name = f"agent:{session}"
    token = ""
    try:
        token = path.read_text().strip()
        if accounts.principal(conn, token).scopes == (name,):
            return path
    except (OSError, ReportableError):
        pass
    if scalar(conn, "SELECT 1 FROM account WHERE name = ?", name):
        token = ""  # it was made void; one that a restored database does not know stays, as a living runner holds it
    forget_token(conn, session, path)
    write_private(path, accounts.add_account(conn, name, [name], token=token).encode())
    return path


def forget_token(conn: Database, session: str, path: Path) -> None:
    """Make a runner's token void and remove its file."""
    conn.execute("DELETE FROM account WHERE name = ?", (f"agent:{session}",))
    path.unlink(missing_ok=True)


def last_line(path: Path) -> str:
    """The last line of a log file that says something; empty when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_TAIL))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:500] for line in reversed(lines) if line.strip()), "")


def _fail(conn: Database, session: str, fact: SessionStateChanged) -> None:
    if log.row(conn, session).state not in FINAL_STATES:
        write(conn, session, fact, SERVER)
