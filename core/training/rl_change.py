"""One update's changes of the weights, and what they tell of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from core.training.learner import Learner, Scores
from core.training.methods import Prepared, judge, prepare
from core.training.people_source import PeopleWords
from core.training.policy_rows import PolicyRow, Reals
from core.training.rl_people import add_people_gradient
from core.training.rl_settings import RlSettings


class Changer:
    """Changes a learner's weights by rows, as a run's settings say."""

    def __init__(self, settings: RlSettings, learner: Learner, reference: Learner | None) -> None:
        self._settings, self._learner, self._reference = settings, learner, reference
        self.optimizer = torch.optim.AdamW(learner.parameters, lr=settings.learning_rate,
                                           weight_decay=settings.weight_decay)

    def prepared(self, rows: Sequence[PolicyRow]) -> tuple[Prepared, Scores]:
        """What stays fixed, and how the policy sees the rows before it changes."""
        scores = self._learner.score(rows)
        none = [np.zeros(row.ids.size) for row in rows]
        reference = self._reference.score(rows).now if self._reference is not None else none
        return prepare(self._settings, rows, scores, reference), scores

    def change(self, update: int, rows: Sequence[PolicyRow], ready: Prepared) -> dict[str, float]:
        """All passes over the rows. Returns means over the changes."""
        settings, found = self._settings, []
        names = sorted({row.group for row in rows})
        for turn in range(settings.passes):
            order = np.random.default_rng([settings.seed, update, turn, 1]).permutation(len(names))
            for part in np.array_split(order, min(settings.parts, len(names))):
                chosen = {names[i] for i in part}
                places = [at for at, row in enumerate(rows) if row.group in chosen]
                found.append(self._step(update, [rows[at] for at in places], ready, places))
        means = {k: float(np.mean([t[k] for t in found])) for k in found[0]}
        return means | {k: found[-1][k] for k in ("kl", "kl_reference") if k in found[-1]}

    def _step(self, update: int, rows: list[PolicyRow], ready: Prepared, places: list[int]) -> dict[str, float]:
        settings, learner = self._settings, self._learner
        own = ready.of(places, {row.session for row in rows}, settings.parts)
        groves = learner.groves(rows)
        scores = learner.score(rows, groves)
        weighed, slopes = judge(settings, rows, scores, own)
        learner.add_gradient(rows, weighed.weights, groves, slopes)
        norm, rate = self._moved(update)
        found = {"loss": weighed.loss, "clipped": weighed.clipped, "grad_norm": norm, "lr": rate,
                 "kl": _apart(rows, [row.old for row in rows], scores.now)}
        if self._reference is not None:
            found["kl_reference"] = _apart(rows, scores.now, own.reference)
        return found

    def learn_from_people(self, update: int, words: PeopleWords) -> dict[str, float]:
        """One change of the weights by what people said, where they said anything. Gives each kind's loss."""
        losses = add_people_gradient(self._settings, self._learner, self._reference, words)
        if losses:
            self._moved(update)
        return losses

    def _moved(self, update: int) -> tuple[float, float]:
        """Follow the gradient; how long it was, and how far it was followed."""
        settings = self._settings
        norm = torch.nn.utils.clip_grad_norm_(self._learner.parameters, settings.clip or float("inf"))
        rate = settings.learning_rate * min(1.0, update / (settings.warmup + 1))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(norm), rate

    def state(self) -> dict[str, Any]:
        """What beside the model's weights the next update needs."""
        critic = self._learner.critic
        return {"optimizer": self.optimizer.state_dict()} | ({"critic": critic.state_dict()} if critic else {})

    def take_up(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.optimizer.load_state_dict(state["optimizer"])
        if self._learner.critic is not None:
            self._learner.critic.load_state_dict(state["critic"])


def _apart(rows: Sequence[PolicyRow], first: Sequence[Reals], other: Sequence[Reals]) -> float:
    """The mean over own tokens of an estimate of KL(first || other): q/p - 1 - log q/p, unbiased for tokens that
    `first` sampled (k3; http://joschu.net/blog/kl-approx.html)."""
    gaps = np.concatenate([(b - a)[row.own] for row, a, b in zip(rows, first, other, strict=True)])
    return float(np.mean(np.exp(gaps) - gaps - 1.0)) if gaps.size else 0.0
