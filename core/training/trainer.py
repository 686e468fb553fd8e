"""TRL's trainer, an update at a time: loss = Σ w·l / Σ w over the trained tokens of the update, on all devices.

So a row (or a region of a row) of weight 7 counts in an update exactly like seven copies of it, at the price of one,
however the rows of the update are merged, packed and dealt out.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import DistributedType
from torch.utils.data import DataLoader
from trl import SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from core.training.checkpoints import begin, remove_older, seal
from core.training.head import IGNORED, TokenWeights
from core.training.kernels import attention_kernel
from core.training.metrics import check_finite
from core.training.pace import Pace
from core.training.sharding import plugin, shards, shards_on_processor
from core.training.updates import Shuffled, Update, UpdateCollator, Updates


class WeightedCollator(DataCollatorForLanguageModeling):  # type: ignore[misc]
    """Pads a batch; labels are taken as they are, and `weights` holds each token's weight (1 in the padding)."""

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """The batch of some rows."""
        batch: dict[str, Any] = super().torch_call(examples)
        weights = torch.ones(batch["labels"].shape, dtype=torch.float32)
        for at, example in enumerate(examples):
            own = example.get("weights")
            if own is not None:
                weights[at, : len(own)] = torch.as_tensor(own, dtype=torch.float32)
            elif example.get("weight") is not None:
                weights[at] = float(example["weight"])
        batch["weights"] = weights
        return batch


class _Dropped(Exception):
    """An update was given up half-way."""


class MaskedTrainer(SFTTrainer):  # type: ignore[misc]
    """Loss on the trained tokens only, by weight where the rows or their tokens have one."""

    updates: UpdateCollator
    """Makes an update of its rows; to be set before training."""

    pace: Pace
    """Counts updates; to be set before training."""

    batch_rows: int = 1
    """Rows an update, over all devices."""

    keep: int = 2
    """Checkpoints that stay."""

    attention: str = "auto"
    """The kernel that computes attention."""

    asked: threading.Event | None = None
    """Set to end the run; of a single process also within an update, which can take minutes."""

    def _build_accelerator_args(self, **more: Any) -> dict[str, Any]:
        args: dict[str, Any] = super()._build_accelerator_args(**more)
        if shards():
            args["fsdp_plugin"] = plugin(torch.bfloat16 if self.args.bf16 else torch.float32)
        return args

    def create_accelerator_and_postprocess(self) -> None:
        """As the engine does, and sharded on a processor too."""
        with shards_on_processor(shards() and self.args.use_cpu):
            super().create_accelerator_and_postprocess()

    def run(self, checkpoint: Path | None) -> None:
        """Train, from a checkpoint where there is one. Once `asked` the last whole update is kept as a checkpoint."""
        try:
            with warnings.catch_warnings():  # the engine warns of its own use of an old name
                warnings.simplefilter("ignore", FutureWarning)
                self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        except _Dropped:
            self.model.zero_grad()
            if self.state.global_step:
                self._save_checkpoint(self.model, None)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """As the engine does, but that a folder counts only once all that every process wrote is on the disk."""
        folder = Path(self._get_output_dir(trial)) / f"checkpoint-{self.state.global_step}"
        if self.args.should_save:
            begin(folder)
        self.accelerator.wait_for_everyone()
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            seal(folder)
            remove_older(folder.parent, self.keep)
        self.accelerator.wait_for_everyone()  # whoever looked for whole ones meanwhile would remove it

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        self._signature_columns += [n for n in ("weight", "weights") if n not in self._signature_columns]

    def get_train_dataloader(self) -> DataLoader[Update]:
        """The updates, the same ones on every device: each takes its part of them."""
        rows = Shuffled(len(self.train_dataset), self.batch_rows, self.args.seed)
        return Updates(self.train_dataset, batch_sampler=rows, collate_fn=self.updates)

    def training_step(self, model: Any, inputs: dict[str, Any], num_items_in_batch: Any = None) -> torch.Tensor:
        """One update: forward and backward of each of its parts."""
        parts, losses = inputs["parts"], []
        for at, part in enumerate(parts):
            if at and self.asked is not None and self.accelerator.num_processes == 1 and self.asked.is_set():
                raise _Dropped
            quiet = self._quiet(model) if at + 1 < len(parts) else contextlib.nullcontext()
            with quiet, attention_kernel(self.attention):
                losses.append(super().training_step(model, part, num_items_in_batch))
        self.pace.add(inputs)
        return torch.stack(losses).sum()

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """As the engine, with the run's pace: every tracker gets it. Raises InvalidInput (training_diverged)."""
        if "loss" in logs:
            check_finite(logs, self.state.global_step)
            logs |= self.pace.metrics()
        super().log(logs, start_time)

    def _quiet(self, model: Any) -> contextlib.AbstractContextManager[Any]:
        """Gradients are summed over devices once an update, but where that would keep them whole in memory."""
        if self.accelerator.distributed_type == DistributedType.FSDP:
            return contextlib.nullcontext()
        return self.accelerator.no_sync(model=model)  # type: ignore[no-any-return]

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of one part of an update, or of a batch by itself."""
        weights = inputs.pop("weights")
        if return_outputs:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        total = model(**inputs, token_weights=TokenWeights(weights))
        count = weighted_tokens(inputs["labels"], weights) if num_items_in_batch is None else num_items_in_batch
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            total = total * self.accelerator.num_processes
        return total / torch.as_tensor(count).clamp(min=1e-8)

    def _get_num_items_in_batch(self, batch_samples: list[dict[str, Any]], device: torch.device) -> Any:
        """The weight of all trained tokens of an update, over all devices."""
        if all("parts" in b for b in batch_samples):  # each device knows the whole update
            return torch.tensor(sum(b["weight"] for b in batch_samples), dtype=torch.float32, device=device)
        count = torch.as_tensor(sum(weighted_tokens(b["labels"], b["weights"]) for b in batch_samples)).to(device)
        if self.args.average_tokens_across_devices and self.args.world_size > 1:
            count = self.accelerator.gather(count).sum()
        return count

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Not told: tokens are."""
        return 0


def weighted_tokens(labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Σ of the weights of trained tokens; the first token of a row has no prediction."""
    return ((labels[:, 1:] != IGNORED) * weights[:, 1:].to(labels.device)).sum()
