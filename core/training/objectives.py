"""Each method's loss as what every token's negative log-likelihood weighs: the gradient of Σ w·l is that of the loss.

The derivative of any loss by a token's log-probability is a number once the log-probabilities are known, so the head
that trains supervised rows (`head.py`) trains these too, with weights that may be below 0. Formulas: GRPO (2402.03300),
Dr. GRPO (2503.20783), DAPO (2503.14476), RLOO (2402.14740), REINFORCE++ (2501.03262), PPO (1707.06347), DPO
(2305.18290), AgentEvol (2406.04151).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from core.training.policy_rows import PolicyRow, Reals, by_group, by_session

Loss = Literal["grpo", "dr_grpo", "dapo", "bnpo", "rloo", "reinforce++", "ppo", "dpo", "rejection"]

CRITIC, PAIRED = ("ppo",), ("dpo",)
"""Which losses need a value of each state; which take pairs of sessions."""


class Clip(NamedTuple):
    """How far below and above 1 a ratio still moves a weight."""

    low: float = 0.2
    high: float = 0.2


class Weighed(NamedTuple):
    """The weights of a loss for each row's tokens, its value, and what is to be told of it."""

    weights: list[Reals]
    loss: float
    clipped: float = 0.0


def shares(rows: Sequence[PolicyRow], loss: Loss, most: int, tokens: float = 0.0) -> list[Reals]:
    """How much each own token counts in the mean that a loss is. `most` is the length that Dr. GRPO divides by;
    `tokens` the own tokens that DAPO and PPO divide by where these rows are a part of what was sampled."""
    sessions = by_session(rows)
    count = float(len(sessions))
    if loss == "grpo":
        own = {s: sum(int(rows[at].own.sum()) for at in places) for s, places in sessions.items()}
        by_row = [1.0 / (max(own[row.session], 1) * count) for row in rows]
    elif loss == "dr_grpo":
        by_row = [1.0 / (count * most)] * len(rows)
    elif loss in ("rloo", "dpo"):
        by_row = [1.0 / count] * len(rows)
    else:
        by_row = [1.0 / max(tokens or sum(int(row.own.sum()) for row in rows), 1.0)] * len(rows)
    return [np.where(row.own, share, 0.0) for row, share in zip(rows, by_row, strict=True)]


def clipped(rows: Sequence[PolicyRow], now: Sequence[Reals], advantages: Sequence[Reals], share: Sequence[Reals],
            clip: Clip) -> Weighed:
    """-min(r·A, clip(r)·A) of every own token, r = exp(now - old)."""
    weights, loss, beyond, own = [], 0.0, 0, 0
    for row, lp, gain, part in zip(rows, now, advantages, share, strict=True):
        ratio = np.where(row.own, np.exp(np.where(row.own, lp - row.old, 0.0)), 1.0)
        is_beyond = _beyond(ratio, gain, clip) & row.own
        weights.append(np.where(is_beyond, 0.0, part * gain * ratio))
        loss -= float((part * np.minimum(ratio * gain, np.clip(ratio, 1 - clip.low, 1 + clip.high) * gain)).sum())
        beyond, own = beyond + int(is_beyond.sum()), own + int(row.own.sum())
    return Weighed(weights, loss, beyond / max(own, 1))


def clipped_whole(rows: Sequence[PolicyRow], now: Sequence[Reals], advantages: dict[str, float], clip: Clip) -> Weighed:
    """As `clipped`, with one ratio for a whole session: the product of its tokens' (RLOO as TRL has it)."""
    sessions = by_session(rows)
    weights = [np.zeros(row.ids.size) for row in rows]
    loss, beyond = 0.0, 0
    for name, places in sessions.items():
        ratio = np.exp(sum(float((now[at] - rows[at].old)[rows[at].own].sum()) for at in places))
        gain = advantages[name]
        is_beyond = bool(_beyond(np.asarray(ratio), np.asarray(gain), clip))
        beyond += is_beyond
        loss -= min(ratio * gain, float(np.clip(ratio, 1 - clip.low, 1 + clip.high)) * gain) / len(sessions)
        for at in places:
            weights[at][rows[at].own] = 0.0 if is_beyond else gain * ratio / len(sessions)
    return Weighed(weights, float(loss), beyond / max(len(sessions), 1))


def _beyond(ratio: Reals, gain: Reals, clip: Clip) -> np.ndarray:
    """Where the ratio has already gone further than it may in the direction that it is pushed to."""
    return ((gain > 0) & (ratio > 1 + clip.high)) | ((gain < 0) & (ratio < 1 - clip.low))


def with_reference(judged: Weighed, rows: Sequence[PolicyRow], now: Sequence[Reals], reference: Sequence[Reals],
                   share: Sequence[Reals], strength: float) -> Weighed:
    """The loss with `strength` · KL to a reference: r·(exp(a) - a - 1), a = ref - now, r = exp(now - old). With the
    ratio its slope is r·a, the unbiased gradient of the reverse KL (2512.02556), and not only near the reference."""
    weights, loss = [], judged.loss
    for row, lp, ref, part, weight in zip(rows, now, reference, share, judged.weights, strict=True):
        apart, ratio = np.where(row.own, ref - lp, 0.0), np.exp(np.where(row.own, lp - row.old, 0.0))
        weights.append(weight + strength * part * ratio * apart)
        loss += strength * float((part * ratio * (np.exp(apart) - apart - 1.0)).sum())
    return judged._replace(weights=weights, loss=loss)


def supervised(rows: Sequence[PolicyRow], now: Sequence[Reals], chosen: dict[str, bool]) -> Weighed:
    """The mean negative log-likelihood of the own tokens of the chosen sessions (rejection sampling, AgentEvol)."""
    taken = [row.own & chosen[row.session] for row in rows]
    count = max(sum(int(t.sum()) for t in taken), 1)
    loss = -sum(float(lp[t].sum()) for lp, t in zip(now, taken, strict=True)) / count
    return Weighed([t / count for t in taken], loss)


def pairs(rows: Sequence[PolicyRow], gap: float) -> list[tuple[str, str]]:
    """The best and the worst session of each group whose rewards are at least `gap` apart."""
    found = []
    for rewards in by_group(rows).values():
        best, worst = max(rewards, key=lambda s: rewards[s]), min(rewards, key=lambda s: rewards[s])
        if rewards[best] - rewards[worst] >= gap and best != worst:
            found.append((best, worst))
    return found


def preferred(rows: Sequence[PolicyRow], now: Sequence[Reals], reference: Sequence[Reals],
              chosen: Sequence[tuple[str, str]], beta: float) -> Weighed:
    """-log σ(β·Δ) of each pair, Δ = how much more than the reference the policy prefers the first (DPO)."""
    sessions = by_session(rows)
    apart = {s: sum(float((now[at] - reference[at])[rows[at].own].sum()) for at in places)
             for s, places in sessions.items()}
    weights, loss = [np.zeros(row.ids.size) for row in rows], 0.0
    for best, worst in chosen:
        margin = beta * (apart[best] - apart[worst])
        loss += float(np.logaddexp(0.0, -margin)) / len(chosen)
        pull = beta * float(np.exp(-np.logaddexp(0.0, margin))) / len(chosen)
        for session, sign in ((best, 1.0), (worst, -1.0)):
            for at in sessions[session]:
                weights[at][rows[at].own] += sign * pull
    return Weighed(weights, loss)


def unblocked(rows: Sequence[PolicyRow], weights: Sequence[Reals]) -> list[Reals]:
    """The weights without those that would make an action that a person masked more likely."""
    return [np.where(row.blocked & (w > 0), 0.0, w) for row, w in zip(rows, weights, strict=True)]


def value_slopes(rows: Sequence[PolicyRow], values: Sequence[Reals], before: Sequence[Reals], goals: Sequence[Reals],
                 share: Sequence[Reals], reach: float) -> Weighed:
    """0.5·max((v-G)², (v clipped to `reach` around what it was - G)²) of each own token, and its slope by v."""
    slopes, loss = [], 0.0
    for row, v, old, goal, part in zip(rows, values, before, goals, share, strict=True):
        near = np.clip(v, old - reach, old + reach)
        far, close = (v - goal) ** 2, (near - goal) ** 2
        moved = np.where(far >= close, v - goal, np.where(near == v, v - goal, 0.0))
        slopes.append(np.where(row.own, part * moved, 0.0))
        loss += 0.5 * float((part * np.maximum(far, close)).sum())
    return Weighed(slopes, loss)
