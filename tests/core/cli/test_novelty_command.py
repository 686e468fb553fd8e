"""`tiphys tasks novelty` on a session of a shipped task, with a judge behind a real endpoint; the gain in `show`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.logs import fill
from support.served_model import Reader, served

from core.domain.blob import blob_hash
from core.domain.events import ScoreGiven, SessionCreated, SubmissionMade, encode_event, make_event
from core.domain.verdict import Author
from core.store.schema import open_log
from core.store.sqlite import transaction
from core.supervision.novelty import DIMENSIONS
from core.tasks.catalogue import Catalogue
from core.tasks.submission import pack


class Reviewer(Reader):
    """Puts every solution into the same words, and finds each pair to differ by one on every dimension."""

    name = "reviewer"

    def answer(self) -> str:
        is_pair = "<first>" in self.shown[-1]
        return json.dumps(dict.fromkeys(DIMENSIONS, 1)) if is_pair else "## Summary\nA method."


@pytest.fixture
def endpoint() -> Iterator[tuple[Reviewer, str]]:
    model = Reviewer()
    with served(model) as url:
        yield model, url


def scored(home: Path, session: str, total: float) -> None:
    """A session of tune-training that handed in settings of its own."""
    blob = pack({"config.json": b'{"learning_rate": 0.02}', "weights.bin": b"\0\1"})
    facts = [SessionCreated(task=Catalogue.of().find("tune-training").task),
             SubmissionMade(ordinal=1, step=1, blob=blob_hash(blob)),
             ScoreGiven(ordinal=1, step=1, total=total, metric=0.2)]
    author = Author(kind="agent", name="a")
    home.mkdir(exist_ok=True)
    with contextlib.closing(open_log(home / "server.db")) as conn, transaction(conn):
        fill(conn, session, [encode_event(make_event(fact, author)) for fact in facts], {blob_hash(blob): blob})


def test_a_judge_rates_how_new_a_session_is_and_show_tells_the_gain(tiphys, home: Path, endpoint) -> None:
    model, url = endpoint
    scored(home, "s1", 100.0)
    ran = tiphys("tasks", "novelty", "s1", "--model", "reviewer", "--base-url", url, "--answers", "2", "--json")
    assert ran.status == 0, ran.err
    found = ran.one
    assert (found["task"], found["novelty"], found["nearest"], found["within_one"]) == (
        "tune-training", 25.0, "solution", 1.0)
    assert len(model.shown) == 4 and "learning_rate" in model.shown[0] and "weights.bin" not in model.shown[0]
    assert "N 25.0 of 100, nearest to solution" in tiphys(
        "tasks", "novelty", "s1", "--model", "reviewer", "--base-url", url).out
    assert " beyond the best known" in tiphys("show", "s1").out
    (score,) = tiphys("show", "s1", "--json").one["scores"]
    assert score["metric"] == 0.2 and score["gain"] == pytest.approx(0.1046, abs=1e-3) and score["gain_ratio"] > 0.3


def test_what_does_not_work_is_not_new(tiphys, home: Path) -> None:
    scored(home, "s1", 0.0)
    ran = tiphys("tasks", "novelty", "s1", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert ran.status != 0 and "[no_solution]" in ran.err


def test_tasks_are_listed_with_domain_and_difficulty_and_a_check_of_none_says_so(tiphys) -> None:
    lines = {line["task"]: line for line in tiphys("tasks", "--json").lines}
    assert (lines["speed-up"]["domain"], lines["speed-up"]["difficulty"]) == ("performance", "medium")
    ran = tiphys("tasks", "check", "nowhere")
    assert ran.status != 0 and "[no_task]" in ran.err
