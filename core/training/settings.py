"""What a person chooses about a training run. The defaults are the paper's: one epoch, batch 64, 5e-6 → 1e-6 cosine,
128k tokens (APOLLO §4.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from core.domain.errors import InvalidInput


class TrainSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `data` is an export's folder or file, `model` a model's folder, `out` the run's folder.

    `batch` counts rows per update, over all devices. `max_steps` ends the run early. `method` "lora" trains an adapter
    that is merged into the result. Rows longer than `max_length` are refused, never cut. `save_every` counts updates
    between checkpoints, of which the last `keep` stay. Rows that the export holds out are evaluated every `eval_every`
    updates and at the end (0: with each checkpoint). `gpus` devices share each update; more than one are started as
    processes of their own.

    The levers change what is computed, never the result: `merge_copies` computes equal rows of an update once,
    `merge_chains` (with it) also a row that begins another row; `cut_tail` leaves out what follows the last trained
    token; `packing` puts up to `pack_tokens` tokens of rows (0: as the longest row) side by side without padding, else
    `micro_batch` rows are padded; `head` scores trained positions only, or all; `checkpointing` keeps a layer's
    activations (none), computes them again (full) or all but attention's (selective); auto: none where they fit.
    """

    data: str
    model: str
    out: str
    epochs: float = 1.0
    batch: int = 64
    micro_batch: int = 1
    learning_rate: float = 5e-6
    min_learning_rate: float = 1e-6
    warmup_steps: int = 0
    weight_decay: float = 0.0
    max_length: int = 131_072
    max_steps: int | None = None
    method: Literal["full", "lora"] = "full"
    lora_rank: int = 16
    lora_alpha: int = 32
    save_every: int = 50
    keep: int = 2
    eval_every: int = 0
    seed: int = 42
    device: Literal["auto", "cpu"] = "auto"
    gpus: int = 1
    merge_copies: bool = True
    merge_chains: bool = True
    cut_tail: bool = True
    packing: bool = True
    pack_tokens: int = 0
    head: Literal["supervised", "all"] = "supervised"
    checkpointing: Literal["auto", "none", "full", "selective"] = "auto"

    @property
    def evaluates_every(self) -> int:
        """Updates between evaluations on held-out rows, where there are any."""
        return self.eval_every or self.save_every

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints of the run lie."""
        return Path(self.out) / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The run's metrics, one JSON object per line."""
        return Path(self.out) / "metrics.jsonl"

    @property
    def result(self) -> Path:
        """The trained model, in the form that transformers loads."""
        return Path(self.out) / "model"

    def check(self) -> None:
        """Raises InvalidInput for a choice that cannot be."""
        if min(self.batch, self.micro_batch, self.save_every, self.keep, self.eval_every + 1, self.pack_tokens + 1,
               self.gpus) < 1:
            raise InvalidInput("bad_settings", "Rows, updates and checkpoints are counted from 1.")
        if not 0 <= self.min_learning_rate <= self.learning_rate:
            raise InvalidInput("bad_settings", "The learning rate ends between 0 and where it starts.")
