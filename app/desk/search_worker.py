"""Finds text in everything that a log holds, as a process of its own: the window stays free whatever is searched.

    python -m app.desk.search_worker --copy SERVER LOG INDEX …

JSON lines; a session is named by its key (`app.desk.session_key`), whose server says which of the copies holds it.
{"id", "do": "find", "session", "words", "regex", "from"} looks through one session, beginning at step `from`, and
answers as it goes: {"id", "items": [place in the list], "matches": [first match of an expression, for each item],
"searched", "total", "missing": [hash], "done"}.
{"id", "do": "search", "words", "limit"} asks the indexes of all copies, which are brought up to date first. A newer
request ends the one at work. {"ready"} comes first. A regular expression may take for ever: then the process is killed.
"""

from __future__ import annotations

import argparse
import queue
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from app.desk.find_in_session import SessionFinder
from app.desk.session_key import id_of, key_of, server_of
from core.domain.errors import ReportableError
from core.store.search import SearchIndex
from core.store.sqlite import connect


class Request(msgspec.Struct, frozen=True):
    """One line of stdin."""

    id: int
    do: str
    words: str = ""
    regex: bool = False
    session: str = ""
    start: int = msgspec.field(name="from", default=0)
    limit: int = 200


class Copy:
    """One server's sessions as they lie on this computer."""

    def __init__(self, server: str, log_path: Path, index: Path) -> None:
        self.server, self._log, self._index = server, log_path, index
        self.finder = SessionFinder(connect(log_path, readonly=True), log_path, index)

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

    def answer(self, request: Request) -> Iterator[dict[str, Any]]:
        """The answers to one request, as they come."""
        if request.do == "find":
            yield from self._find(request)
        else:
            found = [hit for copy in self._copies.values() for hit in copy.search(request.words, request.limit)]
            yield {"hits": found[:request.limit], "done": True}

    def _find(self, request: Request) -> Iterator[dict[str, Any]]:
        copy = self._copies.get(server_of(request.session))
        if copy is None:
            yield {"items": [], "searched": 0, "total": 0, "done": True}
            return
        yield from copy.finder.find(id_of(request.session), request.words, request.regex, request.start,
                                    lambda: not self._waiting.empty())


def _read(waiting: queue.SimpleQueue[Request | None]) -> None:
    for line in sys.stdin.buffer:
        waiting.put(msgspec.json.decode(line, type=Request))
    waiting.put(None)


def main(argv: list[str] | None = None) -> int:
    """Answer until stdin ends."""
    parser = argparse.ArgumentParser(prog="python -m app.desk.search_worker", description=__doc__)
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
