"""The server's search worker: what is not indexed yet is counted, and never keeps a question waiting."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from support.logs import Maker, fill

from core.domain.errors import LimitReached
from core.domain.step import Action, Observation, Output, StepBody
from core.server import search_worker
from core.server.search_worker import Updater, find
from core.store import log
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import connect, transaction
from core.workers.search import LogHits, SearchLog

WALRUS = SearchLog(words="walrus", session=None, limit=5)


def put(path: Path, count: int) -> None:
    maker = Maker(1)
    for number in range(count):
        maker.guide(f"walrus {number}")
    with closing(open_log(path)) as conn, transaction(conn):
        fill(conn, "s", maker.bodies, maker.blobs)


def test_an_index_that_is_behind_says_how_far_and_catches_up_later(tmp_path: Path) -> None:
    put(tmp_path / "log.db", 20)
    with closing(connect(tmp_path / "log.db", readonly=True)) as conn:
        head = log.head(conn, "s")
    with closing(SearchIndex(tmp_path / "search.db")) as index, closing(connect(tmp_path / "search.db")) as other:
        updater = Updater(index, tmp_path / "log.db")
        with transaction(other):  # somebody else writes the index: the update has to wait
            updater.catch_up(0.05)
            assert find(index, tmp_path / "log.db", WALRUS) == LogHits(behind=head)
        updater.catch_up(30)
        found = find(index, tmp_path / "log.db", WALRUS)
        assert not found.behind and len(found.hits) == 5 and found.more
        assert updater.is_alive


def test_references_of_foreign_logs_are_cut(tmp_path: Path) -> None:
    maker = Maker(1)
    maker.step = 1
    action = Action(call_id="x" * 5_000, tool="t")
    observation = Observation(call_id="x" * 5_000, output=Output(text="walrus"))
    maker.say(maker._step_fact(StepBody(number=1, actions=(action,), observations=(observation,))))
    with closing(open_log(tmp_path / "log.db")) as conn, transaction(conn):
        fill(conn, "s", maker.bodies, maker.blobs)
    with closing(SearchIndex(tmp_path / "search.db")) as index:
        index.update(tmp_path / "log.db")
        hits = find(index, tmp_path / "log.db", WALRUS).hits
        assert hits and all(len(h.ref) <= search_worker.MAX_REF for h in hits)


def test_looking_into_the_index_ends_when_its_time_is_over(tmp_path: Path) -> None:
    put(tmp_path / "log.db", 3000)
    with closing(SearchIndex(tmp_path / "search.db")) as index:
        index.update(tmp_path / "log.db")
        with pytest.raises(LimitReached) as late:
            index.search("walrus", limit=5000, seconds=-1.0)
        assert late.value.code == "search_too_long"
        assert len(index.search("walrus", limit=5000)) == 3000, "the next one has its own time"


def test_looking_at_all_texts_ends_with_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "log.db", 30)
    with closing(SearchIndex(tmp_path / "search.db")) as index:
        index.update(tmp_path / "log.db")
        request = SearchLog(words="alru", session=None, limit=100)
        assert len(find(index, tmp_path / "log.db", request).hits) == 30
        monkeypatch.setattr(search_worker, "SCAN_S", 0.0)
        found = find(index, tmp_path / "log.db", request)
        assert len(found.hits) == 1 and found.more, "the newest, and that there may be more"
