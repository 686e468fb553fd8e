"""What a run says about itself, one JSON object per update: to a file, and to whoever listens."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from core.domain.errors import InvalidInput
from core.store.home import write_whole
from core.training.launch import is_first
from core.workers.training import Metric, OnMetric

_CARRIED = ("tokens", "computed_tokens", "seconds")
"""Sums that go on after a resume."""

_SPEED = ("tokens_per_s", "mfu", "memory_mb", "trained_share")


def check_finite(logs: dict[str, float], step: int) -> None:
    """Raises InvalidInput (training_diverged) where an update's loss or gradient is no number any more: nothing is
    saved after that, and no figure stands in for it."""
    for name, words in (("loss", "loss"), ("grad_norm", "gradient's norm")):
        if not math.isfinite(float(logs.get(name, 0.0))):
            raise InvalidInput("training_diverged", f"The {words} of update {step} is no number any more (nan or inf): "
                               "the run went apart. Start anew in another folder, with a smaller learning_rate, more "
                               "warmup_steps or a clip.", step=step)


class MetricsCallback(TrainerCallback):  # type: ignore[misc]
    """Writes metrics.jsonl. After a resume it forgets the lines of updates that have to be made again.

    `tokens` and `tokens_per_s` count the rows' tokens, copies too, whatever a lever spares, and so does
    `trained_share`, of the last update; `computed_tokens` went through the model.
    """

    def __init__(self, path: Path, use: OnMetric | None, resumed_at: int) -> None:
        self._path = path
        self._use = use
        lines = _cut_to(path, resumed_at) if is_first() else []
        self._last: dict[str, Any] = lines[-1] if lines else {}
        self._before = {k: self._last.get(k, 0) for k in _CARRIED}
        self._started = time.monotonic()
        self.loss: float | None = None

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl,
               logs: dict[str, Any] | None = None, **_: Any) -> None:
        """One update, or one evaluation, is over."""
        if not state.is_world_process_zero or not logs or not {"loss", "eval_loss"} & set(logs):
            return
        if "loss" in logs:
            metric = self._metric(state, logs)
            self.loss = metric.loss
            self._last = msgspec.to_builtins(metric)
        else:
            metric = Metric(step=state.global_step, steps=state.max_steps, eval_loss=float(logs["eval_loss"]),
                            tokens=self._last.get("tokens"), seconds=self._last.get("seconds"))
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(metric) + b"\n")
        if self._use is not None:
            self._use(metric)

    def _metric(self, state: TrainerState, logs: dict[str, Any]) -> Metric:
        sums = {"tokens": int(logs.get("tokens", 0)), "computed_tokens": int(logs.get("computed_tokens", 0)),
                "seconds": round(time.monotonic() - self._started, 2)}
        return Metric(step=state.global_step, steps=state.max_steps, loss=float(logs["loss"]),
                      lr=float(logs.get("learning_rate", 0.0)), grad_norm=float(logs.get("grad_norm", 0.0)),
                      epoch=round(float(state.epoch or 0.0), 4),
                      **{k: self._before[k] + n for k, n in sums.items()}, **{k: logs[k] for k in _SPEED if k in logs})


class StopCallback(TrainerCallback):  # type: ignore[misc]
    """Ends a run after the update it is at, with a checkpoint, once `asked` is set, in any of the processes."""

    def __init__(self, asked: threading.Event) -> None:
        self._asked = asked

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """An update is over: look whether to stop."""
        if _any_of_them(self._asked.is_set(), args.device):
            control.should_save = control.should_training_stop = True


def _any_of_them(asked: bool, device: torch.device) -> bool:
    """Whether one of the processes that train together was asked: they must stop at the same update."""
    if not torch.distributed.is_initialized():
        return asked
    stop = torch.tensor(int(asked), device=device)
    torch.distributed.all_reduce(stop, op=torch.distributed.ReduceOp.MAX)
    return bool(stop.item())


def _cut_to(path: Path, upto: int) -> list[dict[str, Any]]:
    """The lines up to an update; the file is cut to them (a killed run may have left a half one)."""
    lines: list[dict[str, Any]] = []
    for text in path.read_bytes().splitlines() if path.is_file() and upto else ():
        try:
            line = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            continue
        if line.get("step", 0) <= upto:
            lines.append(line)
    write_whole(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))  # a window may be following it
    return lines
