"""How much better a token was than what was to be expected: each method's own way, per session or per token.

A session is one sequence however many rows it has. The final reward is given at the last token that the policy wrote
itself: given at the last token of all, which is often an observation, it would reach nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.training.policy_rows import PolicyRow, Reals, by_group, by_session

_LEAST_SPREAD = 1e-4
"""Added to a group's standard deviation, as TRL does."""


def centred(rows: Sequence[PolicyRow], rewards: dict[str, float], *, scaled: bool) -> dict[str, float]:
    """Reward less its group's mean, by session; `scaled`: over the group's standard deviation (GRPO). A session that
    is alone in its group has none."""
    found: dict[str, float] = {}
    for group in by_group(rows).values():
        values = np.array([rewards[s] for s in group])
        spread = values.std(ddof=1) + _LEAST_SPREAD if scaled and values.size > 1 else 1.0
        found |= dict(zip(group, ((values - values.mean()) / spread).tolist(), strict=True))
    return found


def left_out(rows: Sequence[PolicyRow], rewards: dict[str, float]) -> dict[str, float]:
    """Reward less the mean of the group's others (RLOO), by session; 0 for one that is alone."""
    found: dict[str, float] = {}
    for group in by_group(rows).values():
        values = np.array([rewards[s] for s in group])
        others = max(values.size - 1, 1)
        gained = values - (values.sum() - values) / others if values.size > 1 else np.zeros(1)
        found |= dict(zip(group, gained.tolist(), strict=True))
    return found


def spread_out(rows: Sequence[PolicyRow], by_name: dict[str, float]) -> list[Reals]:
    """A value of each session at every token of its rows that is its own."""
    return [np.where(row.own, by_name[row.session], 0.0) for row in rows]


def returns(rows: Sequence[PolicyRow], gains: Sequence[Reals], gamma: float) -> list[Reals]:
    """The discounted sum of what is still to come at each own token (REINFORCE++); other tokens pass it on whole."""
    found = [np.zeros(row.ids.size) for row in rows]
    for places in by_session(rows).values():
        coming = 0.0
        for at in reversed(places):
            for t in np.flatnonzero(rows[at].own)[::-1]:
                coming = gains[at][t] + gamma * coming
                found[at][t] = coming
    return found


def estimated(rows: Sequence[PolicyRow], gains: Sequence[Reals], values: Sequence[Reals], gamma: float, decay: float
              ) -> list[Reals]:
    """Generalised advantage estimation over own tokens, `decay` its λ (Schulman et al. 2016)."""
    found = [np.zeros(row.ids.size) for row in rows]
    for places in by_session(rows).values():
        after = advantage = 0.0
        for at in reversed(places):
            for t in np.flatnonzero(rows[at].own)[::-1]:
                advantage = gains[at][t] + gamma * after - values[at][t] + gamma * decay * advantage
                found[at][t], after = advantage, values[at][t]
    return found


def whitened(rows: Sequence[PolicyRow], values: Sequence[Reals]) -> list[Reals]:
    """Mean 0 and variance 1 over all own tokens."""
    own = np.concatenate([v[row.own] for row, v in zip(rows, values, strict=True)])
    scale = np.sqrt((own.var(ddof=1) if own.size > 1 else 1.0) + 1e-8)
    return [np.where(row.own, (v - own.mean()) / scale, 0.0) for row, v in zip(rows, values, strict=True)]


def gains_of(rows: Sequence[PolicyRow], rewards: dict[str, float], penalties: Sequence[Reals]) -> list[Reals]:
    """What each token earned: its penalty as a loss, and the session's reward at its last own token."""
    found = [np.where(row.own, -p, 0.0) for row, p in zip(rows, penalties, strict=True)]
    for session, places in by_session(rows).items():
        last = next((at for at in reversed(places) if rows[at].own.any()), None)
        if last is not None:
            found[last][np.flatnonzero(rows[last].own)[-1]] += rewards[session]
    return found
