"""What an export reads: the log, in a file of the store (the server's or a replica), read-only."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.domain.message import Message, decode_message
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.llm.model import ToolSpec
from core.store import blobs, log
from core.store.sqlite import connect

_TOOLS = msgspec.json.Decoder(tuple[ToolSpec, ...])


class LogSource:
    """A log file open for reading. Raises NotFound where there is none, Unavailable where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._conn = connect(path, readonly=True)
        self.message = lru_cache(maxsize=4096)(self._message)

    def close(self) -> None:
        """Let go of the file."""
        self._conn.close()

    def trajectory(self, session: str) -> Trajectory:
        """A session as its log tells it now, in place of the one read before. Raises NotFound for an unknown or empty
        one."""
        self.message.cache_clear()
        trajectory = fold(session, log.read_all(self._conn, session))
        if trajectory.created is None:
            raise NotFound("no_session", f"There is no session {session}.", session=session)
        return trajectory

    def task(self, session: str) -> str:
        """The task of a session, its own name where it has none. Raises NotFound."""
        return log.row(self._conn, session).task or session

    def _message(self, name: str) -> Message:
        """The message of a hash. Raises NotFound where it is not held, InvalidInput where it is no message."""
        return decode_message(blobs.get(self._conn, name))

    def body(self, name: str) -> StepBody | None:
        """The body of a hash, or None where it is not held or unreadable."""
        try:
            return decode_body(blobs.get(self._conn, name))
        except (NotFound, InvalidInput):
            return None

    def tools(self, name: str) -> tuple[ToolSpec, ...]:
        """The tools given beside a context, of their hash; "" is none. Raises NotFound, InvalidInput."""
        try:
            return _TOOLS.decode(blobs.get(self._conn, name)) if name else ()
        except (ValueError, RecursionError) as error:
            raise InvalidInput("bad_tools", f"The payload {name[:12]} is no list of tools: {error}") from error
