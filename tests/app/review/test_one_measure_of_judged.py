"""A step is judged when a person kept, masked or was unsure of it; else it is undecided: one measure in every place."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.logs import PERSON, Maker, fill
from support.window import shown_window

from app.queue.row import progress_of
from app.review.verdict_book import VerdictBook
from app.review.view import ReviewView
from app.trajectory.facets import Facets
from app.trajectory.filters import counts_of
from app.trajectory.view import TrajectoryView
from core.domain.blindness import is_judged
from core.domain.events import VerdictGiven
from core.domain.queue import in_review
from core.domain.session import SessionRow
from core.domain.session_query import Candidate, SessionQuery
from core.domain.verdict import Author
from core.store import log
from core.store.schema import open_log

RULE = Author(kind="rule", name="null_action", version="1")
FILE = Author(kind="import", name="sharegpt")
GIVEN = [((1, "keep", PERSON),), ((1, "mask", PERSON),), ((1, "unsure", PERSON),), ((1, "mask", FILE),),
         ((1, "mask", RULE),), ((1, "unsure", PERSON), (1, "mask", RULE)), ((1, "keep", PERSON), (1, "none", PERSON)),
         ((1, "keep", PERSON), (2, "unsure", PERSON), (3, "mask", PERSON), (4, "unsure", FILE))]
JUDGED = [1, 1, 1, 1, 0, 1, 0, 4]


def judged_session(given: tuple[tuple[int, str, Author], ...]) -> Maker:
    """Five steps and what is said of them."""
    maker = Maker(3)
    for _ in range(5):
        maker.add_step("run_command", fails=False)
    for step, value, author in given:
        maker.say(VerdictGiven(step=step, value=value), author)  # type: ignore[arg-type]
    return maker


def row_of(maker: Maker, file: Path) -> SessionRow:
    """The session's row as a server counts it."""
    conn = open_log(file)
    fill(conn, "s1", maker.bodies, maker.blobs)
    row = log.row(conn, "s1")
    conn.close()
    return row


def passes(text: str, row: SessionRow) -> bool:
    return SessionQuery(text).passes(Candidate(row, review=lambda: in_review(row, (), "me")))


@pytest.mark.parametrize(("given", "judged"), list(zip(GIVEN, JUDGED, strict=True)))
def test_bar_chips_filters_queue_and_query_count_the_same(tmp_path, given, judged):
    maker = judged_session(given)
    row = row_of(maker, tmp_path / "server.db")
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 5)
        trajectory = place.sight.trajectory
        bar, list_view = window.findChild(ReviewView).bar, window.findChild(TrajectoryView)
        list_view.facets.show_counts(counts_of(trajectory))
        assert bar.count.text() == f"{judged}/5 judged"
        assert list_view.facets.chips["undecided"].text() == f"Undecided {5 - judged}"
        left = list(Facets(outcome="undecided").steps_of(trajectory))
        assert left == [at for at in range(5) if not is_judged(trajectory.steps, at, "")] and len(left) == 5 - judged
        book = VerdictBook("s1", lambda: "li")
        walked = {book.next_to_judge(trajectory, after) for after in range(6)} - {None}
        assert walked == {trajectory.steps.numbers[at] for at in left}, "X leads to the undecided ones alone"
    assert progress_of(row, None, None, "li", blind=False)[0].total == judged
    assert passes("is:undecided", row) and passes(f"judged={judged}", row)
    assert passes("judged<50%", row) is (judged < 2.5)


def test_a_session_of_which_all_is_judged_be_it_unsure_has_nothing_undecided_anywhere(tmp_path):
    maker = judged_session(tuple((step, "unsure", PERSON) for step in range(1, 6)))
    assert not passes("is:undecided", row_of(maker, tmp_path / "server.db"))
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 2)
        posted: list[str] = []
        place.notices.posted.connect(lambda notice: posted.append(notice.sentence))
        place.actions["review.next"].trigger()
        assert place.cursor.step == 2 and posted == ["People have judged every step."]
        assert window.findChild(ReviewView).bar.count.text() == "All 5 judged"


def test_to_a_blind_reader_the_own_words_alone_count(tmp_path):
    maker = judged_session(((1, "keep", PERSON), (2, "unsure", Author(kind="person", name="wang"))))
    with shown_window(tmp_path, maker) as (_, place):
        place.cursor.move("s1", 2)
        trajectory, wang = place.sight.trajectory, "person:wang"
        assert counts_of(trajectory, wang)["undecided"] == 4
        assert list(Facets(outcome="undecided").steps_of(trajectory, 0, wang)) == [0, 2, 3, 4]
