"""InnoGym's performance gain, and the scale that a task's baseline and best known value make."""

from __future__ import annotations

import pytest

from core.domain.events import ScoreGiven
from core.domain.gain import Gain, gain_of, scaled
from core.domain.task import Task


def task(**values: float) -> Task:
    return Task(id="t", title="T", description="d", **values)


def given(total: float | None = 50.0, **more: object) -> ScoreGiven:
    return ScoreGiven(ordinal=1, step=1, total=total, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("known", "metric", "total", "gain", "ratio"), [
    ({"baseline": 0.5, "best_known": 0.8}, 0.65, 50.0, -0.15, -0.1875),
    ({"baseline": 0.5, "best_known": 0.8}, 0.9, 100.0, 0.1, 0.125),
    ({"baseline": 0.5, "best_known": 0.8}, 0.1, 0.0, -0.7, -0.875),
    ({"baseline": 4.0, "best_known": 2.0}, 1.0, 100.0, 1.0, 0.5),
    ({"baseline": 4.0, "best_known": 2.0}, 3.0, 50.0, -1.0, -0.5),
    ({"baseline": 4.0, "best_known": 0.0}, 1.0, 75.0, -1.0, 0.0),
])
def test_a_metric_has_a_total_and_a_gain(known: dict[str, float], metric: float, total: float, gain: float,
                                         ratio: float) -> None:
    assert scaled(task(**known), metric) == pytest.approx(total)
    found = gain_of(task(**known), given(total, metric=metric))
    assert found is not None and (found.gain, found.ratio) == (pytest.approx(gain), pytest.approx(ratio))


def test_without_a_metric_the_total_is_what_was_measured() -> None:
    found = gain_of(task(best_known=80.0), given(90.0))
    assert found is not None and (found.gain, found.words) == (10.0, "10 (12.5 %) beyond the best known")
    assert Gain(gain=-10.0, ratio=-0.125).words == "10 (12.5 %) short of the best known"
    assert Gain(gain=0.0, ratio=0.0).words == "as good as the best known"
    found = gain_of(task(baseline=40.0), given(90.0))
    assert found is not None and found.gain == 50.0, "without a known solution the baseline counts"


def test_no_gain_without_a_score_or_a_known_solution() -> None:
    assert gain_of(task(), given()) is None and gain_of(None, given()) is None
    assert gain_of(task(best_known=1.0), given(None, failed=True)) is None
    assert scaled(task(best_known=1.0), 0.5) is None and scaled(task(baseline=1.0, best_known=1.0), 0.5) is None
