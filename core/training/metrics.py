"""What a run says about itself, one JSON object per update: to a file, and to whoever listens."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from core.training.launch import is_first
from core.workers.training import Metric

OnMetrics = Callable[[dict[str, Any]], None]


class MetricsCallback(TrainerCallback):  # type: ignore[misc]
    """Writes metrics.jsonl. After a resume it forgets the lines of updates that have to be made again.

    `tokens` and `tokens_per_s` count the rows' tokens, copies too, whatever a lever spares, and so does
    `trained_share`, of the last update; `computed_tokens` went through the model.
    """

    def __init__(self, path: Path, say: OnMetrics | None, resumed_at: int) -> None:
        self._path = path
        self._say = say
        self._kept = _keep_lines(path, resumed_at) if is_first() else []
        last = self._kept[-1] if self._kept else {}
        self._before = {k: last.get(k, 0) for k in ("tokens", "computed_tokens", "seconds")}
        self._started = self._last_at = time.monotonic()
        self._last: dict[str, int] = {}
        self.loss: float | None = None
        self._told: dict[str, Any] = self._kept[-1] if self._kept else {}

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl,
               logs: dict[str, Any] | None = None, **_: Any) -> None:
        """One update, or one evaluation, is over."""
        if not state.is_world_process_zero or not logs or not {"loss", "eval_loss"} & set(logs):
            return
        if "loss" in logs:
            metric = self._metric(state, logs)
            self.loss = metric.loss
            self._told = msgspec.to_builtins(metric)
        else:
            metric = Metric(step=state.global_step, steps=state.max_steps, eval_loss=float(logs["eval_loss"]),
                            tokens=self._told.get("tokens"), seconds=self._told.get("seconds"))
        told = msgspec.to_builtins(metric)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(told) + b"\n")
        if self._say is not None:
            self._say(told)

    def _metric(self, state: TrainerState, logs: dict[str, Any]) -> Metric:
        now = time.monotonic()
        done = {k: int(logs.get(f"update_{k}", 0)) for k in ("tokens", "computed", "trained")}
        fresh = {k: n - self._last.get(k, 0) for k, n in done.items()}
        speed = fresh["tokens"] / max(now - self._last_at, 1e-6)
        self._last, self._last_at = done, now
        return Metric(step=state.global_step, steps=state.max_steps, loss=float(logs["loss"]),
                      lr=float(logs.get("learning_rate", 0.0)), grad_norm=float(logs.get("grad_norm", 0.0)),
                      epoch=round(float(state.epoch or 0.0), 4), tokens=self._before["tokens"] + done["tokens"],
                      computed_tokens=self._before["computed_tokens"] + done["computed"],
                      tokens_per_s=round(speed, 1), memory_mb=_memory_mb(),
                      trained_share=round(fresh["trained"] / max(fresh["tokens"], 1), 4),
                      seconds=round(self._before["seconds"] + now - self._started, 2))


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
    told = torch.tensor(int(asked), device=device)
    torch.distributed.all_reduce(told, op=torch.distributed.ReduceOp.MAX)
    return bool(told.item())


def _memory_mb() -> int:
    """The most memory so far: of the first GPU where there is one, else of the process."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated() // 1_000_000)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used // 1_000_000 if sys.platform == "darwin" else used * 1024 // 1_000_000)


def _keep_lines(path: Path, upto: int) -> list[dict[str, Any]]:
    """The lines up to an update; the file is cut to them (a killed run may have left a half one)."""
    kept: list[dict[str, Any]] = []
    for line in path.read_bytes().splitlines() if path.is_file() and upto else ():
        try:
            told = msgspec.json.decode(line)
        except msgspec.DecodeError:
            continue
        if told.get("step", 0) <= upto:
            kept.append(told)
    path.write_bytes(b"".join(msgspec.json.encode(t) + b"\n" for t in kept))
    return kept
