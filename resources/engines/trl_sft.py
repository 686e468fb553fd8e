"""Plain TRL on rows of the form `tokens` (`tiphys export … --to tokens`), with the weight of each token.

    torchrun --nproc-per-node 8 trl_sft.py DATA --model MODEL --out OUT
    torchrun --nnodes 4 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 trl_sft.py DATA …

It needs nothing of Tiphys: copy it where you train. loss = Σ w·l / Σ w over an update on all devices. Other options are
those of SFTConfig (`--learning_rate 5e-6 --bf16 …`).
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, HfArgumentParser
from trl import SFTConfig, SFTTrainer


class Collator:
    """Pads rows to the longest; a mask comes from the lengths, as a pad token may be a trained stop token."""

    def __init__(self, pad: int) -> None:
        self._values = {"input_ids": pad, "labels": -100, "attention_mask": 0, "weights": 0.0}

    def __call__(self, rows: list[dict]) -> dict:
        size = max(len(row["input_ids"]) for row in rows)
        return {name: torch.tensor([list(row[name]) + [value] * (size - len(row[name])) for row in rows])
                for name, value in self._values.items()}


class WeightedTrainer(SFTTrainer):
    """TRL's trainer; how much each token counts is in `weights`."""

    def _get_num_items_in_batch(self, batch_samples: list[dict], device: torch.device) -> torch.Tensor:
        total = sum(((b["labels"] != -100) * b["weights"])[:, 1:].sum() for b in batch_samples).to(device)
        return self.accelerator.gather(total).sum() if self.args.world_size > 1 else total

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weights, labels = inputs.pop("weights")[:, 1:], inputs.pop("labels")[:, 1:]
        outputs = model(**inputs, use_cache=False)
        losses = torch.nn.functional.cross_entropy(
            outputs.logits[:, :-1].float().flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="none")
        total = (losses * weights.flatten()).sum()
        count = num_items_in_batch if num_items_in_batch is not None else weights.sum()
        # the mean over the devices that follows is undone: the count is that of all of them
        loss = total * (self.accelerator.num_processes if num_items_in_batch is not None else 1) / count
        return (loss, outputs) if return_outputs else loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    known, more = parser.parse_known_args()
    [config] = HfArgumentParser(SFTConfig).parse_args_into_dataclasses(
        [*more, "--output_dir", known.out, "--dataset_kwargs", '{"skip_prepare_dataset": true}',
         "--remove_unused_columns", "false"])
    config.max_length = None  # TRL would cut rows at 1,024 tokens
    rows = load_dataset("parquet", data_files=sorted(map(str, known.data.glob("data-*.parquet"))), split="train")
    rows = rows.select(np.repeat(np.arange(len(rows)), rows["repeats"]))
    tokenizer = AutoTokenizer.from_pretrained(known.model)
    trainer = WeightedTrainer(model=AutoModelForCausalLM.from_pretrained(known.model, dtype=torch.float32), args=config,
                              train_dataset=rows, processing_class=tokenizer,
                              data_collator=Collator(tokenizer.pad_token_id or 0))
    trainer.train()
    trainer.save_model(known.out)


if __name__ == "__main__":
    main()
