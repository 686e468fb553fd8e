"""One variant of the study of people: sessions that a live policy plays, some of them beside an adviser, and what is
learnt of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from study.people_design import ADVISERS, PARTS, Case, Setting
from study.people_start import AdvisedEnvironment, Adviser, advise

from core.agents.playing import play
from core.aio import TaskScope
from core.domain.events import ActionAsked, Fact, GuidanceQueued, SessionCreated, TakeoverAsked, VerdictGiven
from core.domain.ids import new_id
from core.domain.task import Limits
from core.environments.registry import environment_task, open_here
from core.rollouts.batching import Batcher, PolicySession
from core.rollouts.roll_out import ROLLOUT_AGENT
from core.rollouts.rollout import Rollout, rollout_of
from core.rollouts.session_log import StoreLog
from core.store.home import Home


class Sessions:
    """Plays sessions with a live model, some of them advised."""

    def __init__(self, home: Home, model, tokenizer, setting: Setting) -> None:
        from core.llm.local_policy import LocalPolicy

        self._home, self._model, self._setting = home, model, setting
        self._policy = LocalPolicy(model, tokenizer, temperature=1.0, most_at_once=128)

    def played(self, wanted: list[tuple[int, Adviser | None, str]], seed: int, *, greedy: bool = False
               ) -> list[Rollout]:
        """Sessions of items, each with its adviser (None: nobody) and what that one does in it."""
        before = self._model.config._attn_implementation
        self._model.set_attn_implementation("sdpa")
        self._policy._temperature = 0.0 if greedy else 1.0
        try:
            return asyncio.run(self._all(wanted, seed))
        finally:
            self._model.set_attn_implementation(before)

    async def _all(self, wanted, seed):
        batcher = Batcher(self._policy, lambda: len(wanted))
        async with StoreLog(self._home) as store, TaskScope("study") as scope:
            scope.spawn(batcher.run(), name="policy")
            return list(await asyncio.gather(*(
                self._one(store, PolicySession(batcher, f"{seed} {n}"), *one) for n, one in enumerate(wanted))))

    async def _one(self, store: StoreLog, model, item: int, adviser: Adviser | None, part: str):
        task = msgspec.structs.replace(environment_task(self._setting.kind, item=item),
                                       limits=Limits(steps=self._setting.limit, evaluations=None))
        settings = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
            ROLLOUT_AGENT.model, max_output_tokens=12))
        created = SessionCreated(task=task, agent=settings)
        async with store.session(new_id(), created) as place:
            async def tell(*facts: Fact) -> None:
                for fact in facts:
                    await advise(store, place, fact)
                place.signals.ring()

            async def say(text: str) -> None:
                await tell(GuidanceQueued(guidance=new_id(), text=text))

            async def act_instead(command: str) -> None:
                wanted = ActionAsked(tool="act", arguments=json.dumps({"command": command}))
                await tell(*([] if place.inbox.takeover else [TakeoverAsked()]), wanted)

            environment = AdvisedEnvironment(open_here(task.environment), task, adviser,
                                             say if part == "advises" else None,
                                             act_instead if part == "takes over" else None)
            await play(place.journal, place.inbox, place.signals, task, settings, model, environment=environment)
            if adviser is not None and part == "judges":
                await tell(*(VerdictGiven(step=step, value="keep" if done == right else "mask")
                             for step, (done, right) in environment.choices.items()))
            return rollout_of(place.journal.session, [created, *place.journal.facts()], place.journal.blob)


class Trial:
    """One variant of one seed."""

    def __init__(self, folder: Path, start: Path, setting: Setting, case: Case) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from core.export.source import LogSource
        from core.training.learner import Learner

        torch.manual_seed(case.seed)
        self._tokenizer = AutoTokenizer.from_pretrained(str(start))
        self._model = AutoModelForCausalLM.from_pretrained(str(start), dtype=torch.float32)
        self._learner = Learner(self._model)
        self._first = Learner(AutoModelForCausalLM.from_pretrained(str(start), dtype=torch.float32))
        self._adam = torch.optim.AdamW(self._learner.parameters, case.rate, weight_decay=0.0)
        home = Home(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._sessions = Sessions(home, self._model, self._tokenizer, setting)
        self._setting, self._variant, self._seed = setting, case.variant, case.seed
        dice = random.Random(f"{case.seed} {case.adviser}")
        self._adviser = Adviser(ADVISERS[case.adviser], dice) if case.adviser else None
        self._open_source = lambda: LogSource(home.server_db)

    def update(self, number: int) -> None:
        """Play one update's sessions and learn from them."""
        setting = self._setting
        dice = np.random.default_rng([self._seed, number])
        items = [int(item) for item in dice.permutation(setting.learn.numbers)[: setting.tasks]]
        part, share = PARTS.get(self._variant, ("", 0.0))
        half = int(setting.group * share) if share < 1 else 0
        wanted = [(item, self._adviser, part if share == 1 or member < half else "") for item in items
                  for member in range(setting.group)]
        ended = self._sessions.played(wanted, int(dice.integers(1 << 31)))
        groups = [f"u{number}.{n // setting.group}" for n in range(len(ended))]
        getattr(self, f"_{self._variant}")(ended, groups, half)
        import torch

        torch.nn.utils.clip_grad_norm_(self._learner.parameters, 1.0)
        self._adam.step()
        self._adam.zero_grad()

    def _rows(self, ended, groups, chosen=lambda member: True):
        from core.training.rl_play import rows_of

        size = self._setting.group
        return [row for n, (one, group) in enumerate(zip(ended, groups, strict=True)) if chosen(n % size)
                for row in rows_of(one, group, set())]

    def _weigh(self, rows, judged) -> None:
        groves = self._learner.groves(rows)
        self._learner.add_gradient(rows, judged(self._learner.score(rows, groves).now).weights, groves)

    def _policy_gradient(self, rows, advantages) -> None:
        from core.training.objectives import Clip, clipped, shares

        if rows:
            self._weigh(rows, lambda now: clipped(rows, now, advantages, shares(rows, "grpo", 1), Clip()))

    def _grpo(self, ended, groups, half) -> None:
        from core.training.advantages import centred, spread_out
        from core.training.policy_rows import informative

        rows = informative(self._rows(ended, groups, lambda member: member >= half))
        self._policy_gradient(rows, spread_out(rows, centred(rows, {r.session: r.reward for r in rows}, scaled=True)))

    def _sft(self, ended, groups, half) -> None:
        from core.training.objectives import supervised

        rows = [row for row in self._rows(ended, groups) if row.reward >= 0.99]
        if rows:
            self._weigh(rows, lambda now: supervised(rows, now, {row.session: True for row in rows}))

    def _advice(self, ended, groups, half) -> None:
        """Half of the sessions are advised, and teach; the others are played alone, and are compared."""
        from core.training.people import distil

        self._grpo(ended, groups, half)
        pairs = self._pairs(ended, groups, half)
        if pairs:
            distil(self._learner, [p.plain for p in pairs], self._learner, [p.advised for p in pairs], "forward")

    def _pairs(self, ended, groups, half):
        from core.training.people_rows import PlainContexts

        size = self._setting.group
        with contextlib.closing(self._open_source()) as source:
            contexts = PlainContexts(source, self._model, self._tokenizer)
            return [pair for n, (one, group) in enumerate(zip(ended, groups, strict=True)) if n % size < half
                    for pair in contexts.without_advice(one, group)]

    def _takeovers(self, ended, groups, half) -> None:
        """In half of the sessions a person goes on after the first error; what they did is learnt, and the others are
        compared."""
        from core.training.people import corrected
        from core.training.people_rows import PlainContexts

        self._grpo(ended, groups, half)
        with contextlib.closing(self._open_source()) as source:
            contexts = PlainContexts(source, self._model, self._tokenizer)
            rows = [row for n, (one, group) in enumerate(zip(ended, groups, strict=True))
                    if n % self._setting.group < half for row in contexts.corrections(one.session, group)]
        if rows:
            self._weigh(rows, lambda now: corrected(rows, now, 0.1))

    def _branches(self, ended, groups, half) -> None:
        """Of an item the best of all sessions is preferred to the worst, advised or not, on what each said."""
        from core.training.objectives import pairs
        from core.training.people import preferred_suffixes

        plain = self._rows(ended, groups, lambda member: member >= half)
        plain += [pair.plain for pair in self._pairs(ended, groups, half)]
        chosen = pairs(plain, 0.5)
        names = {name for pair in chosen for name in pair}
        rows = [row for row in plain if row.session in names]
        if rows:
            reference = self._first.score(rows).now
            self._weigh(rows, lambda now: preferred_suffixes(rows, now, reference, chosen, 0.1))

    def _verdicts(self, ended, groups, half) -> None:
        from core.training.people import with_verdicts
        from core.training.people_rows import verdict_values

        rows = self._rows(ended, groups)
        with contextlib.closing(self._open_source()) as source:
            given = {one.session: verdict_values(source.trajectory(one.session)) for one in ended}
        self._policy_gradient(rows, with_verdicts(rows, given, 0.5))

    def _masks(self, ended, groups, half) -> None:
        """As plain GRPO, but what was masked is not made likelier."""
        from core.training.advantages import centred, spread_out
        from core.training.objectives import Clip, clipped, shares, unblocked
        from core.training.people_rows import verdict_values
        from core.training.policy_rows import informative
        from core.training.rl_play import rows_of

        with contextlib.closing(self._open_source()) as source:
            masked = {one.session: {step for step, value in verdict_values(source.trajectory(one.session)).items()
                                    if value < 0} for one in ended}
        rows = informative([row for one, group in zip(ended, groups, strict=True)
                            for row in rows_of(one, group, masked[one.session])])
        advantages = spread_out(rows, centred(rows, {r.session: r.reward for r in rows}, scaled=True))
        if rows:
            self._weigh(rows, lambda now: (judged := clipped(
                rows, now, advantages, shares(rows, "grpo", 1), Clip()))._replace(
                    weights=unblocked(rows, judged.weights)))

    def tested(self, items: Sequence[int], *, greedy: bool) -> list[float]:
        """The share of plays of each item that reach the goal, alone."""
        each = 1 if greedy else self._setting.test_group
        wanted = [(item, None, "") for item in items for _ in range(each)]
        found = [float(one.score == 100.0) for one in self._sessions.played(wanted, 7, greedy=greedy)]
        return [float(np.mean(found[n : n + each])) for n in range(0, len(found), each)]
