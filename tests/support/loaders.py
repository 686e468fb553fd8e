"""Trainers' own loaders, installed without their dependencies by packaging/setup/loaders.sh, each run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("TIPHYS_TEST_LOADERS") or Path(__file__).resolve().parents[2] / "build" / "loaders")

AXOLOTL = """
import json, sys
from transformers import AutoTokenizer
from axolotl.prompt_strategies.chat_template import ChatTemplatePrompter, ChatTemplateStrategy
from datasets import Dataset

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
prompter = ChatTemplatePrompter(tokenizer, chat_template=tokenizer.chat_template, max_length=1 << 20,
                                message_field_training="train")
strategy = ChatTemplateStrategy(prompter, tokenizer=tokenizer, train_on_inputs=False, sequence_len=1 << 20,
                                roles_to_train=[], train_on_eos="turn")
told = []
for row in Dataset.from_json(sys.argv[2], cache_dir=sys.argv[3]):
    made = strategy.tokenize_prompt(row)
    told.append({"ids": made["input_ids"], "labels": made["labels"]})
print("TOLD " + json.dumps(told))
"""

LLAMA_FACTORY = """
import json, sys
from transformers import AutoTokenizer
from llamafactory.v1.core.utils.rendering import Renderer
from llamafactory.v1.plugins.data_plugins.converter import DataConverterPlugin

tokenizer, told = AutoTokenizer.from_pretrained(sys.argv[1]), []
for template, path in zip(sys.argv[2::2], sys.argv[3::2]):
    samples = [json.loads(line) for line in open(path, encoding="utf-8")]
    if "conversations" in samples[0]:
        samples = [DataConverterPlugin("sharegpt")(s) for s in samples]
    made = Renderer(template, tokenizer).process_samples(samples)
    told.append([{"ids": m["input_ids"], "labels": m["labels"]} for m in made])
print("TOLD " + json.dumps(told))
"""


def load(script: str, package: str, *arguments: object) -> list[Any]:
    """What a loader makes of rows: ids and labels. Skips where the package is absent, and fails where CI is set."""
    if not (FOLDER / package).is_dir():
        sentence = f"no {package} in {FOLDER} (packaging/setup/loaders.sh)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    env = os.environ | {"PYTHONPATH": str(FOLDER), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "DO_NOT_TRACK": "1",
                        "AXOLOTL_DO_NOT_TRACK": "1", "HF_DATASETS_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], env=env, capture_output=True, text=True,
                          timeout=280, check=False)
    line = next((t for t in done.stdout.splitlines() if t.startswith("TOLD ")), None)
    assert line is not None, done.stderr[-3000:]
    told: list[Any] = json.loads(line.removeprefix("TOLD "))
    return told
