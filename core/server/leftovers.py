"""What a session leaves running (containers, unconfined daemons) ends when the session is over and its runner gone.

A runner ends its own sandboxes; this is for those that died. Files stay, as a session that is over may be resumed.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core.domain.errors import NotFound, Unavailable
from core.domain.session import FINAL_STATES
from core.sandbox.local import LocalSandbox
from core.server.hub import Hub
from core.server.lookups import runner_lock
from core.server.pool_file import engines_of
from core.store import log
from core.store.home import Home
from core.store.lock import FileLock

_log = logging.getLogger("sandbox")

LOOK_S = 5.0
"""How long after the end of a session, at most, what it left is ended."""

PATIENCE_S = 60.0
"""An engine that cannot be asked is asked again after so long."""


class Leftovers:
    """Looks after every session once at the start, and then after those of which something was heard."""

    def __init__(self, hub: Hub, home: Home) -> None:
        self._hub, self._home = hub, home
        self._suspects = {row.session for row in log.rows(hub.reader)}
        hub.on_changed.append(self._on_changed)

    async def run(self) -> None:
        """Look until cancelled."""
        problem = ""
        while True:
            try:
                await self.end()
                problem = ""
                await asyncio.sleep(LOOK_S)
            except (Unavailable, OSError) as error:  # no engine; a full disk takes no lock
                if str(error) != problem:
                    _log.info("what ended sessions left stays for now: %s", error)
                problem = str(error)
                await asyncio.sleep(PATIENCE_S)

    async def end(self) -> None:
        """End what is left of the sessions that are over. Raises Unavailable where the engine cannot be asked."""
        suspects, self._suspects = self._suspects, set()
        over = [name for name in suspects if self._is_over(name)]
        try:
            ended = await self._end_local(over)
            ended += await self._end_containers(over)
        except (Unavailable, OSError):
            self._suspects.update(over)
            raise
        if ended:
            _log.info("ended what sessions that are over had left: %s", ", ".join(ended))

    def _on_changed(self, session: str) -> None:
        self._suspects.add(session)

    def _is_over(self, session: str) -> bool:
        try:
            row = log.row(self._hub.reader, session)
        except NotFound:
            return False
        return row.origin == "live" and row.state in FINAL_STATES and (self._home.sessions / session).is_dir()

    @contextmanager
    def _without_runners(self, sessions: Sequence[str]) -> Iterator[list[str]]:
        """Those that no runner holds; none can come while it lasts. A runner that still ends is asked for again."""
        locks = {session: FileLock(runner_lock(self._home, session)) for session in sessions}
        free = [session for session, lock in locks.items() if lock.take()]
        self._suspects.update(set(sessions) - set(free))
        try:
            yield free
        finally:
            for lock in locks.values():
                lock.release()

    async def _end_local(self, over: Sequence[str]) -> list[str]:
        left = {session: LocalSandbox.left_in(session, self._home.sessions / session) for session in over}
        with self._without_runners([session for session, found in left.items() if found]) as free:
            return [f"{session}/{sandbox.host.name}" for session in free for sandbox in left[session]
                    if await sandbox.end()]

    async def _end_containers(self, over: Sequence[str]) -> list[str]:
        if not over:
            return []
        from core.sandbox import reaper  # the engine's library takes a while to load

        home, engines = str(self._home.path), engines_of(self._home)
        with self._without_runners(await reaper.unfinished(home, over, engines)) as free:
            return await reaper.stop(home, free, engines) if free else []
