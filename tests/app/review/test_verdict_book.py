"""Verdicts: shown at once, confirmed by the log, refused, undone and done again."""

from support.logs import PERSON
from support.panels import told_session

from app.review import verdict_book as verdicts
from app.review.verdict_book import Decision, Tally, VerdictBook
from core.domain.events import Fact, Placed, TagSet, VerdictGiven, encode_event, make_event
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author


def trajectory() -> Trajectory:
    bodies = told_session().bodies
    return fold("s1", (Placed(session="s1", seq=i, body=b) for i, b in enumerate(bodies, 1)))


def log_says(told: Trajectory, step: int, value: str, reason: str = "") -> None:
    log_has(told, VerdictGiven(step=step, value=value, reason=reason))


def log_has(told: Trajectory, fact: Fact, author: Author = PERSON) -> None:
    body = encode_event(make_event(fact, author))
    told.apply(Placed(session="s1", seq=told.seq + 1, body=body))


def book() -> VerdictBook:
    return VerdictBook("s1", lambda: PERSON.name)


def test_a_verdict_counts_before_the_log_has_it_and_is_confirmed_by_it() -> None:
    told, mine = trajectory(), book()
    entry = told.step(2)
    assert mine.outcome(entry) == "mask"
    changes = mine.judge([entry], "keep", "it looked")
    assert [(c.step, c.decision) for c in changes] == [(2, Decision("keep", "it looked"))]
    assert (mine.outcome(entry), mine.pending) == ("keep", 1)
    mine.confirm(told)
    assert mine.pending == 1
    log_says(told, 2, "keep", "it looked")
    mine.confirm(told)
    assert (mine.outcome(entry), mine.pending, mine.mine(entry).value) == ("keep", 0, "keep")
    assert mine.judge([entry], "keep", "it looked") == ()


def test_undo_gives_back_what_was_there_for_all_steps_of_one_act() -> None:
    told, mine = trajectory(), book()
    entries = [told.step(n) for n in (3, 4, 5)]
    mine.judge(entries, "mask", "loop")
    assert [mine.outcome(e) for e in entries] == ["mask"] * 3
    back = mine.undo()
    assert [c.step for c in back] == [3, 4, 5]
    assert [c.decision for c in back] == [Decision("keep", "well done"), Decision(), Decision()]
    assert [mine.outcome(e) for e in entries] == ["keep", "undecided", "undecided"]
    assert not mine.can_undo
    assert [c.decision.value for c in mine.redo()] == ["mask"] * 3
    assert mine.can_undo


def test_a_refused_verdict_gives_way_to_the_log_and_cannot_be_undone() -> None:
    told, mine = trajectory(), book()
    (change,) = mine.judge([told.step(2)], "keep")
    mine.refuse(change)
    assert (mine.outcome(told.step(2)), mine.can_undo, mine.pending) == ("mask", False, 0)


def test_a_new_act_ends_what_could_be_done_again_and_old_ones_are_forgotten(monkeypatch) -> None:
    told, mine = trajectory(), book()
    mine.judge([told.step(4)], "mask")
    mine.undo()
    mine.judge([told.step(5)], "keep")
    assert mine.redo() == ()
    monkeypatch.setattr(verdicts, "_UNDO_LIMIT", 2)
    for step in (6, 7, 8, 9):
        mine.judge([told.step(step)], "mask")
    assert [change.step for _ in range(9) for change in mine.undo()] == [9, 8, 7]


def test_a_tag_is_on_its_way_until_the_log_has_it() -> None:
    told, mine = trajectory(), book()
    mine.tag([told.step(4)], "loop")
    mine.confirm(told)
    assert mine.pending == 1
    log_has(told, TagSet(step=4, tag="loop"))
    mine.confirm(told)
    assert (mine.pending, mine.tags(told.step(4))) == (0, {"loop"})


def test_the_masks_of_an_import_are_decisions() -> None:
    told, mine = trajectory(), book()
    log_has(told, VerdictGiven(step=4, value="mask"), Author(kind="import", name="sharegpt"))
    assert mine.tally(told) == Tally(kept=1, masked=2, unjudged=7, by_people=2, people_keep=1, people_mask=1)
    assert mine.next_to_judge(told, 3) == 5


def test_counts_and_the_way_to_the_next_undecided_step() -> None:
    told, mine = trajectory(), book()
    assert mine.tally(told) == Tally(kept=1, masked=1, unjudged=8, by_people=1, people_keep=1)
    assert mine.next_to_judge(told, 2) == 4
    assert mine.next_to_judge(told, 10) == 1
    mine.judge(told.steps, "keep")
    assert mine.next_to_judge(told, 5) is None
    assert mine.tally(told) == Tally(kept=10, by_people=10, people_keep=10)
    mine.judge([told.step(7)], "unsure")
    assert mine.next_to_judge(told, 5) is None and mine.tally(told).judged == 10, "who is unsure has judged, too"


def test_what_a_queue_asks_is_counted_by_the_readers_own_words_among_the_steps_that_it_names() -> None:
    told, mine = trajectory(), book()
    other = Author(kind="person", name="somebody-else")
    log_has(told, VerdictGiven(step=4, value="mask"), other)
    mine.judge([told.step(5)], "unsure")
    everybody, own = mine.tally(told), mine.tally(told, only_mine=True)
    assert (everybody.people_mask - own.people_mask, everybody.masked - own.masked) == (1, 2), "nor what a rule masks"
    assert own.unsure == 1 and own.total == everybody.total == len(told.steps)
    among = {3, 4}  # the places of the steps 4 and 5
    some = mine.tally(told, only_mine=True, among=among)
    assert (some.total, some.by_people, some.unsure) == (2, 0, 1)
    assert mine.next_to_judge(told, 5, among=among) is None, "somebody decided on the other one"
    assert mine.next_to_judge(told, 5, only_mine=True, among=among) == 4, "but not the reader"
