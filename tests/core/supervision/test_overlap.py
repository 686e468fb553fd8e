"""Agreement over the sessions of a queue that two people judged: the coefficients of whole lists, whoever held what."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.domain.queue import Holder, QueueItem, SharedJudgement, wanted
from core.supervision.coefficients import cohen_kappa, krippendorff_alpha
from core.supervision.overlap import overlap

AT = datetime(2026, 3, 1, tzinfo=UTC)


def item(first: str, second: str, *both: tuple[str, str, int]) -> QueueItem:
    holders = tuple(Holder(person=person, at=AT) for person in (first, second) if person)
    return QueueItem(queue="q", session="s", wanted=2, holders=holders,
                     both=tuple(SharedJudgement(*one) for one in both))  # type: ignore[arg-type]


def test_the_same_two_throughout_have_cohens_kappa_whoever_came_first() -> None:
    found = overlap([item("li", "kim", ("keep", "keep", 6), ("keep", "mask", 2)),
                     item("kim", "li", ("mask", "mask", 3), ("mask", "keep", 1), ("unsure", "keep", 9))])
    kim_li = [("keep", "keep")] * 6 + [("mask", "keep")] * 2 + [("mask", "mask")] * 3 + [("mask", "keep")]
    assert found is not None and (found.name, found.steps) == ("κ", 12)
    assert found.value == pytest.approx(cohen_kappa(kim_li))


def test_changing_pairs_have_krippendorffs_alpha_and_nobody_none() -> None:
    found = overlap([item("li", "kim", ("keep", "keep", 2), ("keep", "mask", 1)),
                     item("li", "bo", ("mask", "mask", 2))])
    units = [("keep", "keep")] * 2 + [("keep", "mask")] + [("mask", "mask")] * 2
    assert found is not None and found.name == "α" and found.value == pytest.approx(krippendorff_alpha(units))
    assert overlap([item("li", ""), item("li", "kim", ("unsure", "mask", 3))]) is None


@pytest.mark.parametrize(("twice", "sessions"), [(0, 7), (25, 12), (33, 100), (50, 9), (100, 5), (1, 250)])
def test_so_many_per_cent_are_judged_twice_evenly_spread(twice: int, sessions: int) -> None:
    places = [wanted(place, twice) for place in range(sessions)]
    assert set(places) <= {1, 2} and places.count(2) == sessions * twice // 100
