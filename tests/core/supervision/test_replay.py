"""The decision on a step is made again from the log: at any time, with any author left out."""

from __future__ import annotations

from support.logs import PERSON, RULE, Maker

from core.domain.events import Placed, VerdictGiven
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.supervision.replay import replay

JUDGE = Author(kind="judge", name="m", version="2")


def session() -> tuple[Maker, list[int]]:
    made, marks = Maker(3), []
    for _ in range(3):
        made.add_step(fails=False)
    for step, value, author in ((1, "mask", RULE), (1, "mask", JUDGE), (2, "mask", JUDGE), (1, "keep", PERSON),
                                (2, "none", JUDGE)):
        marks.append(len(made.bodies))
        made.say(VerdictGiven(step=step, value=value), author)
    return made, marks


def told(made: Maker, upto: int | None = None, ignored=()):
    placed = [Placed(session="s", seq=n, body=b) for n, b in enumerate(made.bodies[:upto], 1)]
    return [(d.value, d.because) for d in replay(fold("s", placed), ignored)]


def test_the_decision_of_every_moment_comes_back() -> None:
    made, marks = session()
    assert [told(made, m)[0][0] for m in marks] == ["undecided", "mask", "mask", "mask", "keep"]
    assert told(made)[0] == ("keep", ("person:li",)) and told(made)[1] == ("undecided", ())
    assert told(made, marks[4])[1] == ("mask", ("judge:m 2",))


def test_with_other_switches_others_decide() -> None:
    made, _ = session()
    assert told(made, ignored={"person"})[0] == ("mask", ("rule:null_action 1", "judge:m 2"))
    assert told(made, ignored={"person", "rule:null_action"})[0] == ("mask", ("judge:m 2",))
    assert told(made, ignored={"person", "rule", "judge"})[0] == ("undecided", ())
    placed = [Placed(session="s", seq=n, body=b) for n, b in enumerate(made.bodies, 1)]
    [first, *_] = replay(fold("s", placed), {"rule"})
    assert first.left_out == ("rule:null_action 1",)
    assert [d[0] for d in told(made)] == ["keep", "undecided", "undecided"], "nothing was changed by asking"
