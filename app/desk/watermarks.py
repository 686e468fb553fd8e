"""What the reader has seen of each session: a watermark per session, in one small file of the home folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.store.home import read_small, write_private


class Watermarks:
    """How many steps of a session were there when it was last looked at."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._steps: dict[str, int] = read_small(path, dict[str, int], {})
        self._stored = dict(self._steps)
        self._arrived: tuple[str, int | None] = ("", None)

    def arrive(self, session: str) -> None:
        """The reader comes to a session: what was seen of it until now is remembered for the visit."""
        if session != self._arrived[0]:
            self._arrived = (session, self._steps.get(session))

    def at_arrival(self, session: str) -> int | None:
        """The steps that were seen when the reader came; None for the first visit."""
        return self._arrived[1] if session == self._arrived[0] else self._steps.get(session)

    def steps(self, session: str) -> int | None:
        """The steps seen; None for a session that was never opened."""
        return self._steps.get(session)

    def mark(self, session: str, steps: int) -> bool:
        """The reader sees so many steps now; whether that is news."""
        if self._steps.get(session) == steps:
            return False
        self._steps[session] = steps
        return True

    def store(self) -> None:
        """Write the file if anything changed."""
        if self._steps != self._stored:
            write_private(self._path, msgspec.json.encode(self._steps))
            self._stored = dict(self._steps)
