"""Two updates by axolotl's own collator, trainer and loss, told as JSON lines: axolotl_updates.py MODEL OUT SHARD…"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from axolotl.core.trainers.base import AxolotlTrainer
from axolotl.core.training_args import AxolotlTrainingArguments
from axolotl.utils.collators.batching import DataCollatorForSeq2Seq
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

LIKE_OURS = {"num_train_epochs": 2, "learning_rate": 1e-3, "lr_scheduler_type": "constant", "logging_steps": 1,
             "report_to": "none", "use_cpu": True, "max_grad_norm": 1.0, "save_strategy": "no", "adam_epsilon": 1e-5,
             "weight_decay": 0.0, "dataset_num_proc": 1}


class Telling(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **more):
        if "grad_norm" in logs:
            print(json.dumps({"loss": logs["loss"], "grad_norm": float(logs["grad_norm"])}))  # noqa: T201


def main(model: str, out: str, *shards: str) -> None:
    rows = load_dataset("parquet", data_files=list(shards), split="train", cache_dir=str(Path(out) / "cache"))
    rows = rows.select_columns(["input_ids", "labels", "attention_mask", "position_ids"])
    tokenizer = AutoTokenizer.from_pretrained(model)
    args = AxolotlTrainingArguments(output_dir=out, per_device_train_batch_size=len(rows), **LIKE_OURS)
    AxolotlTrainer(model=AutoModelForCausalLM.from_pretrained(model), args=args, train_dataset=rows,
                   data_collator=DataCollatorForSeq2Seq(tokenizer), processing_class=tokenizer,
                   callbacks=[Telling()]).train()


if __name__ == "__main__":
    main(*sys.argv[1:])
