"""Reinforcement learning on sessions: play groups with the policy as it is, make rows of their logs, change it.

Killed between any two writes it ends with the weights of an undisturbed run: sessions that were not all played are
played again by the same weights and dice, and an update is made again from the last weights that were saved.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from core.llm.extra import require_extra
from core.llm.foreign_model import SAFE, load_model, model_config
from core.training.learner import Learner
from core.training.people_source import PeopleSource, drawn
from core.training.policy_rows import PolicyRow, Reals, by_session, fresh, informative
from core.training.rl_change import Changer
from core.training.rl_people import would_hear
from core.training.rl_play import Played, Stage, chosen_items
from core.training.rl_settings import RlSettings
from core.training.rl_state import RunFolder
from core.workers.reinforcement import GroupSheet, OnRlMetric, RlMetric, RlPlan, SessionSheet, StepSheet
from core.workers.training import TrainSummary

ALL = 0.999
"""The reward from which on a session counts as solved."""


def run_rl(settings: RlSettings, on_metric: OnRlMetric | None = None, stop: threading.Event | None = None
           ) -> TrainSummary:
    """Run all updates; called again with the same folder it goes on where it was. Setting `stop` ends it after one.

    Raises InvalidInput for settings or a model that cannot be, Conflict where the folder holds another run,
    Unavailable without the training extra or the environment's.
    """
    require_extra("torch", "transformers", "jinja2")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    settings.check()
    model_config(settings.model)
    folder = RunFolder(settings)
    folder.claim()
    resumed = min(folder.last(), settings.updates)
    if settings.result.is_dir() and folder.last() >= settings.updates:  # fewer than are asked for now: it goes on
        return TrainSummary(done=True, folder=str(settings.result), step=resumed, steps=settings.updates)
    folder.cut_metrics(resumed)
    campaign = _Campaign(settings, folder, resumed, on_metric)
    asked = stop or threading.Event()
    if not resumed:
        campaign.begin()
    for update in range(resumed + 1, settings.updates + 1):
        campaign.update(update, last=update == settings.updates or asked.is_set())
        if asked.is_set() and update < settings.updates:
            campaign.save(update)
            return TrainSummary(done=False, stopped=True, folder=settings.out, step=update, steps=settings.updates,
                                checkpoint=str(folder.weights(update)), resumed_at=resumed)
    campaign.end()
    return TrainSummary(done=True, folder=str(settings.result), step=settings.updates, steps=settings.updates,
                        resumed_at=resumed)


def plan_rl(settings: RlSettings) -> RlPlan:
    """What a run would do; nothing is played or written. Raises as `run_rl` does, NotFound for a home without a log."""
    require_extra("torch", "transformers", "jinja2")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    settings.check()
    model_config(settings.model)
    items, test_items = chosen_items(settings)
    words = would_hear(settings) if settings.people else None
    return RlPlan(updates=settings.updates, items=len(items), test_items=len(test_items),
                  sessions_an_update=settings.tasks * settings.group, people=words.counts if words else {},
                  left_out=words.left_out if words else {})


class _Campaign:
    """A run that is loaded."""

    def __init__(self, settings: RlSettings, folder: RunFolder, resumed: int, on_metric: OnRlMetric | None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # weights are written after every update
        self._settings, self._folder, self._on_metric = settings, folder, on_metric
        self._dtype = model_config(settings.model).dtype or torch.float32
        on_gpu = settings.device == "auto" and torch.cuda.is_available()
        self._low = settings.precision == "bf16" or (settings.precision == "auto" and on_gpu)

        def loaded(path: Any) -> Any:
            model = load_model(AutoModelForCausalLM, path, dtype=torch.float32)
            return model.to("cuda") if on_gpu else model

        self._model = loaded(folder.weights(resumed))
        self._tokenizer = AutoTokenizer.from_pretrained(settings.model, **SAFE)
        self._learner = self._learning(self._model, critic=settings.loss == "ppo")
        reference = self._learning(loaded(settings.model)) if settings.needs_reference else None
        self._changer = Changer(settings, self._learner, reference)
        if resumed:
            self._changer.take_up(folder.rest(resumed))
        self._stage = Stage(settings, self._model, self._tokenizer)
        self._people = PeopleSource(settings, self._model, self._tokenizer) if settings.people else None
        self._saved = resumed

    def _learning(self, model: Any, *, critic: bool = False) -> Learner:
        settings = self._settings
        return Learner(model, temperature=settings.temperature, most=settings.pack_tokens,
                       share=settings.merge_prefixes, critic=critic, low=self._low)

    def begin(self) -> None:
        """Look at the held-out items before anything is learnt."""
        if self._settings.test_every:
            self._tell(RlMetric(update=0, updates=self._settings.updates, **self._tested(0)))

    def update(self, number: int, *, last: bool) -> None:
        """Play, learn, tell, and save where it is time."""
        settings, began = self._settings, time.monotonic()
        rows, played = self._played(number)
        between = time.monotonic()
        used = self._used(number, rows)
        facts = self._learnt(number, rows, used, played) | self._learnt_from_people(number)
        facts |= _counted(played) | {"horizon": settings.horizon_at(number)}
        facts |= {"play_s": round(between - began, 2), "train_s": round(time.monotonic() - between, 2)}
        if settings.test_every and (number % settings.test_every == 0 or number == settings.updates):
            facts |= self._tested(number)
        self._tell(RlMetric(update=number, updates=settings.updates, **facts))
        if last or number % settings.save_every == 0:
            self.save(number)

    def save(self, number: int) -> None:
        """Keep the weights after an update, once."""
        if self._saved < number:
            self._folder.save(number, self._model, self._tokenizer, self._changer.state())
            self._saved = number

    def end(self) -> None:
        """Write the trained model."""
        self._model.set_attn_implementation("sdpa")
        self._folder.save_result(self._model, self._tokenizer, self._dtype)

    def _played(self, number: int) -> tuple[list[PolicyRow], Played]:
        found = self._folder.played(number)
        if found is None:
            found = self._stage.play(number)
            self._folder.save_played(number, *found)
        return found

    def _used(self, number: int, rows: list[PolicyRow]) -> list[PolicyRow]:
        """What an update trains: its own sessions, and those of updates before that are not too old."""
        settings, found = self._settings, list(rows)
        for before in range(max(number - settings.staleness, 1), number):
            again = self._folder.played(before)
            found += again[0] if again is not None else []
        found = fresh(found, number - 1, settings.staleness)
        return found if settings.loss in ("ppo", "reinforce++", "rejection") else informative(found)

    def _learnt(self, number: int, rows: list[PolicyRow], used: list[PolicyRow], played: Played) -> dict[str, Any]:
        if not used:
            self._folder.save_sheets(number, sheets(number, rows, [], None, played, self._tokenizer))
            return {}
        ready, scores = self._changer.prepared(used)
        seen = ready.advantages, scores.entropy
        self._folder.save_sheets(number, sheets(number, rows, used, seen, played, self._tokenizer))
        if self._settings.loss == "rejection" and not any(ready.by_name.values()):
            return {}
        if self._settings.loss == "dpo" and not ready.pairs:
            return {}
        facts = self._changer.change(number, used, ready)
        entropy = np.concatenate([e[row.own] for e, row in zip(scores.entropy, used, strict=True)])
        ages = [number - 1 - row.version for row in used]
        return {k: float(f"{v:.6g}") for k, v in facts.items()} | {
            "entropy": round(float(entropy.mean()), 5), "staleness": round(float(np.mean(ages)), 3),
            "tokens": sum(int(row.ids.size) for row in used)}

    def _learnt_from_people(self, number: int) -> dict[str, Any]:
        if self._people is None:
            return {}
        words = self._folder.people(number)
        if words is None:
            words = drawn(self._people.words(), self._settings.people_most, [self._settings.seed, number, 2])
            self._folder.save_people(number, words)
        losses = self._changer.learn_from_people(number, words)
        return {"people": {kind: float(f"{loss:.6g}") for kind, loss in losses.items()}, "people_count": words.counts}

    def _tested(self, update: int) -> dict[str, Any]:
        rewards, failed = self._stage.test(update)
        return {"test_reward": round(float(np.mean(rewards)), 5) if rewards else None,
                "test_solved": round(float(np.mean(np.array(rewards) >= ALL)), 5) if rewards else None,
                "test_sessions": len(rewards) + failed}

    def _tell(self, metric: RlMetric) -> None:
        self._folder.add_metric(metric)
        if self._on_metric is not None:
            self._on_metric(metric)


def _counted(played: Played) -> dict[str, Any]:
    sessions = len(played.rewards)
    facts: dict[str, Any] = {
        "sessions": sessions + played.failed + played.taken_over, "failed": played.failed, "groups": played.groups,
        "taken_over": played.taken_over, "groups_dropped": played.dropped, "masked_steps": played.masked}
    if sessions:
        rewards = np.array(played.rewards)
        facts |= {"reward": round(float(rewards.mean()), 5), "reward_spread": round(float(rewards.std()), 5),
                  "solved": round(float((rewards >= ALL).mean()), 5), "steps": round(float(np.mean(played.steps)), 3),
                  "errors": round(float(np.mean([len(e) for e in played.errors.values()])), 3),
                  "length": round(float(np.mean(played.lengths)), 2)}
    return facts


_MOST_TEXT = 400


def sheets(update: int, rows: Sequence[PolicyRow], used: Sequence[PolicyRow],
           found_out: tuple[Sequence[Reals], Sequence[Reals]] | None, played: Played, tokenizer: Any
           ) -> list[GroupSheet]:
    """The groups that were played for an update, with what is learnt from those that are used: `found_out` holds
    their advantages and entropies by token."""
    trained = {id(row): at for at, row in enumerate(used)}
    nothing = np.zeros(0)
    found: dict[str, list[SessionSheet]] = {}
    for session, places in by_session(rows).items():
        steps: list[StepSheet] = []
        for at in places:
            place = trained.get(id(rows[at]))
            columns = (nothing, nothing) if place is None or found_out is None else (
                found_out[0][place], found_out[1][place])
            steps += _steps(rows[at], columns, played.errors.get(session, []), tokenizer)
        first = rows[places[0]]
        tokens = sum(s.tokens for s in steps)
        mean = sum(s.advantage * s.tokens for s in steps) / max(tokens, 1)
        found.setdefault(first.group, []).append(SessionSheet(
            session=session, reward=first.reward, advantage=round(mean, 5), version=first.version, steps=steps))
    groups = {row.group for row in used}
    return [GroupSheet(update=update, group=name, task=played.titles.get(name, ""), dropped=name not in groups,
                       sessions=members) for name, members in found.items()]


def _steps(row: PolicyRow, columns: tuple[Reals, Reals], errors: Sequence[int], tokenizer: Any) -> list[StepSheet]:
    found = []
    for number in sorted({int(s) for s in row.steps[row.own]}):
        mine = row.own & (row.steps == number)
        advantage, entropy = (float(c[mine].mean()) if c.size else 0.0 for c in columns)
        text = tokenizer.decode(row.ids[mine].tolist(), skip_special_tokens=True)[:_MOST_TEXT]
        found.append(StepSheet(number=number, text=text, tokens=int(mine.sum()), advantage=round(advantage, 5),
                               entropy=round(entropy, 5), log_prob=round(float(row.old[mine].mean()), 5),
                               is_error=number in errors, masked=bool(row.blocked[mine].any())))
    return found
