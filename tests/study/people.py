"""Learning from people against learning without them, at equal samples: a small policy, true and imperfect advisers.

`python -m study.people OUT [--kind babyai] [--seeds 5] …` plays, trains and tests every variant of every seed, one line
of OUT/results.jsonl each, and goes on where it was cut; `--table` prints what there is. Sessions are the product's own,
advice and verdicts are events of their logs, and what is trained is read from there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
from study.intervals import interval, paired
from study.people_start import ADVISERS, AdvisedEnvironment, Adviser, advise, people_start

from core.agents.playing import play
from core.aio import TaskScope
from core.domain.events import ActionAsked, Fact, GuidanceQueued, SessionCreated, TakeoverAsked, VerdictGiven
from core.domain.ids import new_id
from core.domain.task import Limits
from core.environments.registry import environment_task, open_environment
from core.rollouts.batching import Batcher, PolicySession
from core.rollouts.roll_out import ROLLOUT_AGENT
from core.rollouts.rollout import Rollout, rollout_of
from core.rollouts.session_log import StoreLog
from core.store.home import Home

VARIANTS = ("grpo", "sft", "advice", "takeovers", "branches", "verdicts")
PARTS = {"advice": ("advises", 0.5), "takeovers": ("takes over", 0.5), "branches": ("advises", 0.5),
         "verdicts": ("judges", 1.0)}
"""What a person does, and in which share of the sessions."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Each update plays `group` sessions of each of `tasks` items."""

    kind: str = "babyai"
    learn: tuple[int, ...] = tuple(range(4, 2804, 40))
    held: tuple[int, ...] = tuple(range(2804, 4000, 40))
    limit: int = 4
    updates: int = 12
    tasks: int = 4
    group: int = 8
    rate: float = 1e-3
    test_group: int = 2


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

            environment = AdvisedEnvironment(open_environment(task.environment), task, adviser,
                                             say if part == "advises" else None,
                                             act_instead if part == "takes over" else None)
            await play(place.journal, place.inbox, place.signals, task, settings, model, environment=environment)
            if adviser is not None and part == "judges":
                await tell(*(VerdictGiven(step=step, value="keep" if done == right else "mask")
                             for step, (done, right) in environment.choices.items()))
            return rollout_of(place.journal.session, [created, *place.journal.facts()], place.journal.blob)


class Trial:
    """One variant of one seed."""

    def __init__(self, folder: Path, start: Path, setting: Setting, variant: str, adviser: str, seed: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from core.export.source import LogSource
        from core.training.learner import Learner

        torch.manual_seed(seed)
        self._tokenizer = AutoTokenizer.from_pretrained(str(start))
        self._model = AutoModelForCausalLM.from_pretrained(str(start), dtype=torch.float32)
        self._learner = Learner(self._model)
        self._first = Learner(AutoModelForCausalLM.from_pretrained(str(start), dtype=torch.float32))
        self._adam = torch.optim.AdamW(self._learner.parameters, setting.rate, weight_decay=0.0)
        home = Home(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._sessions = Sessions(home, self._model, self._tokenizer, setting)
        self._setting, self._variant, self._seed = setting, variant, seed
        self._adviser = Adviser(ADVISERS[adviser], random.Random(f"{seed} {adviser}")) if adviser else None
        self._open_source = lambda: LogSource(home.server_db)

    def update(self, number: int) -> None:
        """Play one update's sessions and learn from them."""
        setting = self._setting
        dice = np.random.default_rng([self._seed, number])
        items = [setting.learn[i] for i in dice.permutation(len(setting.learn))[: setting.tasks]]
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

    def tested(self, *, greedy: bool) -> list[float]:
        """The share of plays of each held-out item that reach the goal, alone."""
        each = 1 if greedy else self._setting.test_group
        wanted = [(item, None, "") for item in self._setting.held for _ in range(each)]
        found = [float(one.score == 100.0) for one in self._sessions.played(wanted, 7, greedy=greedy)]
        return [float(np.mean(found[n : n + each])) for n in range(0, len(found), each)]


def cases(seeds: int) -> list[tuple[str, str, int]]:
    """Every variant, adviser and seed: a seed whole before the next, and of one the plain ones first."""
    return [(variant, adviser, seed) for seed in range(1, seeds + 1) for adviser in ("", *ADVISERS)
            for variant in VARIANTS if (variant in PARTS) == bool(adviser)]


def run(out: Path, setting: Setting, seeds: int, minutes: float) -> None:
    """Play what is not done yet, as long as there is time."""
    until = time.monotonic() + 60 * minutes
    results = out / "results.jsonl"
    done = {(one["variant"], one["adviser"], one["seed"]) for one in read(results) if one["kind"] == setting.kind}
    for variant, adviser, seed in cases(seeds):
        if (variant, adviser, seed) in done:
            continue
        if time.monotonic() > until:
            return
        start = people_start(out / f"start-{setting.kind}-{seed}", setting, seed)
        began = time.monotonic()
        name = f"{setting.kind}-{variant}-{adviser}-{seed}-{new_id()[-6:]}"
        trial = Trial(out / "homes" / name, start, setting, variant, adviser, seed)
        before = [trial.tested(greedy=greedy) if variant == "grpo" else [] for greedy in (False, True)]
        for number in range(1, setting.updates + 1):
            trial.update(number)
        line = {"kind": setting.kind, "variant": variant, "adviser": adviser, "seed": seed, "before": before[0],
                "before_greedy": before[1],
                "sampled": trial.tested(greedy=False), "greedy": trial.tested(greedy=True),
                "sessions": setting.updates * setting.tasks * setting.group,
                "seconds": round(time.monotonic() - began, 1)}
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        sys.stdout.write(f"{variant:<10} {adviser:<10} seed {seed}: {np.mean(line['sampled']):.3f} sampled, "
                         f"{np.mean(line['greedy']):.3f} greedy, {line['seconds']} s\n")
        sys.stdout.flush()


def read(path: Path) -> list[dict]:
    """The lines of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(out: Path, kind: str) -> list[str]:
    """Each variant with its mean over seeds and items, 95 % by a bootstrap over both, and the same of its difference to
    plain GRPO on the seeds and items that both have."""
    found: dict[tuple[str, str], dict[int, dict]] = {}
    for one in read(out / "results.jsonl"):
        if one["kind"] == kind:
            found.setdefault((one["variant"], one["adviser"]), {})[one["seed"]] = one
    plain = found.get(("grpo", ""), {})
    lines = ["| variant | adviser | seeds | sampled | greedy | sampled, less plain GRPO |", "|---|---|---|---|---|---|"]
    if plain:
        lines.append(f"| the start | | {len(plain)} | {_share(_by_item(plain, 'before'))} | "
                     f"{_share(_by_item(plain, 'before_greedy'))} | |")
    for (variant, adviser), seeds in found.items():
        own, base = _by_item(seeds, "sampled"), _by_item(plain, "sampled")
        less = ""
        if variant != "grpo" and own.keys() & base.keys():
            found_less = paired(own, base)
            less = f"{100 * found_less.mean:+.0f} ({100 * found_less.low:+.0f} to {100 * found_less.high:+.0f})"
        lines.append(f"| {variant} | {adviser} | {len(seeds)} | {_share(own)} | {_share(_by_item(seeds, 'greedy'))} | "
                     f"{less} |")
    return lines


def _by_item(seeds: dict[int, dict], column: str) -> dict[tuple[int, str], float]:
    return {(seed, str(n)): value for seed, one in seeds.items() for n, value in enumerate(one[column])}


def _share(values: dict[tuple[int, str], float]) -> str:
    low, high = interval(values)
    return f"{100 * sum(values.values()) / len(values):.0f} % ({100 * low:.0f}-{100 * high:.0f})"


SETTINGS = {"babyai": Setting(), "textcraft": Setting(
    kind="textcraft", learn=tuple(range(100)), held=tuple(range(100, 125)), limit=6)}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=sorted(SETTINGS), default="babyai")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--minutes", type=float, default=1e9, help="begin nothing new after so long")
    parser.add_argument("--table", action="store_true", help="print what there is, and run nothing")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    setting = SETTINGS[given.kind]
    changed = {k: v for k in ("updates", "rate") if (v := getattr(given, k)) is not None}
    if not given.table:
        run(given.out, msgspec.structs.replace(setting, **changed), given.seeds, given.minutes)
    sys.stdout.write("\n".join(table(given.out, given.kind)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
