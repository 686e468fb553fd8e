"""Finds words in a server's log, as a process of its own: whatever is asked, the server stays free.

    python -m core.server.search_worker LOG INDEX

It answers SearchLog, one after the other, until stdin ends. A thread brings the index up to date
as soon as something is asked, and goes on after the answer: a long log never keeps a question waiting.
"""

import argparse
import logging
import os
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic

import msgspec

from core.domain.errors import ReportableError, Unavailable
from core.store.search import SearchIndex
from core.store.sqlite import driver
from core.workers.search import LogHits, SearchLog
from core.workers.serve import Send, answer_line, serve

CATCH_UP_S = 1.0
"""How long a question waits for the index to catch up with the log."""

SEARCH_S = 5.0
"""How long looking into the index may take."""

SCAN_S = 2.0
"""How long all texts are looked at, the newest first, for words that no word begins with."""

MAX_REF = 200
"""Characters of a hit's reference: foreign logs name their calls as they like."""

_log = logging.getLogger("wire")
_DECODER = msgspec.json.Decoder(SearchLog)


class Updater:
    """Keeps the index up to date in a thread of its own, as long as somebody asks."""

    def __init__(self, index: SearchIndex, log_path: Path) -> None:
        self._index, self._log_path = index, log_path
        self._asked = self._done = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """False after a defect: then nothing is brought up to date any more."""
        return self._thread.is_alive()

    def catch_up(self, seconds: float) -> None:
        """Bring the index up to date, and wait for that at most so long."""
        with self._changed:
            self._asked += 1
            mine = self._asked
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._done >= mine, seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked > self._done)
                aim = self._asked
            try:
                self._index.update(self._log_path)
            except (ReportableError, driver.Error) as error:  # the disk is full, say: what is indexed can be searched
                _log.warning("the search index cannot be brought up to date: %s", error)
            with self._changed:
                self._done = aim
                self._changed.notify_all()


def find(index: SearchIndex, log_path: Path, request: SearchLog) -> LogHits:
    """Where the words stand; words of one or two signs, and parts of words, by looking at everything.

    Raises ReportableError, Unavailable (search_failed) where the index cannot be read.
    """
    most, is_cut = request.limit + 1, False
    try:
        found = index.search(request.words, request.session, most, SEARCH_S)
        if not found:
            begun = monotonic()
            found = index.scan(request.words, request.session, most, SCAN_S)
            is_cut = monotonic() - begun >= SCAN_S
        behind = index.behind(log_path)
    except driver.Error as error:
        raise Unavailable("search_failed", f"The search failed: {error}") from error
    hits = tuple(msgspec.structs.replace(hit, ref=hit.ref[:MAX_REF]) for hit in found[: request.limit])
    return LogHits(hits=hits, more=is_cut or len(found) > request.limit, behind=behind)


def _answer(send: Send, index: SearchIndex, updater: Updater, log_path: Path, line: bytes) -> None:
    def handle(request: SearchLog) -> LogHits:
        updater.catch_up(CATCH_UP_S)
        return find(index, log_path, request)

    answer_line(line, _DECODER, handle, send)
    if not updater.is_alive:
        sys.exit(1)


def main(argv: list[str] | None = None) -> int:
    """Answer until stdin ends; a broken updater ends the process, so that a new one is started."""
    parser = argparse.ArgumentParser(prog="python -m core.server.search_worker", description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("index", type=Path)
    args = parser.parse_args(argv)
    if hasattr(os, "nice"):
        os.nice(5)  # the log comes first
    with closing(SearchIndex(args.index)) as index:
        updater = Updater(index, args.log)
        serve(lambda send: partial(_answer, send, index, updater, args.log))
        os._exit(0)  # an index that is being brought up to date is left as its last commit has it


if __name__ == "__main__":
    sys.exit(main())
