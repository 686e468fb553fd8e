"""Two updates by axolotl's own collator, trainer and loss, told as JSON lines: axolotl_updates.py MODEL OUT packed|single SHARD…"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from axolotl.core.trainers.base import AxolotlTrainer
from axolotl.core.training_args import AxolotlTrainingArguments
from axolotl.utils.collators.batching import DataCollatorForSeq2Seq, V2BatchSamplerDataCollatorForSeq2Seq
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

LIKE_OURS = {"num_train_epochs": 2, "learning_rate": 1e-3, "lr_scheduler_type": "constant", "logging_steps": 1,
             "report_to": "none", "use_cpu": True, "max_grad_norm": 1.0, "save_strategy": "no", "adam_epsilon": 1e-5,
             "weight_decay": 0.0, "dataset_num_proc": 1}


class Telling(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **more):
        if "grad_norm" in logs:
            print(json.dumps({"loss": logs["loss"], "grad_norm": float(logs["grad_norm"])}))  # noqa: T201


def main(model: str, out: str, form: str, *shards: str) -> None:
    rows = load_dataset("parquet", data_files=list(shards), split="train", cache_dir=str(Path(out) / "cache"))
    rows = rows.select_columns(["input_ids", "labels", "attention_mask", "position_ids"])
    packed = {"sample_packing": True, "max_seq_length": sum(map(len, rows["input_ids"])), "sample_packing_bin_size": 200,
              "per_device_train_batch_size": 1, "sample_packing_group_size": 1000, "sample_packing_efficiency": 1.0}
    choices = packed if form == "packed" else {"per_device_train_batch_size": len(rows)}
    collator = V2BatchSamplerDataCollatorForSeq2Seq if form == "packed" else DataCollatorForSeq2Seq
    tokenizer = AutoTokenizer.from_pretrained(model)
    AxolotlTrainer(model=AutoModelForCausalLM.from_pretrained(model), data_collator=collator(tokenizer),
                   args=AxolotlTrainingArguments(output_dir=out, **LIKE_OURS, **choices), train_dataset=rows,
                   processing_class=tokenizer, callbacks=[Telling()]).train()


if __name__ == "__main__":
    main(*sys.argv[1:])
