"""The sessions of an update: which tasks, played by the policy as it is, and what of their logs is trained."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from core.domain.errors import InvalidInput
from core.domain.task import EnvironmentSettings, Limits, Task
from core.environments.registry import environment_task, kind_of
from core.export.judged import decided
from core.export.options import ExportOptions
from core.export.source import LogSource
from core.llm.local_policy import LocalPolicy
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.rollout import Rollout
from core.rollouts.session_log import StoreLog
from core.store.home import Home
from core.training.policy_rows import PolicyRow, informative, rows_of
from core.training.rl_settings import RlSettings, ranges


class Played(msgspec.Struct, kw_only=True):
    """What an update's sessions came to, all of them and without their tokens; `titles` by group, `errors` by
    session."""

    rewards: list[float] = []
    steps: list[int] = []
    lengths: list[int] = []
    errors: dict[str, list[int]] = {}
    titles: dict[str, str] = {}
    groups: int = 0
    dropped: int = 0
    failed: int = 0
    taken_over: int = 0
    masked: int = 0


class Stage:
    """Plays sessions of a run's environment with a model that somebody trains. Their logs lie in the run's home."""

    def __init__(self, settings: RlSettings, model: Any, tokenizer: Any) -> None:
        self._settings, self._model = settings, model
        self._policy = LocalPolicy(model, tokenizer, temperature=settings.temperature, most_at_once=settings.at_once)
        self._items, self._test_items = chosen_items(settings)
        self._home = Home(settings.home)

    def play(self, update: int) -> tuple[list[PolicyRow], Played]:
        """The rows of an update's sessions. The same weights and number give the same sessions."""
        settings, facts = self._settings, Played()
        rows: list[PolicyRow] = []
        self._policy.version = update - 1
        for turn in range(settings.resample + 1):
            wanted = settings.tasks - (facts.groups - facts.dropped)
            if wanted <= 0:
                break
            dice = np.random.default_rng([settings.seed, update, turn])
            chosen = [self._items[i] for i in _drawn(dice, len(self._items), settings.tasks)]
            tasks = [self._task(item, update if settings.fresh else 0) for item in chosen]
            rows += self._round(tasks, settings.group, settings.horizon_at(update), int(dice.integers(1 << 31)),
                                  f"u{update}.{turn}", facts)
        return rows, facts

    def test(self, update: int) -> tuple[list[float], int]:
        """The rewards of the held-out items after an update, and how many sessions broke; the same dice each time."""
        facts = Played()
        self._policy.version = update
        tasks = [self._task(item, 0) for item in self._test_items]
        self._round(tasks, self._settings.test_group, self._settings.limit, self._settings.seed, "test", facts)
        return facts.rewards, facts.failed

    def _round(self, tasks: list[Task], group: int, limit: int, seed: int, name: str, facts: Played
               ) -> list[PolicyRow]:
        played = self._rolled(tasks, group, limit, seed)
        groups = [played[n : n + group] for n in range(0, len(played), group)]
        rows_of_all: list[PolicyRow] = []
        for number, members in enumerate(groups):
            rows = self._rows(members, f"{name}.{number}", facts)
            facts.titles[f"{name}.{number}"] = members[0].task.title
            facts.groups += 1
            varied = informative(rows) if self._compares else rows
            facts.dropped += not varied
            rows_of_all += rows
        return rows_of_all

    @property
    def _compares(self) -> bool:
        return self._settings.loss not in ("ppo", "reinforce++", "rejection")

    def _rolled(self, tasks: list[Task], group: int, limit: int, seed: int) -> list[Rollout]:
        settings = self._settings
        agent = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
            ROLLOUT_AGENT.model, max_output_tokens=settings.max_tokens))

        async def rolled() -> list[Rollout]:
            async with StoreLog(self._home) as log:
                return await roll_out(self._policy, tasks, group_size=group, log=log, limits=Limits(steps=limit),
                                      settings=agent, at_once=len(tasks) * group, seed=seed, in_step=True)

        with _plain_attention(self._model):
            return asyncio.run(rolled())

    def _task(self, item: int, seed: int) -> Task:
        return environment_task(self._settings.kind, item=item, seed=seed, **_options(self._settings))

    def _rows(self, members: Sequence[Rollout], group: str, facts: Played) -> list[PolicyRow]:
        """The rows of a group's sessions. One in which a person acted is none of them: its reward is not the policy's,
        and how likely the person was to act so is not known, so no ratio could make it so."""
        whole = [m for m in members if m.score is not None]
        own = [m for m in whole if not m.people]
        facts.failed += len(members) - len(whole)
        facts.taken_over += len(whole) - len(own)
        found: list[PolicyRow] = []
        for one in own:
            rows = rows_of(one, group, self._masked(one.session))
            facts.rewards.append((one.score or 0.0) / 100)
            facts.steps.append(one.steps)
            facts.lengths.append(sum(int(r.own.sum()) for r in rows))
            facts.errors[one.session] = one.errors
            facts.masked += len({int(s) for r in rows for s in r.steps[r.blocked]})
            found += rows
        return found

    def _masked(self, session: str) -> set[int]:
        """The steps that people masked while the session ran."""
        source = LogSource(self._home.server_db)
        with contextlib.closing(source):
            judged = [entry for entry in source.trajectory(session).steps if entry.verdicts]
            return {entry.head.number for entry in judged if decided(entry, ExportOptions()) == "mask"}


def chosen_items(settings: RlSettings) -> tuple[list[int], list[int]]:
    """The items that are played to learn, and those held out. Raises InvalidInput, Unavailable."""
    count = kind_of(EnvironmentSettings(kind=settings.kind, options=_options(settings))).count()
    return (_within(settings, ranges(settings.items, count), count),
            _within(settings, ranges(settings.test_items, 0), count))


def _options(settings: RlSettings) -> dict[str, str]:
    return dict(o.split("=", 1) for o in settings.options)


def _drawn(dice: np.random.Generator, count: int, wanted: int) -> list[int]:
    """Places without repeats, as far as there are enough."""
    drawn: list[int] = []
    while len(drawn) < wanted:
        drawn += dice.permutation(count)[: wanted - len(drawn)].tolist()
    return drawn


def _within(settings: RlSettings, chosen: list[int], count: int) -> list[int]:
    if chosen and max(chosen) >= count:
        raise InvalidInput("no_item", f"{settings.kind} has {count} items, counted from 0; {max(chosen)} is none.")
    return chosen


@contextlib.contextmanager
def _plain_attention(model: Any) -> Iterator[None]:
    """Attention as for any generation, and then again as training had it."""
    before = model.config._attn_implementation
    model.set_attn_implementation("sdpa")
    try:
        yield
    finally:
        model.set_attn_implementation(before)
