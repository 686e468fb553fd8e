"""The variants: which sessions a model is trained on, and whose verdicts say which of their actions carry loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from study.design import Plan
from study.record import Kind, Recorded
from study.reviewers import CHANCE, EVERYBODY, WRONG

from core.export.options import ExportOptions
from core.export.run import export
from core.training.settings import TrainSettings
from core.workers.export import Report

_HELPED: tuple[Kind, ...] = ("alone", "watched")


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """`kinds` are the sessions per training task; none: the model as it is. `counts` are those whose verdicts count:
    the rules (rule), or somebody by name; "" nobody, every action is trained. `only_solved`: sessions that did all."""

    name: str
    kinds: tuple[Kind, ...] = _HELPED
    counts: str = ""
    only_solved: bool = False

    def sessions(self, recorded: Sequence[Recorded]) -> list[str]:
        """The sessions that it is trained on."""
        return [r.session for r in recorded if r.kind in self.kinds and (r.solved or not self.only_solved)]

    def options(self) -> ExportOptions:
        """A row for each part of a session, also where two went alike (else wrong ones would prevail)."""
        ignored = tuple(f"person:{name}" for name in EVERYBODY if name != self.counts)
        if self.counts == CHANCE:
            ignored = (*ignored, "rule")
        return ExportOptions(balance="weight", react=1, summary=1, verdicts="final" if self.counts else "none",
                             ignored=ignored, dedupe=False, unjudged="keep")


VARIANTS: dict[str, Variant] = {v.name: v for v in (
    Variant(name="untrained", kinds=()),
    Variant(name="unmasked"),
    Variant(name="rules", counts="rule"),
    *(Variant(name=name, counts=name) for name in reversed(WRONG)),
    Variant(name="random", counts=CHANCE),
    Variant(name="solved-only", only_solved=True),
    Variant(name="unguided", kinds=("alone", "unwatched"), counts="reviewer"))}
"""The last has as many sessions of the same tasks: the watched ones as they went on without help."""


def export_rows(log: Path, variant: Variant, recorded: Sequence[Recorded], model: Path, out: Path) -> Report:
    """Write the data set of a variant."""
    return export(log, variant.sessions(recorded), "trl", out, str(model), variant.options())


def train(data: Path, model: Path, out: Path, plan: Plan, rate: float, seed: int) -> Path:
    """Train as `tiphys train` does; gives the folder of the result.

    With `half` under autocast to bfloat16, as the product does by itself on a GPU: the weights stay float32.
    """
    from core.training.train import run

    settings = TrainSettings(
        data=str(data), model=str(model), out=str(out), max_steps=plan.updates, batch=plan.batch,
        micro_batch=plan.batch, learning_rate=rate, min_learning_rate=rate / 10, warmup_steps=plan.warmup, seed=seed,
        save_every=10_000, device="cpu", max_length=2048)
    with _half_precision() if plan.half else contextlib.nullcontext():
        return Path(run(settings).folder)


@contextlib.contextmanager
def _half_precision() -> Iterator[None]:
    import torch

    # without the cache: a weight that was cast before an update must not be used after it
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        yield
