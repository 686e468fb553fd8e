"""The variants: which sessions a model is trained on, and which of their actions carry loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from study.record import Kind

from core.export.options import ExportOptions
from core.export.run import export
from core.training.settings import TrainSettings
from core.workers.export import Report


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """`kinds` are the sessions per training task; none: the model as it is. `verdicts` as in the export's options."""

    name: str
    kinds: tuple[Kind, ...] = ()
    masked: bool = True


VARIANTS: tuple[Variant, ...] = (
    Variant(name="untrained"),
    Variant(name="unmasked", kinds=("alone", "watched"), masked=False),
    Variant(name="masked", kinds=("alone", "watched")),
    Variant(name="masked-without-help", kinds=("alone", "unwatched")))
"""(a) to (d). The last gets as many sessions of the same tasks: the watched ones as they went on without help."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How every trained variant is trained: as many updates as two passes over 96 sessions have."""

    updates: int = 24
    batch: int = 8
    learning_rate: float = 2e-4
    min_learning_rate: float = 2e-5
    warmup: int = 2


def export_rows(log: Path, sessions: list[str], model: Path, out: Path, *, masked: bool) -> Report:
    """Write the data set of a variant: a row per session, also where two went alike (else wrong ones would prevail)."""
    options = ExportOptions(balance="none", verdicts="final" if masked else "none", dedupe=False, unjudged="keep")
    return export(log, sessions, "trl", out, str(model), options)


def train(data: Path, model: Path, out: Path, plan: Plan, seed: int, device: str) -> Path:
    """Train as `tiphys train` does; gives the folder of the result.

    On a CPU under autocast to bfloat16, as the product does by itself on a GPU: the weights stay float32.
    """
    from core.training.train import run

    settings = TrainSettings(
        data=str(data), model=str(model), out=str(out), max_steps=plan.updates, batch=plan.batch,
        micro_batch=plan.batch, learning_rate=plan.learning_rate, min_learning_rate=plan.min_learning_rate,
        warmup_steps=plan.warmup, seed=seed, save_every=10_000, device="cpu" if device == "cpu" else "auto",
        max_length=2048)
    with _half_precision(device):
        return Path(run(settings).folder)


@contextlib.contextmanager
def _half_precision(device: str) -> Iterator[None]:
    import torch

    if device != "cpu":
        yield
        return
    # without the cache: a weight that was cast before an update must not be used after it
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        yield
