"""Finds text in everything that a log holds, as a process of its own: the window stays free whatever is searched.

    python -m app.search_worker --copy SERVER LOG INDEX …

JSON lines; a session is named by its key (`app.session_key`), whose server says which of the copies holds it.
{"id", "do": "find", "session", "words", "regex", "from"} looks through one session, beginning at step `from`, and
answers as it goes: {"id", "hits": [[kind, ref, match]], "searched", "total", "missing": [hash], "done"}.
{"id", "do": "search", "words", "limit"} asks the indexes of all copies, which are brought up to date first. A newer
request ends the one at work. {"ready"} comes first. A regular expression may take for ever: then the process is killed.
"""

from __future__ import annotations

import argparse
import queue
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from app.models.finding import text_of_body, text_of_item
from app.session_key import id_of, key_of, server_of
from core.domain.errors import NotFound, ReportableError
from core.domain.step import decode_body
from core.domain.trajectory import Item, Trajectory
from core.store import blobs, log
from core.store.search import SearchIndex
from core.store.sqlite import Connection, connect

TELL_S = 0.08
"""Hits are told at most this often."""

KEPT_CHARS = 128_000_000
"""Characters of bodies that stay in memory between two searches."""


MAX_MATCH = 200
"""Characters of a match that are told."""


class Request(msgspec.Struct, frozen=True):
    """One line of stdin."""

    id: int
    do: str
    words: str = ""
    regex: bool = False
    session: str = ""
    start: int = msgspec.field(name="from", default=0)
    limit: int = 200


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
        while self._chars > KEPT_CHARS and len(self._held) > 1:
            self._chars -= len(self._held.popitem(last=False)[1])
        return text


class Copy:
    """One server's sessions as they lie on this computer."""

    def __init__(self, server: str, log_path: Path, index: Path) -> None:
        self.server, self._log, self._index = server, log_path, index
        self.conn = connect(log_path, readonly=True)
        self.texts = Texts(self.conn)

    def search(self, words: str, limit: int) -> list[dict[str, Any]]:
        """Where words stand in all sessions, newest first; words of one or two signs by looking at everything."""
        with closing(SearchIndex(self._index)) as index:
            index.update(self._log)
            found = index.search(words, limit=limit) or index.scan(words, limit=limit)
        return [{**msgspec.structs.asdict(hit), "session": key_of(hit.session, self.server)} for hit in found]


class Searcher:
    """Answers requests over some copies; a newer one in `waiting` ends the one at work."""

    def __init__(self, copies: Sequence[Copy], waiting: queue.SimpleQueue[Request | None]) -> None:
        self._copies = {copy.server: copy for copy in copies}
        self._waiting = waiting
        self._trajectory = Trajectory("")

    def answer(self, request: Request) -> Iterator[dict[str, Any]]:
        """The answers to one request, as they come."""
        if request.do == "find":
            yield from self._find(request)
        else:
            found = [hit for copy in self._copies.values() for hit in copy.search(request.words, request.limit)]
            yield {"hits": found[:request.limit], "done": True}

    def _find(self, request: Request) -> Iterator[dict[str, Any]]:
        pattern = re.compile(request.words if request.regex else re.escape(request.words), re.IGNORECASE | re.MULTILINE)
        copy = self._copies.get(server_of(request.session))
        if copy is None:
            yield {"hits": [], "searched": 0, "total": 0, "missing": [], "done": True}
            return
        trajectory = self._fold(copy, request.session)
        items = trajectory.items
        first = next((i for i, item in enumerate(items) if _number(trajectory, item) >= request.start), 0)
        hits: list[list[object]] = []
        missing: list[str] = []
        told = monotonic()
        for count, at in enumerate((*range(first, len(items)), *range(first)), 1):
            item = items[at]
            found = self._match(copy, trajectory, item, pattern, missing)
            if found is not None:
                hits.append([item.kind, _number(trajectory, item) if item.kind == "step" else item.ref, found])
            if monotonic() - told > TELL_S:
                if not self._waiting.empty():
                    return
                yield {"hits": hits, "searched": count, "total": len(items), "missing": missing, "done": False}
                hits, missing, told = [], [], monotonic()
        yield {"hits": hits, "searched": len(items), "total": len(items), "missing": missing, "done": True}

    def _match(self, copy: Copy, trajectory: Trajectory, item: Item, pattern: re.Pattern[str], missing: list[str]
               ) -> str | None:
        """The first match in an item (a line of it at most); None where there is none."""
        match = pattern.search(text_of_item(trajectory, item))
        if item.kind == "step":
            hash = trajectory.steps[int(item.ref)].body
            text = copy.texts.of(hash)
            if text is None:
                missing.append(hash)
            else:
                match = pattern.search(text) or match
        return match.group().partition("\n")[0][:MAX_MATCH] if match else None

    def _fold(self, copy: Copy, session: str) -> Trajectory:
        held = self._trajectory
        try:
            stale = held.session != session or held.seq > log.head(copy.conn, id_of(session))
        except NotFound:
            return Trajectory(session)
        if stale:
            held = self._trajectory = Trajectory(session)
        while placed := log.read(copy.conn, id_of(session), held.seq):
            for one in placed:
                held.apply(one)
        return held


def _number(trajectory: Trajectory, item: Item) -> int:
    return trajectory.steps[int(item.ref)].head.number if item.kind == "step" else 0


def _read(waiting: queue.SimpleQueue[Request | None]) -> None:
    for line in sys.stdin.buffer:
        waiting.put(msgspec.json.decode(line, type=Request))
    waiting.put(None)


def main(argv: list[str] | None = None) -> int:
    """Answer until stdin ends."""
    parser = argparse.ArgumentParser(prog="python -m app.search_worker", description=__doc__)
    parser.add_argument("--copy", nargs=3, action="append", required=True, metavar=("SERVER", "LOG", "INDEX"))
    told = parser.parse_args(argv)
    waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(waiting,), daemon=True).start()
    searcher = Searcher([Copy(server, Path(log_path), Path(index)) for server, log_path, index in told.copy], waiting)
    _write({"ready": True})
    while (request := waiting.get()) is not None:
        if not waiting.empty():
            continue  # a newer one is there already
        try:
            for answer in searcher.answer(request):
                _write({"id": request.id, **answer})
        except ReportableError as error:
            _write({"id": request.id, "error": error.sentence, "done": True})
        except re.error as error:
            _write({"id": request.id, "error": str(error), "done": True})
    return 0


def _write(told: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
