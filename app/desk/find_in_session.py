"""Looks through one session for words or an expression: first what the index knows, then every text. No Qt."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic

import msgspec

from app.desk.find_query import text_of_body, text_of_item
from app.desk.session_key import id_of
from core.domain.errors import NotFound, ReportableError
from core.domain.step import decode_body
from core.domain.trajectory import Trajectory
from core.store import blobs, log
from core.store.folds import FoldStore
from core.store.search import SearchIndex
from core.store.search_text import pieces
from core.store.sqlite import Connection, driver
from core.workers.search import FindInSession, ItemsFound

REPORT_S = 0.08
"""Hits are reported at most this often."""

LOOK_EVERY = 16
"""After so many items it is looked whether anybody waits any more."""

HELD_CHARS = 128_000_000
"""Characters of bodies that stay in memory between two searches."""

MAX_MATCH = 200
"""Characters of a match that are told."""

INDEXED_FROM = 500
"""Sessions of so many items are indexed when they are searched; shorter ones are read in no time."""


class Texts:
    """The texts of bodies, kept between two searches."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._held: OrderedDict[str, str] = OrderedDict()
        self._chars = 0

    def of(self, hash: str) -> str | None:
        """All that a body says; None where it is not held here."""
        held = self._held.get(hash)
        if held is not None:
            self._held.move_to_end(hash)
            return held
        try:
            text = text_of_body(decode_body(blobs.get(self._conn, hash)))
        except NotFound:
            return None
        except (ReportableError, msgspec.MsgspecError, RecursionError):
            text = ""  # damaged: nothing can be found in it
        self._held[hash] = text
        self._chars += len(text)
        while self._chars > HELD_CHARS and len(self._held) > 1:
            self._chars -= len(self._held.popitem(last=False)[1])
        return text


class SessionFinder:
    """Finds in the sessions of one log."""

    def __init__(self, conn: Connection, log_path: Path, index: Path) -> None:
        self._conn, self._log, self._index_path = conn, log_path, index
        self._texts = Texts(conn)
        self._trajectory = Trajectory("")
        self._index: SearchIndex | None = None
        self._indexing: threading.Thread | None = None

    def find(self, request: FindInSession, report: Callable[[ItemsFound], None], left: Callable[[], bool]
             ) -> ItemsFound:
        """What is found: parts of it go to `report` while it is looked for, the last one is returned.

        Reading stops when `left()` says that nobody waits any more. Raises re.error.
        """
        words, regex = request.words, request.regex
        pattern = re.compile(words if regex else re.escape(words), re.IGNORECASE | re.MULTILINE)
        trajectory = self._fold(id_of(request.session))
        indexed = [] if regex or request.reader else sorted(self._from_index(trajectory, words))
        if indexed:
            report(ItemsFound(items=indexed, searched=0, total=len(trajectory.items)))
        last = self._read_all(trajectory, pattern, request, frozenset(indexed), report, left)
        self._update_index(trajectory)
        return last

    def _read_all(self, trajectory: Trajectory, pattern: re.Pattern[str], request: FindInSession,
                  indexed: frozenset[int], report: Callable[[ItemsFound], None], left: Callable[[], bool]
                  ) -> ItemsFound:
        total = len(trajectory.items)
        at = trajectory.index_of(request.start)
        first = trajectory.items.of_step(at) if at is not None else 0
        part = ItemsFound(items=[], matches=[], missing=[], searched=0, total=total)
        reported_at = monotonic()
        for count, item in enumerate((*range(first, total), *range(first)), 1):
            match = None if item in indexed else self._match(trajectory, item, pattern, request.reader, part.missing)
            if match is not None:
                part.items.append(item)
                part.matches.extend([match] if request.regex else [])
            if count % LOOK_EVERY == 0 and left():
                break
            if monotonic() - reported_at > REPORT_S:
                report(msgspec.structs.replace(part, searched=count))
                part, reported_at = ItemsFound(items=[], matches=[], missing=[], searched=0, total=total), monotonic()
        return msgspec.structs.replace(part, searched=total)

    def _match(self, trajectory: Trajectory, item: int, pattern: re.Pattern[str], reader: str,
               missing: list[str]) -> str | None:
        """The first match in an item (a line of it at most); None where there is none."""
        match = pattern.search(text_of_item(trajectory, trajectory.items[item], reader))
        step = trajectory.items.step_at(item)
        if step >= 0:
            hash = trajectory.steps[step].body
            text = self._texts.of(hash)
            if text is None:
                missing.append(hash)
            else:
                match = pattern.search(text) or match
        return match.group().partition("\n")[0][:MAX_MATCH] if match else None

    # ---- the index -------------------------------------------------------------------------------

    def _from_index(self, trajectory: Trajectory, words: str) -> set[int]:
        """The items where one word, or the beginning of one, stands; for anything else every text is read."""
        phrases = pieces(words)
        if len(phrases) != 1 or "".join(phrases[0]) != words.strip() or not self._index_path.exists():
            return set()
        try:
            self._index = self._index or SearchIndex(self._index_path)
            places = self._index.places(words, trajectory.session)
        except (sqlite3.Error, driver.Error, ReportableError):
            return set()
        items = trajectory.items
        found = {items.of_other(where, ref) for where, ref in places.others}
        found.update(items.of_steps(trajectory.steps.indices_of(places.steps)))
        return found - {-1}

    def _update_index(self, trajectory: Trajectory) -> None:
        """Bring the index up to date beside the next questions; a process that is killed meanwhile loses nothing."""
        busy = self._indexing is not None and self._indexing.is_alive()
        if len(trajectory.items) >= INDEXED_FROM and not busy:
            self._indexing = threading.Thread(target=self._update, daemon=True, name="index")
            self._indexing.start()

    def _update(self) -> None:
        with closing(SearchIndex(self._index_path)) as index:
            index.update(self._log)

    # ---- the session -----------------------------------------------------------------------------

    def _fold(self, session: str) -> Trajectory:
        held = self._trajectory
        try:
            stale = held.session != session or held.seq > log.head(self._conn, session)
        except NotFound:
            return Trajectory(session)
        if stale:
            read = partial(log.bodies, self._conn, session)
            stored = FoldStore(self._log).load(session, read)
            held = self._trajectory = stored if stored is not None else Trajectory(session, read)
        while placed := log.read(self._conn, session, held.seq):
            for one in placed:
                held.apply(one)
        return held
