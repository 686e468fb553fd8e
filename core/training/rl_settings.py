"""What a person chooses about a run of reinforcement learning. The defaults are small, for a model of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from core.domain.errors import InvalidInput
from core.training.objectives import CRITIC, PAIRED, Loss
from core.training.settings import read_as

PeopleKind = Literal["corrections", "advice", "branches", "verdicts"]


class RlSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run. `model` is the folder that the policy starts from, `out` the run's folder, which holds its logs too.

    Each update plays `group` sessions of each of `tasks` tasks of an environment: `kind`, its items of `items` ("0-99",
    or several ranges with commas; "": all), with `options`. `limit` bounds a session's steps; `horizon` sets that bound
    by the update (ScalingInter): "6:100,13:200,20" is 6 up to update 100, 13 up to 200, then 20. With `fresh` each
    update plays games of its own (the environment's seed is the update's number, else 0). The policy samples at
    `temperature`; an answer has at most `max_tokens` tokens. Groups that come out all alike are dropped; with
    `resample` further tasks are played, up to so many times, until there are enough (DAPO).

    `loss` says how advantages and their mean are made (docs/reinforcement.md); `updates` is how often tasks are played,
    and `passes` over the rows in `parts` parts each make so many changes of the weights. Rows of updates up to
    `staleness` before are trained once more, with their ratios; older ones never. Ratios beyond 1 - `clip_low` and
    1 + `clip_high` move nothing. `kl` pulls to the first model, in the loss or in the reward. `longest` is the length
    that dr_grpo divides by. `gamma`, `lam`, `value_weight` and `value_clip` are PPO's; `beta` and `gap` (least
    difference of rewards, 0-1) DPO's; `threshold` (0-1) is what a session must reach for rejection.

    `people` says what is learnt from people after each update: "corrections" (what they did in the agent's place),
    "advice", "branches", "verdicts". Their words are in sessions of the same environment, in the log of the home
    `people_from`, held-out items left aside. Of each kind at most `people_most` rows are drawn for an update; their
    losses count `people_weight` times. `people_gamma` is the γ of corrections (0: plain supervised training),
    `people_verdicts` how much verdicts weigh beside the outcome.

    A step that a person masked is never made more likely; with `masked` "all" it is not changed at all.

    Every `test_every` updates (0: never) the policy plays the held-out items `test_items`, each `test_group` times.
    Weights are saved every `save_every` updates, of which the last `keep` stay.
    """

    model: str
    out: str
    kind: str
    items: str = ""
    options: tuple[str, ...] = ()
    tasks: int = 4
    group: int = 8
    limit: int = 20
    horizon: str = ""
    fresh: bool = False
    max_tokens: int = 64
    temperature: float = 1.0
    resample: int = 0
    at_once: int = 64
    loss: Loss = "grpo"
    updates: int = 100
    passes: int = 1
    parts: int = 1
    staleness: int = 0
    clip_low: float = 0.2
    clip_high: float = 0.2
    kl: float = 0.0
    kl_place: Literal["loss", "reward"] = "loss"
    longest: int = 1024
    gamma: float = 1.0
    lam: float = 1.0
    value_weight: float = 0.5
    value_clip: float = 0.5
    beta: float = 0.1
    gap: float = 0.01
    threshold: float = 0.99
    masked: Literal["positive", "all"] = "positive"
    people: tuple[PeopleKind, ...] = ()
    people_from: str = ""
    people_most: int = 32
    people_weight: float = 1.0
    people_gamma: float = 0.1
    people_verdicts: float = 0.5
    learning_rate: float = 1e-6
    warmup: int = 0
    weight_decay: float = 0.0
    clip: float = 1.0
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    device: Literal["auto", "cpu"] = "auto"
    pack_tokens: int = 8192
    merge_prefixes: bool = True
    test_items: str = ""
    test_every: int = 0
    test_group: int = 1
    save_every: int = 1
    keep: int = 2
    seed: int = 42

    @property
    def metrics(self) -> Path:
        """The run's metrics, one JSON object per line."""
        return Path(self.out) / "metrics.jsonl"

    @property
    def result(self) -> Path:
        """The trained model, in the form that transformers loads."""
        return Path(self.out) / "model"

    @property
    def home(self) -> Path:
        """The home that holds the logs of all sessions of the run."""
        return Path(self.out) / "home"

    @property
    def needs_reference(self) -> bool:
        """Whether the first model stays in memory to be compared with."""
        return self.kl > 0 or self.loss in PAIRED or "branches" in self.people

    def horizon_at(self, update: int) -> int:
        """The most steps of a session in this update, counted from 1: a function of its number alone, so that a run
        that goes on does not jump."""
        return next((steps for steps, until in stages(self.horizon) if until is None or update <= until), self.limit)

    def check(self) -> None:
        """Raises InvalidInput for a choice that cannot be."""
        for field, least in _LEAST.items():
            if getattr(self, field) < least:
                raise _bad(f"{field} is {getattr(self, field)}; it is at least {least}.")
        for field in ("gamma", "lam", "clip_low", "threshold", "gap", "people_gamma"):
            if not 0 <= getattr(self, field) <= 1:
                raise _bad(f"{field} is {getattr(self, field)}; it is between 0 and 1.")
        for field in ("learning_rate", "temperature", "beta", "value_clip"):
            if not 0 < getattr(self, field) < float("inf"):
                raise _bad(f"{field} is {getattr(self, field)}; it is above 0.")
        stages(self.horizon)
        if unnamed := [o for o in self.options if "=" not in o]:
            raise _bad(f"options takes NAME=VALUE, not {unnamed[0]!r}.")
        for text in (self.items, self.test_items):
            ranges(text, 1)
        self._check_unused()

    def _check_unused(self) -> None:
        """A setting that would have no effect is refused where it was changed."""
        defaults = {field.name: field.default for field in msgspec.structs.fields(RlSettings)}
        self._check_people({name for name in _PEOPLE if getattr(self, name) != defaults[name]})
        for changed, losses in _ONLY_WITH.items():
            prefers = changed in ("beta", "gap") and "branches" in self.people
            if getattr(self, changed) != defaults[changed] and self.loss not in losses and not prefers:
                raise _bad(f"{changed} has an effect only with the loss {' or '.join(losses)}; here it is {self.loss}.")
        if self.group == 1 and self.loss not in (*CRITIC, "reinforce++", "rejection"):
            raise _bad(f"With the loss {self.loss} sessions of one task are compared, so group is at least 2.")
        if self.parts > self.tasks:
            raise _bad(f"A group stays in one part, so parts ({self.parts}) is at most tasks ({self.tasks}).")
        if self.kl and self.loss in (*PAIRED, "rejection"):
            raise _bad(f"kl has no effect with the loss {self.loss}.")
        if self.kl_place != "loss" and not self.kl:
            raise _bad("kl_place has an effect only where kl is above 0.")
        if self.test_every and not self.test_items:
            raise _bad("test_every says when held-out items are played, and test_items names none.")

    def _check_people(self, changed: set[str]) -> None:
        if self.people and not self.people_from:
            raise _bad("people says what is learnt from people; people_from has to name the home that holds their "
                       "sessions.")
        for name in sorted(changed):
            if not self.people or _PEOPLE[name] not in ("", *self.people):
                raise _bad(f"{name} has an effect only with people={_PEOPLE[name] or 'corrections, advice, …'}.")


_PEOPLE = {"people_from": "", "people_most": "", "people_weight": "", "people_gamma": "corrections",
           "people_verdicts": "verdicts"}
"""Settings about people, and which kind each is for ("": any)."""

_CLIPPED = ("grpo", "dr_grpo", "dapo", "bnpo", "rloo", "reinforce++", "ppo")

_ONLY_WITH: dict[str, tuple[str, ...]] = {
    "longest": ("dr_grpo",), "lam": CRITIC, "value_weight": CRITIC, "value_clip": CRITIC, "beta": PAIRED,
    "gap": PAIRED, "threshold": ("rejection",), "gamma": ("reinforce++", *CRITIC), "clip_low": _CLIPPED,
    "clip_high": _CLIPPED,
}

_LEAST = {"tasks": 1, "group": 1, "limit": 1, "max_tokens": 1, "resample": 0, "at_once": 1, "updates": 1, "passes": 1,
          "parts": 1, "staleness": 0, "kl": 0, "longest": 1, "value_weight": 0, "warmup": 0, "weight_decay": 0,
          "clip": 0, "clip_high": 0, "people_most": 1, "people_weight": 0, "people_verdicts": 0, "pack_tokens": 2,
          "test_every": 0, "test_group": 1, "save_every": 1, "keep": 1, "seed": 0}
"""The smallest value of a setting that counts or measures something."""


def stages(text: str) -> list[tuple[int, int | None]]:
    """The stages of a horizon: steps, and up to which update (None: to the end). Raises InvalidInput."""
    found: list[tuple[int, int | None]] = []
    for part in filter(None, text.split(",")):
        steps, _, until = part.strip().partition(":")
        if not steps.isdigit() or not int(steps) or (until and not until.isdigit()):
            raise _bad(f"horizon has the stage {part!r}; a stage is STEPS:UPDATE, the last one may be STEPS alone.")
        found.append((int(steps), int(until) if until else None))
    ends = [until for _, until in found if until is not None]
    if ends != sorted(set(ends)) or None in [until for _, until in found[:-1]]:
        raise _bad(f"The stages of horizon {text!r} do not follow each other.")
    return found


def ranges(text: str, count: int) -> list[int]:
    """The numbers of "0-9,20"; all below `count` for an empty text. Raises InvalidInput."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.strip().partition("-")
        if not first.isdigit() or (last and not last.isdigit()) or int(last or first) < int(first):
            raise _bad(f"{part!r} is no range of items; one is FIRST-LAST or one number.")
        found += range(int(first), int(last or first) + 1)
    return found or list(range(count))


def read_rl_settings(values: Mapping[str, str]) -> RlSettings:
    """Settings from texts, as a command line has them; lists have commas. Raises InvalidInput."""
    settings = read_as(RlSettings, values, ("options", "people"))
    settings.check()
    return settings


def _bad(sentence: str) -> InvalidInput:
    return InvalidInput("bad_settings", sentence)
