"""Finds text in everything that a log holds, as a process of its own: the window stays free whatever is searched.

    python -m app.desk.search_worker --copy SERVER LOG INDEX …

It answers the requests of `core.workers.search`; a session is named by its key (`app.desk.session_key`), whose server
says which of the copies holds it. A newer request ends the one at work. A first line, which answers nothing, says that
the process is up. A regular expression may take for ever: then the process is killed.
"""

from __future__ import annotations

import argparse
import queue
import re
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from app.desk.find_in_session import SessionFinder
from app.desk.session_key import key_of, server_of
from core.domain.errors import InvalidInput
from core.domain.hit import Hit
from core.store.search import SearchIndex
from core.store.sqlite import connect
from core.workers.messages import WorkerAnswer, answer_to
from core.workers.search import CopyRequest, FindInSession, ItemsFound, LogHits, SearchCopies
from core.workers.serve import Send, answer_line, serve

_DECODER = msgspec.json.Decoder[FindInSession | SearchCopies](CopyRequest)


class Copy:
    """One server's sessions as they lie on this computer."""

    def __init__(self, server: str, log_path: Path, index: Path) -> None:
        self.server, self._log, self._index = server, log_path, index
        self.finder = SessionFinder(connect(log_path, readonly=True), log_path, index)

    def search(self, words: str, limit: int) -> list[Hit]:
        """Where words stand in all sessions, newest first; words of one or two signs by looking at everything."""
        with closing(SearchIndex(self._index)) as index:
            index.update(self._log)
            found = index.search(words, limit=limit) or index.scan(words, limit=limit)
        return [msgspec.structs.replace(hit, session=key_of(hit.session, self.server)) for hit in found]


class CopySearch:
    """Answers requests over some copies; a newer line in `waiting` ends the one at work."""

    def __init__(self, copies: Sequence[Copy], waiting: queue.SimpleQueue[bytes | None], send: Send) -> None:
        self._copies = {copy.server: copy for copy in copies}
        self._waiting, self._send = waiting, send
        send(WorkerAnswer(id=None))

    def answer(self, line: bytes) -> None:
        """Answer one line, unless a newer one is there already."""
        if self._waiting.empty():
            answer_line(line, _DECODER, self._handle, self._send)

    def _handle(self, request: CopyRequest) -> LogHits | ItemsFound:
        if isinstance(request, SearchCopies):
            hits = [hit for copy in self._copies.values() for hit in copy.search(request.words, request.limit)]
            return LogHits(hits=tuple(hits[: request.limit]))
        copy = self._copies.get(server_of(request.session))
        if copy is None:
            return ItemsFound(items=[], searched=0, total=0)
        try:
            return copy.finder.find(request, lambda part: self._send(answer_to(request, part, more=True)),
                                    lambda: not self._waiting.empty())
        except re.error as error:
            raise InvalidInput("bad_expression", str(error)) from error


def _read(waiting: queue.SimpleQueue[bytes | None]) -> None:
    for line in sys.stdin.buffer:
        waiting.put(line)
    waiting.put(None)


def main(argv: list[str] | None = None) -> int:
    """Answer until stdin ends."""
    parser = argparse.ArgumentParser(prog="python -m app.desk.search_worker", description=__doc__)
    parser.add_argument("--copy", nargs=3, action="append", required=True, metavar=("SERVER", "LOG", "INDEX"))
    args = parser.parse_args(argv)
    copies = [Copy(server, Path(log_path), Path(index)) for server, log_path, index in args.copy]
    waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(waiting,), daemon=True).start()
    return serve(lambda send: CopySearch(copies, waiting, send).answer, iter(waiting.get, None))


if __name__ == "__main__":
    sys.exit(main())
