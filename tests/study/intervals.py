"""Intervals and tests for differences between variants that were tried with the same seeds on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Tried = Mapping[tuple[int, str], float]
"""What a try gave, by (seed, task)."""

DRAWS = 10_000


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of paired differences and its 95 % interval; `p_seeds` and `p_tasks`: how often signs that are turned by
    chance, of seeds or of tasks, make a mean as far from 0."""

    mean: float
    low: float
    high: float
    p_seeds: float
    p_tasks: float
    seeds: int

    @property
    def p(self) -> float:
        """A difference has to hold over other seeds and over other tasks: the larger of both."""
        return max(self.p_seeds, self.p_tasks)


def mean(tried: Tried) -> float:
    """The mean of all tries."""
    return sum(tried.values()) / len(tried)


def interval(tried: Tried, draws: int = DRAWS) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean. Seeds and tasks are drawn: tries that share one are not independent."""
    return _bootstrap(_table(tried), draws)


def paired(first: Tried, second: Tried, draws: int = DRAWS) -> Difference:
    """The first less the second, on the seeds and tasks that both have."""
    seeds = {s for s, _ in first} & {s for s, _ in second}
    table = _table({key: first[key] - second[key] for key in first.keys() & second.keys() if key[0] in seeds})
    low, high = _bootstrap(table, draws)
    return Difference(mean=float(table.mean()), low=low, high=high, p_seeds=sign_flips(table.mean(axis=1), draws),
                      p_tasks=sign_flips(table.mean(axis=0), draws), seeds=len(table))


def sign_flips(values: Sequence[float] | NDArray[Any], draws: int = DRAWS) -> float:
    """The two-sided p of a mean of 0: over all signs where there are at most twelve values, else over drawn ones."""
    given = np.asarray(values, dtype=np.float64)
    if len(given) <= 12:
        signs = 1 - 2 * ((np.arange(2 ** len(given))[:, None] >> np.arange(len(given))) & 1)
    else:
        drawn = np.random.default_rng(len(given)).integers(0, 2, (draws, len(given))) * 2 - 1
        signs = np.vstack([np.ones(len(given)), drawn])
    means = np.abs(signs @ given)
    return float((means >= abs(given.sum()) - 1e-9).mean())


def holm(ps: Sequence[float], family: int) -> list[float]:
    """Holm's corrected values in the order of `ps`; the family may have more members than are known yet."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, least = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (family - rank) * ps[i]))
        corrected[i] = least
    return corrected


def _table(tried: Tried) -> NDArray[np.float64]:
    """Seeds by tasks. Raises KeyError where a try is missing."""
    seeds, tasks = sorted({s for s, _ in tried}), sorted({t for _, t in tried})
    return np.array([[tried[s, t] for t in tasks] for s in seeds], dtype=np.float64)


def _bootstrap(table: NDArray[np.float64], draws: int) -> tuple[float, float]:
    dice = np.random.default_rng(table.size)
    seeds, tasks = table.shape
    by_seed = dice.multinomial(seeds, np.full(seeds, 1 / seeds), draws) / seeds
    by_task = dice.multinomial(tasks, np.full(tasks, 1 / tasks), draws) / tasks
    means = ((by_seed @ table) * by_task).sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
