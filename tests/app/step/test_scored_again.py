"""A score that an evaluator gave later stands beside the one that was given, in the list and in the Step panel."""

from __future__ import annotations

from app.desk.row_text import row_text
from app.step.aside import score_text
from app.trajectory.row_texts import ChangedItems
from core.domain.events import Fact, Placed, ScoreGiven, SubmissionMade, SubmissionRescored, encode_event, make_event
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author

AUTHOR = Author(kind="agent", name="a")
HELD: tuple[Fact, ...] = (SubmissionMade(ordinal=1, step=3), ScoreGiven(ordinal=1, step=3, total=40.0, message="Fair."))


def rescored(total: float | None) -> SubmissionRescored:
    return SubmissionRescored(ordinal=1, evaluator="evaluate.py", version="1e2d", total=total, failed=total is None,
                              reason="" if total is not None else "evaluator_failed", message="Ties count.")


def held(*facts: Fact) -> Trajectory:
    return fold("s", [Placed(session="s", seq=n, body=encode_event(make_event(fact, AUTHOR)))
                      for n, fact in enumerate((*HELD, *facts), 1)])


def words(trajectory: Trajectory) -> list[tuple[str, str]]:
    texts = [row_text(trajectory, "item", at, at) for at in range(len(trajectory.items))]
    return [(text.title, text.word) for text in texts]


def test_the_given_score_stays_and_the_newest_stands_beside_it(qapp: object) -> None:
    assert words(held())[1] == ("40.0 · Fair.", "")
    again = held(rescored(55.0), rescored(90.0))
    assert words(again) == [("submission 1, after step 3", "now 90.0"), ("40.0 · Fair.", "now 90.0")]
    title, about, text = score_text(again, again.scores[0])
    assert (title, about) == ("Score 40.0 of submission 1", "now 90.0")
    assert "Scored again by evaluate.py, version 1e2d: 55.0\nTies count." in text and "1e2d: 90.0" in text
    assert words(held(rescored(90.0), rescored(None)))[1][1] == "now 90.0"
    broken = held(rescored(None))
    assert words(broken)[1][1] == "not scored again" and "Not scored by evaluate.py" in score_text(
        broken, broken.scores[0])[2]


def test_its_row_is_drawn_again(qapp: object) -> None:
    trajectory, changes = held(), ChangedItems()
    changes.take(trajectory)
    assert changes.take(trajectory) == set()
    trajectory.apply(Placed(session="s", seq=3, body=encode_event(make_event(rescored(90.0), AUTHOR))))
    assert changes.take(trajectory) == {0, 1}
