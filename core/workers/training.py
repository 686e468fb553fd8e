"""What a training process reports on its standard output, one JSON object a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from core.workers.messages import Problem


class Metric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One update (`loss`) or one evaluation (`eval_loss`). Rates per second, times in seconds; `tokens` and
    `tokens_per_s` count the rows' tokens, copies too, `computed_tokens` went through the model. `mfu` is the share of
    the devices' arithmetic that was used, where that is known."""

    step: int
    steps: int = 0
    loss: float | None = None
    lr: float | None = None
    grad_norm: float | None = None
    epoch: float | None = None
    tokens: int | None = None
    computed_tokens: int | None = None
    tokens_per_s: float | None = None
    seconds: float | None = None
    eval_loss: float | None = None
    memory_mb: float | None = None
    trained_share: float | None = None
    mfu: float | None = None


class TrainFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of a training that could not be done."""

    error: Problem


class TrainSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `stopped`: on request, after a checkpoint, to be resumed by running it again."""

    done: bool
    folder: str
    step: int = 0
    steps: int = 0
    loss: float | None = None
    stopped: bool = False
    checkpoint: str = ""
    resumed_at: int = 0


OnMetric = Callable[[Metric], None]
TrainEnd = TrainSummary | TrainFailure


def read_report(line: bytes) -> Metric | TrainEnd:
    """One line of a training. Raises msgspec.DecodeError for anything else."""
    keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    if "error" in keys:
        return msgspec.json.decode(line, type=TrainFailure)
    return msgspec.json.decode(line, type=TrainSummary) if "done" in keys else msgspec.json.decode(line, type=Metric)


def read_reports(lines: Iterable[bytes], use: OnMetric | None) -> TrainEnd | None:
    """Give each metric of a training to `use`; returns how it ended, where it could tell."""
    end: TrainEnd | None = None
    for line in lines:
        try:
            report = read_report(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # a library's own words
        if not isinstance(report, Metric):
            end = report
        elif use is not None:
            use(report)
    return end
