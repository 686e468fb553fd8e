"""What the study of people does, written down before it runs: a file of `people_designs`, whose hash stands with every
result."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

DESIGNS = Path(__file__).parent / "people_designs"

VARIANTS = ("grpo", "sft", "advice", "takeovers", "branches", "verdicts", "masks")
PARTS = {"advice": ("advises", 0.5), "takeovers": ("takes over", 0.5), "branches": ("advises", 0.5),
         "verdicts": ("judges", 1.0), "masks": ("judges", 1.0)}
"""What a person does, and in which share of the sessions. `verdicts` moves advantages, `masks` forbids what was masked
to become likelier."""

ADVISERS = {"true": 0.0, "imperfect": 0.3}
"""How often an adviser names another command than the right one."""


class Items(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Items of an environment: `count` of them, each `step` behind the one before."""

    first: int
    count: int
    step: int = 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.first, self.first + self.count * self.step, self.step))


class Setting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One study. Each of `updates` plays `group` sessions of each of `tasks` items; afterwards each held-out item is
    played `test_group` times sampled, once greedily. Of `rates` each variant gets the best of `tune_seed`, by the first
    `tuned_on` items to learn from; or the one that the design `rates_of` chose. The
    start's own plays go the right way as often as is `shown`, in the games of these seeds; it is each seed's own, or
    one for all."""

    title: str
    kind: str
    learn: Items
    held: Items
    limit: int
    updates: int
    tasks: int
    group: int
    test_group: int
    seeds: tuple[int, ...]
    tune_seed: int = 0
    tuned_on: int = 0
    rates: tuple[float, ...] = ()
    rates_of: str = ""
    shown: float = 0.1
    games: tuple[int, ...] = (0,)
    has_one_start: bool = False


class Case(msgspec.Struct, frozen=True):
    """One unit of work: a variant with an adviser ("": none), a seed and, where rates are tried, a rate."""

    variant: str
    adviser: str
    seed: int
    rate: float = 0.0


def read_design(name: str) -> tuple[Setting, str]:
    """A design and the SHA-256 of its file."""
    data = (DESIGNS / f"{name}.toml").read_bytes()
    return msgspec.toml.decode(data, type=Setting), hashlib.sha256(data).hexdigest()


def designs() -> Sequence[str]:
    """The names of all designs."""
    return sorted(path.stem for path in DESIGNS.glob("*.toml"))


def tunings(setting: Setting) -> list[Case]:
    """Every variant with every rate, with the first of the advisers."""
    if len(setting.rates) < 2:
        return []
    return [Case(variant, next(iter(ADVISERS)) if variant in PARTS else "", setting.tune_seed, rate)
            for rate in setting.rates for variant in VARIANTS]


def cases(setting: Setting) -> list[Case]:
    """Every variant, adviser and seed: a seed whole before the next, and of one the plain ones first."""
    return [Case(variant, adviser, seed) for seed in setting.seeds for adviser in ("", *ADVISERS)
            for variant in VARIANTS if (variant in PARTS) == bool(adviser)]
