"""From rows to weights: what a loss needs to know once for what was sampled, and its weights at every change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.training.advantages import centred, estimated, gains_of, left_out, returns, spread_out, whitened
from core.training.learner import Scores
from core.training.objectives import (
    Clip,
    Weighed,
    clipped,
    clipped_whole,
    pairs,
    preferred,
    shares,
    supervised,
    unblocked,
    value_slopes,
    with_reference,
)
from core.training.policy_rows import PolicyRow, Reals, by_session
from core.training.rl_settings import RlSettings


class Prepared(NamedTuple):
    """Of rows, before the weights change: advantages by token and by session, the reference's log-probabilities, what
    the critic said and should have said, the pairs that are compared, and all own tokens."""

    advantages: list[Reals]
    by_name: dict[str, float]
    reference: list[Reals]
    values: list[Reals]
    goals: list[Reals]
    pairs: list[tuple[str, str]]
    tokens: int

    def of(self, places: Sequence[int], names: set[str], parts: int) -> Prepared:
        """What concerns some of the rows; a mean over tokens is that of all of them, for each of `parts` parts."""
        lists = ([column[at] for at in places] for column in (self.advantages, self.reference, self.values, self.goals))
        advantages, reference, values, goals = lists
        near = [p for p in self.pairs if p[0] in names]
        return Prepared(advantages, self.by_name, reference, values, goals, near, max(self.tokens // parts, 1))


def prepare(settings: RlSettings, rows: Sequence[PolicyRow], scores: Scores, reference: list[Reals]) -> Prepared:
    """What stays fixed while the weights change. `scores` are of the policy before it does."""
    pull = settings.kl if settings.kl_place == "reward" else 0.0
    penalties = [np.where(r.own, pull * (r.old - ref), 0.0) for r, ref in zip(rows, reference, strict=True)]
    rewards = {row.session: row.reward for row in rows}
    by_token = settings.loss in ("ppo", "reinforce++")
    if pull and not by_token:
        for row, penalty in zip(rows, penalties, strict=True):
            rewards[row.session] -= float(penalty.sum())
    by_name: dict[str, float] = {}
    goals: list[Reals] = scores.values
    if by_token:
        advantages, goals = _by_token(settings, rows, rewards, penalties, scores)
    else:
        by_name = _by_name(settings, rows, rewards)
        advantages = spread_out(rows, by_name)
    chosen = pairs(rows, settings.gap) if settings.loss == "dpo" else []
    tokens = sum(int(row.own.sum()) for row in rows)
    return Prepared(advantages, by_name, reference, scores.values, goals, chosen, tokens)


def _by_name(settings: RlSettings, rows: Sequence[PolicyRow], rewards: dict[str, float]) -> dict[str, float]:
    if settings.loss == "rloo":
        return left_out(rows, rewards)
    if settings.loss == "rejection":
        return {s: float(reward >= settings.threshold) for s, reward in rewards.items()}
    return centred(rows, rewards, scaled=settings.loss != "dr_grpo")


def _by_token(settings: RlSettings, rows: Sequence[PolicyRow], rewards: dict[str, float], penalties: Sequence[Reals],
              scores: Scores) -> tuple[list[Reals], list[Reals]]:
    gains = gains_of(rows, rewards, penalties)
    if settings.loss == "reinforce++":
        found = returns(rows, gains, settings.gamma)
        return whitened(rows, found), found
    found = estimated(rows, gains, scores.values, settings.gamma, settings.lam)
    return whitened(rows, found), [a + v for a, v in zip(found, scores.values, strict=True)]


def judge(settings: RlSettings, rows: Sequence[PolicyRow], scores: Scores, ready: Prepared
          ) -> tuple[Weighed, list[Reals] | None]:
    """The weights of the rows' tokens for the policy as `scores` has it; with a critic also its slopes."""
    clip = Clip(settings.clip_low, settings.clip_high)
    part = shares(rows, settings.loss, settings.longest, ready.tokens if settings.loss in ("dapo", "ppo") else 0)
    if settings.loss == "dpo":
        found = preferred(rows, scores.now, ready.reference, ready.pairs, settings.beta)
    elif settings.loss == "rejection":
        found = supervised(rows, scores.now, {s: ready.by_name[s] > 0 for s in by_session(rows)})
    elif settings.loss == "rloo":
        found = clipped_whole(rows, scores.now, ready.by_name, clip)
    else:
        found = clipped(rows, scores.now, ready.advantages, part, clip)
    if settings.kl and settings.kl_place == "loss":
        found = with_reference(found, rows, scores.now, ready.reference, part, settings.kl)
    found = found._replace(weights=as_masked(settings, rows, found.weights))
    if settings.loss != "ppo":
        return found, None
    value = value_slopes(rows, scores.values, ready.values, ready.goals, part, settings.value_clip)
    slopes = [settings.value_weight * s for s in value.weights]
    return found._replace(loss=found.loss + settings.value_weight * value.loss), slopes


def as_masked(settings: RlSettings, rows: Sequence[PolicyRow], weights: Sequence[Reals]) -> list[Reals]:
    """The weights without those that what people masked forbids."""
    if settings.masked == "all":
        return [np.where(row.blocked, 0.0, w) for row, w in zip(rows, weights, strict=True)]
    return unblocked(rows, weights)
