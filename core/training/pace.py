"""How fast a run is: tokens a second, the share of the devices' arithmetic that it uses, memory."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from core.training.packing import Work, work_of

PEAK_TFLOPS = {"H100 PCIe": 756, "H100": 989, "H200": 989, "H800": 989, "GH200": 989, "H20": 148, "A100": 312,
               "A800": 312, "B200": 2250, "GB200": 2500, "L40S": 362, "A10": 125, "RTX 4090": 165}
"""Dense bfloat16 arithmetic of a GPU by a part of its name (the makers' data sheets), without sparsity."""


class Flops(NamedTuple):
    """Floating-point operations of an update's forward and backward pass, without what is computed again: `layers`
    times the work of a row, and `per_score` for each position that is scored. `passes` is 3 where all weights are
    trained, 2 where only an adapter is: then no weight's own gradient is made."""

    work: Work
    layers: int
    per_score: float
    passes: int

    def of(self, lengths: Sequence[int], scored: int) -> float:
        """The operations for rows of these lengths of which `scored` positions are scored."""
        rows = sum(self.work.of(n) for n in lengths)
        return 2.0 * self.passes * (self.layers * rows + self.per_score * scored)


def flops_of(config: Any, *, adapter: bool) -> Flops:
    """From a model's text configuration."""
    return Flops(work_of(config), config.num_hidden_layers, float(config.hidden_size * config.vocab_size),
                 2 if adapter else 3)


def peak_flops(device: torch.device, stated: float = 0.0) -> float | None:
    """What one device could compute in a second: as `stated` (in units of 10¹²), else by its name, else not known."""
    if stated:
        return stated * 1e12
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    known = [key for key in PEAK_TFLOPS if key in name]
    return PEAK_TFLOPS[max(known, key=len)] * 1e12 if known else None


def memory_mb() -> int:
    """The most memory so far: of this process's GPU where there is one, else of the process."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated() // 1_000_000)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used // 1_000_000 if sys.platform == "darwin" else used * 1024 // 1_000_000)


class Pace:
    """Counts what updates did, over all devices, and says it for the updates since it was last asked.

    `peak` is what all devices together could compute in a second; None: not known.
    """

    def __init__(self, flops: Flops, peak: float | None) -> None:
        self._flops, self._peak = flops, peak
        self._counts = dict.fromkeys(("tokens", "computed_tokens", "trained_tokens"), 0)
        self._fresh = dict(self._counts)
        self._operations = 0.0
        self._since = time.monotonic()

    def add(self, update: Any) -> None:
        """One update was computed."""
        for name in self._fresh:
            self._fresh[name] += update[name]
        self._operations += self._flops.of(update["lengths"], update["scored"])

    def metrics(self) -> dict[str, float]:
        """The metrics of the updates since the last call; `tokens` and `computed_tokens` are of all updates."""
        now = time.monotonic()
        seconds = max(now - self._since, 1e-6)
        for name, count in self._fresh.items():
            self._counts[name] += count
        rows, self._fresh = self._fresh, dict.fromkeys(self._fresh, 0)
        speed = {"tokens_per_s": round(rows["tokens"] / seconds, 1),
                 "trained_share": round(rows["trained_tokens"] / max(rows["tokens"], 1), 4),
                 "memory_mb": memory_mb()}
        if self._peak is not None:
            speed["mfu"] = round(self._operations / seconds / self._peak, 6)
        self._since, self._operations = now, 0.0
        return {"tokens": self._counts["tokens"], "computed_tokens": self._counts["computed_tokens"], **speed}
