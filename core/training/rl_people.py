"""The part of an update that learns from people: one change of the weights, behind those by what the policy played.

A correction is what a person did in the policy's place. How likely they were to do so is not known, so it is no sample
of any policy and has no ratio: it is trained as DAgger does (1011.0686), or with LUFFY's shaped weight (2504.14945).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from core.llm.foreign_model import SAFE, model_config
from core.training.learner import Learner
from core.training.methods import as_masked
from core.training.objectives import Clip, Weighed, clipped, shares
from core.training.people import corrected, distil, preferred_suffixes, with_verdicts
from core.training.people_source import PeopleSource, PeopleWords
from core.training.policy_rows import PolicyRow, Reals
from core.training.rl_settings import RlSettings


def add_people_gradient(settings: RlSettings, learner: Learner, reference: Learner | None, words: PeopleWords
                        ) -> dict[str, float]:
    """Add the gradient of `people_weight` times the sum of the kinds' losses. Gives each kind's loss, without it."""
    strength, losses = settings.people_weight, {}
    if words.corrections:
        losses["corrections"] = _weigh(learner, words.corrections, strength, lambda now: corrected(
            words.corrections, now, settings.people_gamma))
    if words.advised:
        losses["advice"] = distil(learner, [one.plain for one in words.advised], learner,
                                  [one.advised for one in words.advised], weight=strength)
    if words.pairs and reference is not None:
        before = reference.score(words.branches).now
        losses["branches"] = _weigh(learner, words.branches, strength, lambda now: preferred_suffixes(
            words.branches, now, before, words.pairs, settings.beta))
    if words.judged:
        losses["verdicts"] = _weigh(learner, words.judged, strength, lambda now: _judged(settings, words, now))
    return losses


def _judged(settings: RlSettings, words: PeopleWords, now: Sequence[Reals]) -> Weighed:
    rows = words.judged
    gains = with_verdicts(rows, words.verdicts, settings.people_verdicts)
    found = clipped(rows, now, gains, shares(rows, "grpo", settings.longest),
                    Clip(settings.clip_low, settings.clip_high))
    return found._replace(weights=as_masked(settings, rows, found.weights))


def _weigh(learner: Learner, rows: Sequence[PolicyRow], strength: float,
           loss: Callable[[Sequence[Reals]], Weighed]) -> float:
    groves = learner.groves(rows)
    found = loss(learner.score(rows, groves).now)
    learner.add_gradient(rows, [strength * weight for weight in found.weights], groves)
    return found.loss


def would_hear(settings: RlSettings) -> PeopleWords:
    """What a run would find of people's words now, without its weights. Raises as `PeopleSource.words` does."""
    from transformers import AutoTokenizer, GenerationConfig

    config = model_config(settings.model)
    model: Any = SimpleNamespace(config=config, generation_config=GenerationConfig.from_model_config(config))
    return PeopleSource(settings, model, AutoTokenizer.from_pretrained(settings.model, **SAFE)).words()
