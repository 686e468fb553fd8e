"""What a study does, written down before it runs: a file of `designs`, whose hash stands with every result."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from study.base import Shape
from study.tasks import Split, StudyTask, long_suite, short_suite

DESIGNS = Path(__file__).parent / "designs"

Decoding = Literal["greedy", "sampled"]
"""Always the likeliest token, or drawn by the model's own probabilities (temperature 1)."""

Measure = Literal["solved", "chores"]
"""What is tested: the share of tasks that are done as a whole, or the share of their chores."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How every variant is trained, but for its learning rate: the rate falls by a cosine to a tenth."""

    updates: int
    batch: int
    warmup: int
    half: bool = False


class Design(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One study. `rates` are the learning rates of which each variant's is chosen by sessions of `tune_seed` on
    tasks of training words that nothing is trained on; one rate: nothing is chosen. `pairs` are the comparisons, first
    minus second, that with all `decodings` make up one family of tests; the first one is the claim. `base` is the small
    model; without it SmolLM2-135M-Instruct is trained. Above `context_tokens` the agent sums its context up.
    `known_words`: held-out tasks are new ones of the words of training, not of words that occur in no training.
    Where no variant reaches a mean score of `least_tuned` on the tuning tasks, the held-out ones are not touched."""

    title: str
    tasks: Literal["long", "short"]
    train_tasks: int
    tune_tasks: int
    held_out_tasks: int
    seeds: tuple[int, ...]
    tune_seed: int
    variants: tuple[str, ...]
    decodings: tuple[Decoding, ...]
    rates: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    plan: Plan
    context_tokens: int
    answer_tokens: int
    measure: Measure = "solved"
    known_words: bool = False
    base: Shape | None = None
    least_tuned: float = 0.0

    def suite(self, split: Literal["train", "tune", "held-out"]) -> list[StudyTask]:
        """The tasks of a split."""
        count = {"train": self.train_tasks, "tune": self.tune_tasks, "held-out": self.held_out_tasks}[split]
        drawn: Split = "new" if split == "held-out" and self.known_words else split
        return long_suite(drawn, count) if self.tasks == "long" else short_suite(drawn)[:count]


def read_design(path: Path) -> tuple[Design, str]:
    """A design and the SHA-256 of its file."""
    data = path.read_bytes()
    return msgspec.toml.decode(data, type=Design), hashlib.sha256(data).hexdigest()


def designs() -> Sequence[str]:
    """The names of all designs."""
    return sorted(p.stem for p in DESIGNS.glob("*.toml"))
