"""Intervals for shares of solved tasks, and for their differences."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import sqrt

Solved = Mapping[tuple[int, str], bool]
"""Whether a task was solved, by (seed, task)."""

_Z = 1.959964
DRAWS = 10_000


def wilson(solved: int, tried: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, as if all tries were independent."""
    share = solved / tried
    middle = share + _Z**2 / (2 * tried)
    half = _Z * sqrt(share * (1 - share) / tried + _Z**2 / (4 * tried**2))
    return (middle - half) / (1 + _Z**2 / tried), (middle + half) / (1 + _Z**2 / tried)


def share(solved: Solved) -> float:
    """The share of tries that solved their task."""
    return sum(solved.values()) / len(solved)


def interval(solved: Solved, draws: int = DRAWS) -> tuple[float, float]:
    """The 95 % bootstrap interval of a share. Tasks and seeds are drawn: tries that share one are not independent."""
    return _bootstrap({key: float(value) for key, value in solved.items()}, draws)


def paired(first: Solved, second: Solved, draws: int = DRAWS) -> tuple[float, float, float]:
    """The difference of two variants' shares on the same seeds and tasks, with its 95 % bootstrap interval."""
    both = {key: float(first[key]) - float(second[key]) for key in first.keys() & second.keys()}
    return sum(both.values()) / len(both), *_bootstrap(both, draws)


def _bootstrap(values: Mapping[tuple[int, str], float], draws: int) -> tuple[float, float]:
    seeds, tasks = sorted({s for s, _ in values}), sorted({t for _, t in values})
    rng = random.Random(len(values))
    means = []
    for _ in range(draws):
        some = rng.choices(seeds, k=len(seeds))
        drawn = rng.choices(tasks, k=len(tasks))
        told = [values[s, t] for t in drawn for s in some]
        means.append(sum(told) / len(told))
    means.sort()
    return means[int(0.025 * draws)], means[min(draws - 1, int(0.975 * draws))]
