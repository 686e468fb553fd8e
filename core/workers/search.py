"""What the search workers of a desktop and of a server are asked and answer."""

from __future__ import annotations

import msgspec

from core.domain.hit import Hit
from core.workers.messages import WorkerRequest


class LogHits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Places in a log, or in several, newest first; `more` were found, and so many events are not indexed yet."""

    hits: tuple[Hit, ...] = ()
    more: bool = False
    behind: int = 0


class ItemsFound(msgspec.Struct, frozen=True, kw_only=True):
    """Items of a trajectory's list; `matches` has the first match of an expression for each, `missing` the hashes of
    bodies that are not here. `searched` of `total` items were looked at."""

    items: list[int]
    matches: list[str] = []
    missing: list[str] = []
    searched: int
    total: int


class FindInSession(WorkerRequest[ItemsFound], frozen=True, tag="find"):
    """Words, or a regular expression, in one session, from step `start` on and round the end. Answered in parts. A
    blind `reader` (an author's key) finds nothing of what others think of a step."""

    session: str
    words: str
    regex: bool = False
    start: int = 0
    reader: str = ""


class SearchCopies(WorkerRequest[LogHits], frozen=True, tag="search"):
    """Words in all sessions on this computer; each hit's session is a key that names its server."""

    words: str
    limit: int


class SearchLog(WorkerRequest[LogHits], frozen=True, tag="log"):
    """Words in a server's log; no `session` means all."""

    words: str
    session: str | None
    limit: int


CopyRequest = FindInSession | SearchCopies
