"""Coefficients against tables worked out by hand and by their definitions; sources against people in real logs."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.logs import PERSON, Maker

from core.domain.events import Placed, TimeSpent, VerdictGiven
from core.domain.step import decode_body
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.supervision.agreement import agreement, effects
from core.supervision.coefficients import cohen_kappa, krippendorff_alpha, raw_agreement, wilson
from core.supervision.judge import BY_GUIDANCE
from core.supervision.rules import RULES

VALUES = st.sampled_from(["keep", "mask", "unsure"])


def test_kappa_of_a_table_worked_out_by_hand():
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert raw_agreement(pairs) == 0.7
    assert cohen_kappa(pairs) == pytest.approx(0.4)  # expected agreement 0.5: 0.3·… = .5·.6 + .5·.4
    assert cohen_kappa([]) is None and cohen_kappa([("y", "y")] * 5) is None
    assert cohen_kappa([("y", "n"), ("n", "y")]) == -1.0


def test_alpha_of_krippendorffs_own_example():
    """"Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, nominal, missing data: 0.743."""
    rows = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    units = [[v for v in column if v is not None] for column in zip(*rows, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_two_observers_by_hand():
    """The same paper, example A: two observers, ten units, binary: alpha = 0.095."""
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(list(zip(first, second, strict=True))) == pytest.approx(0.095, abs=5e-4)
    assert krippendorff_alpha([]) is None and krippendorff_alpha([["a"], ["b"]]) is None
    assert krippendorff_alpha([["a", "a"]]) is None


@given(st.lists(st.lists(VALUES, max_size=4), max_size=12))
def test_alpha_is_one_less_observed_by_expected_disagreement(units):
    rated = [u for u in units if len(u) > 1]
    everything = [v for u in rated for v in u]
    observed = sum(sum(a != b for a, b in permutations(u, 2)) / (len(u) - 1) for u in rated)
    differing = sum(a != b for a, b in permutations(everything, 2))
    alpha = krippendorff_alpha(units)
    if differing == 0:
        assert alpha is None
    else:
        assert alpha == pytest.approx(1 - (observed / len(everything)) / (
            differing / (len(everything) * (len(everything) - 1))))


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30))
def test_kappa_is_symmetric_and_knows_perfect_agreement(pairs):
    kappa = cohen_kappa(pairs)
    assert kappa == pytest.approx(cohen_kappa([(b, a) for a, b in pairs])) if kappa is not None else True
    same = cohen_kappa([(a, a) for a, _ in pairs])
    assert same is None or same == pytest.approx(1.0)


def test_wilsons_interval():
    low, high = wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert wilson(0, 0) is None and wilson(0, 5)[0] == 0.0 and wilson(5, 5)[1] == 1.0


SECOND = Author(kind="person", name="wang")
JUDGE = Author(kind="judge", name="m", version="1")


def rule(name: str) -> Author:
    return RULES.get([name])[0].author


def session() -> Maker:
    """Steps 2 and 4 fail; a rule masks 2, 3, 4; li keeps 2, masks 3 and 5; wang keeps 2, 3 and masks 5."""
    maker = Maker(3)
    for fails in (False, True, False, True, False):
        maker.add_step(fails=fails)
    for step in (2, 3, 4):
        maker.say(VerdictGiven(step=step, value="mask"), rule("blind_edit"))
    for step, value in ((1, "keep"), (2, "mask"), (3, "mask"), (5, "keep")):
        maker.say(VerdictGiven(step=step, value=value), JUDGE)
    for step, value in ((2, "keep"), (3, "keep"), (5, "mask")):
        maker.say(VerdictGiven(step=step, value=value), SECOND)
    for step, value in ((2, "keep"), (3, "mask"), (5, "mask"), (1, "unsure")):
        maker.say(VerdictGiven(step=step, value=value), PERSON)
    return maker


def trajectory(maker):
    return fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(maker.bodies, 1)])


def test_labels_of_a_file_are_no_people_and_counted_by_themselves():
    maker = session()
    for step in (4, 5):
        maker.say(VerdictGiven(step=step, value="mask"), Author(kind="import", name="labels"))
    told = agreement([trajectory(maker)])
    assert (told.decided, told.labelled) == (3, 1), "of step 5 people said something too"
    assert "import:labels" in {name for p in told.pairs for name in (p.first, p.second)}, "they count as one of them"


def test_sources_are_held_against_people():
    told = agreement([trajectory(session())])
    assert (told.sessions, told.steps, told.decided) == (1, 5, 3)
    sources = {s.source: s for s in told.sources}
    edit = sources["rule:blind_edit"]
    assert (edit.masks, edit.judged, edit.confirmed, edit.missed) == (3, 2, 1, 1)
    assert (edit.precision, edit.recall, edit.raw) == (0.5, 0.5, None)
    judge = sources["judge:m"]
    assert (judge.judged, judge.confirmed, judge.raw) == (2, 1, pytest.approx(1 / 3))
    assert judge.kappa == pytest.approx(cohen_kappa([("mask", "keep"), ("mask", "mask"), ("keep", "mask")]))


def test_people_are_held_against_each_other():
    told = agreement([trajectory(session())])
    [pair] = told.pairs
    assert (pair.first, pair.second, pair.steps, pair.raw) == ("person:li", "person:wang", 3, pytest.approx(2 / 3))
    both = [("keep", "keep"), ("mask", "keep"), ("mask", "mask")]
    assert pair.kappa == pytest.approx(cohen_kappa(both))
    assert told.alpha == pytest.approx(krippendorff_alpha(both))


def test_a_word_that_decides_nothing_makes_no_pair_and_all_guidance_is_one_source():
    maker = session()
    for author, value in ((PERSON, "unsure"), (SECOND, "keep")):
        maker.say(VerdictGiven(step=4, value=value), author)
    for guidance, step in (("g1", 3), ("g2", 5)):
        maker.say(VerdictGiven(step=step, value="mask"), Author(kind="judge", name=f"m{BY_GUIDANCE}{guidance}"))
    told = agreement([trajectory(maker)])
    assert [p.steps for p in told.pairs] == [3]
    by_guidance = {s.source: s for s in told.sources}["judge:m/guidance"]
    assert (by_guidance.masks, by_guidance.judged, by_guidance.confirmed) == (2, 2, 2)


def test_what_a_rule_would_change_is_known_before_it_is_switched_on():
    maker = session()
    off = [r.switched_off() if r.name == "error_result" else r for r in RULES.get(["error_result", "blind_edit"])]
    told = {e.rule: e for e in effects([trajectory(maker)], lambda h: decode_body(maker.blobs[h]), [off])}
    error = told["error_result"]
    assert not error.enabled and told["blind_edit"].enabled
    assert (error.found, error.would_mask, error.overruled, error.judged, error.confirmed) == (2, 0, 1, 1, 0)
    assert [(s, n) for s, n, _ in error.examples] == [("s", 2), ("s", 4)] and error.examples[0][2]
    bare = Maker(3)
    for fails in (False, True, False, True, False):
        bare.add_step(fails=fails)
    [alone] = effects([trajectory(bare)], lambda h: decode_body(bare.blobs[h]), [off[:1]])
    assert (alone.found, alone.would_mask) == (2, 2)


def test_active_time_of_people_is_summed_by_step_and_person():
    maker = Maker(1)
    for _ in range(3):
        maker.add_step()
    other = Author(kind="person", name="wang")
    maker.say(VerdictGiven(step=1, value="keep"), PERSON)
    maker.say(TimeSpent(seconds={1: 10.0, 2: 4.0}), PERSON)
    maker.say(TimeSpent(seconds={1: 20.0}), PERSON)
    maker.say(TimeSpent(seconds={3: 1.5}), other)
    trajectory = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)])
    assert trajectory.spent == {"person:li": {1: 30.0, 2: 4.0}, "person:wang": {3: 1.5}}
    told = agreement([trajectory, trajectory]).times
    assert [(t.person, t.decided, t.timed, t.seconds, t.each) for t in told] == [
        ("person:li", 2, 4, 68.0, 17.0), ("person:wang", 0, 2, 3.0, 1.5)]
