"""The whole way with a real model: a session's log → export → SmolLM2 trained, killed, resumed → plain transformers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from support.tiny_model import smollm2

from core.domain.message import Message
from core.training.settings import TrainSettings

pytest.importorskip("trl")
pytestmark = [pytest.mark.model, pytest.mark.timeout(400),
              pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")]


def test_smollm2_learns_what_is_kept_is_killed_and_goes_on(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from core.training.train import run

    model = smollm2()
    data = write_rows(tmp_path / "data.jsonl", model)
    more = {"batch": 2, "micro_batch": 2, "epochs": 3, "learning_rate": 2e-3, "min_learning_rate": 1e-3,
            "save_every": 2, "method": "lora", "lora_rank": 8, "device": "cpu"}
    sets = [a for k, v in more.items() for a in ("--set", f"{k}={v}")]
    out = tmp_path / "run"
    command = [sys.executable, "-m", "core.training.worker", str(data), "--model", str(model), "--out", str(out), *sets]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
        for line in process.stdout:
            if json.loads(line)["step"] >= 3:
                process.send_signal(signal.SIGKILL)
                break
    told = []
    done = run(TrainSettings(data=str(data), model=str(model), out=str(out), **more), told.append)
    assert done.done and done.resumed_at == 2 and told[0].step == 3
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [m["step"] for m in metrics] == list(range(1, 7))
    assert metrics[-1]["loss"] < metrics[0]["loss"] / 2
    trained = AutoModelForCausalLM.from_pretrained(done.folder)
    tokenizer = AutoTokenizer.from_pretrained(done.folder)
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "Which split?"}], tokenize=False,
                                           add_generation_prompt=True)
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    answer = trained.generate(ids, attention_mask=ids != -1, max_new_tokens=12, do_sample=False)[0, ids.shape[1] :]
    assert "training" in tokenizer.decode(answer)


def write_rows(path, model):
    from core.export.render import Renderer

    renderer = Renderer(model)
    rows = []
    for question in ("Which split?", "Where to train?", "Which one, 哪一个?", "Which data?"):
        messages = [Message(role="user", content="Hello"), Message(role="assistant", content="A masked mistake."),
                    Message(role="user", content=question),
                    Message(role="assistant", content="Only the training split.")]
        told = renderer.render(messages, [False, False, False, True])
        kept = [i for i, m in zip(told.ids, told.mask, strict=True) if m]
        assert renderer.decode(kept) == "Only the training split.<|im_end|>"
        labels = [i if m else -100 for i, m in zip(told.ids, told.mask, strict=True)]
        rows.append(json.dumps({"input_ids": told.ids, "labels": labels}))
    path.write_text("\n".join(rows) + "\n")
    return path
