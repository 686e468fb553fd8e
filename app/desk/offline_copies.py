"""Which sessions are whole on this computer, and up to which event: one small file of the home folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.store.home import read_small, write_private


class OfflineCopies:
    """Sessions by key, each with the seq up to which everything is here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seq: dict[str, int] = read_small(path, dict[str, int], {})

    def add(self, session: str, seq: int) -> None:
        """All up to that event is here."""
        self._seq[session] = seq
        write_private(self._path, msgspec.json.encode(self._seq))

    def forget(self, session: str) -> None:
        """Not all of it is here any more."""
        if self._seq.pop(session, None) is not None:
            write_private(self._path, msgspec.json.encode(self._seq))

    def is_whole(self, session: str, seq: int) -> bool:
        """Whether a session that has come to `seq` is here whole."""
        return seq > 0 and self._seq.get(session, 0) >= seq
