"""How the arms of a group are summed up: intervals against values from tables and textbooks."""

from __future__ import annotations

import pytest
from support.logs import Maker

from core.domain.events import Placed
from core.domain.session import SessionRow
from core.domain.trajectory import fold
from core.supervision.groups import arms_of, difference_interval, differences, mean_interval, members, parting


def row(name: str, arm: str, score: float | None, state: str = "finished") -> SessionRow:
    return SessionRow(session=name, group="q", arm=arm, score=score, state=state)  # type: ignore[arg-type]


def test_arms_hold_the_scores_of_what_has_ended() -> None:
    rows = [row("a", "with", 80), row("b", "without", 40), row("c", "with", 90), row("d", "without", None, "running"),
            SessionRow(session="x", group="other")]
    given, lacking = arms_of(members(rows, "q"))
    assert (given.name, given.sessions, given.scores, given.mean) == ("with", ("a", "c"), (80, 90), 85)
    assert (lacking.ended, len(lacking.sessions), lacking.interval) == (1, 2, None)
    [margin] = differences([given, lacking])
    assert (margin.mean, margin.interval) == (45, None), "one branch tells nothing of chance"


def test_the_interval_of_a_mean_is_student_s() -> None:
    low, high = mean_interval([1, 2, 3]) or (0, 0)
    assert (low, high) == (pytest.approx(2 - 4.303 / 3**0.5, abs=1e-3), pytest.approx(2 + 4.303 / 3**0.5, abs=1e-3))
    assert mean_interval([5]) is None and mean_interval([5, 5]) == (5, 5)


def test_the_interval_of_a_difference_is_welch_s() -> None:
    """Values of R's t.test(extra ~ group, data = sleep): -3.3654832 … 0.2054832, with 17.776 degrees of freedom."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    low, high = difference_interval(first, second) or (0, 0)
    assert (low, high) == (pytest.approx(-3.36548, abs=2e-3), pytest.approx(0.20548, abs=2e-3))


def test_sessions_part_at_the_first_step_that_does_something_else() -> None:
    left, right = Maker(1), Maker(1)
    for maker in (left, right):
        for _ in range(3):
            maker.add_step(fails=False)
    left.add_step("another_tool", fails=False)
    right.add_step(fails=False)
    one, two = (fold(name, [Placed(session=name, seq=n, body=body) for n, body in enumerate(maker.bodies, 1)])
                for name, maker in (("s1", left), ("s2", right)))
    found = parting("s1", one, two)
    assert (found.session, found.step) == ("s1", 4) and found.title != found.other_title
    assert parting("s2", two, two).step == 0
