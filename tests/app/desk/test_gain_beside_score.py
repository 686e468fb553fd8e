"""The gain over the best known solution stands beside the score, where a task knows one."""

from __future__ import annotations

from datetime import UTC, datetime

from app.desk.row_text import row_text
from core.domain.events import Placed, ScoreGiven, SessionCreated, encode_event, make_event
from core.domain.task import Task
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author


def scored(**values: float) -> Trajectory:
    task = Task(id="t", title="T", description="d", **values)
    facts = [SessionCreated(task=task), ScoreGiven(ordinal=1, step=1, total=100.0, metric=0.25, message="Fine.")]
    author, at = Author(kind="agent", name="a"), datetime(2026, 1, 1, tzinfo=UTC)
    return fold("s", [Placed(session="s", seq=n, body=encode_event(make_event(fact, author, at=at)))
                      for n, fact in enumerate(facts, 1)])


def title(trajectory: Trajectory) -> str:
    at = next(n for n in range(len(trajectory.items)) if trajectory.items[n].kind == "score")
    return row_text(trajectory, "item", at, at).title


def test_a_score_shows_its_gain(qapp: object) -> None:
    known = scored(baseline=1.0, best_known=0.3)
    assert title(known) == "100.0 · gain +0.05 (+16.7 %) · Fine."
    assert title(scored()) == "100.0 · Fine."
