"""Other engines take our rows: the loss and the gradient's norm of their first updates are ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_model, trl_template

from core.workers.training import Metric

pytest.importorskip("trl")
pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
RECIPES = Path(__file__).parents[3] / "resources" / "engines"


ONCE = {"preset": "once", "unjudged": "keep"}
AS_THE_PAPER = {"overlap": "each", "balance": "repeat", "react": 2, "summary": 3, "chains": False, "unjudged": "keep"}
"""As the preset of the paper, with fewer copies of each sample."""


@pytest.mark.parametrize(("told", "samples", "rows", "devices"), [(ONCE, 4, 4, 1), (AS_THE_PAPER, 6, 14, 2)])
def test_plain_trl_under_torchrun_makes_the_same_updates(tmp_path, warm, told, samples, rows, devices):
    """Weights per token, and rows repeated as places; one process, and two that share an update."""
    from core.export.options import read_options
    from core.export.run import export
    from core.training.settings import TrainSettings
    from core.training.train import run

    model = make_model(tmp_path / "model", template=trl_template("qwen3"))
    log = write_log(tmp_path / "server.db", a=talking_session(5, steps=1), b=talking_session(6, steps=1))
    report = export(log, ["a", "b"], "tokens", tmp_path / "data", str(model), read_options(told))
    assert report.rows == samples
    choices = {"per_device_train_batch_size": rows // devices, "num_train_epochs": 2, "learning_rate": 1e-3,
               "lr_scheduler_type": "constant", "logging_steps": 1, "report_to": "none", "use_cpu": "true",
               "bf16": "false", "max_grad_norm": 1.0, "save_strategy": "no", "adam_epsilon": 1e-5,
               "gradient_checkpointing": "false"}
    command = [str(warm), "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={devices}",
               str(RECIPES / "trl_sft.py"), str(tmp_path / "data"), "--model", str(model), "--out",
               str(tmp_path / "theirs")]
    command += [part for name, value in choices.items() for part in (f"--{name}", str(value))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHON_EXEC": str(warm)})
    assert done.returncode == 0, done.stderr[-3000:]
    records = [record for record in map(_record, done.stdout.splitlines()) if record]
    theirs = [(float(record["loss"]), float(record["grad_norm"])) for record in records]
    ours: list[Metric] = []
    run(TrainSettings(data=str(tmp_path / "data"), model=str(model), out=str(tmp_path / "ours"), device="cpu", epochs=2,
                      batch=rows, learning_rate=1e-3, decay="constant", epsilon=1e-5), ours.append)
    assert len(theirs) == len(ours) == 2
    for (loss, norm), line in zip(theirs, ours, strict=True):
        assert loss == pytest.approx(line.loss, rel=2e-4)  # TRL rounds what it prints
        assert norm == pytest.approx(line.grad_norm, rel=2e-3)


def _record(line: str) -> dict:
    if not line.startswith("{'loss'"):
        return {}
    return json.loads(line.replace("'", '"'))


@pytest.mark.parametrize("preset", ["once", "paper"])
def test_the_rows_that_verl_is_given_have_our_loss_by_its_own_formula(tmp_path, preset):
    """Its `sft_loss` on rows laid end to end: the mask rolled by one, the sum over the sum of the mask."""
    import importlib.util

    import torch
    from transformers import AutoModelForCausalLM

    from core.export.options import read_options
    from core.export.run import export
    from core.training.settings import TrainSettings
    from core.training.train import run

    model = make_model(tmp_path / "model", template=trl_template("qwen3"))
    log = write_log(tmp_path / "server.db", a=talking_session(5, steps=1), b=talking_session(6, steps=1))
    options = read_options({"preset": preset, "unjudged": "keep"})
    report = export(log, ["a", "b"], "tokens", tmp_path / "data", str(model), options)
    spec = importlib.util.spec_from_file_location("verl_tokens", RECIPES / "verl_tokens.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = module.TokenRows([f for f in report.files if "data-" in f])
    assert len(rows) == (4 if preset == "once" else 48)
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    scores, masks, ids = [], [], []
    for row in rows:
        with torch.no_grad():
            logits = net(input_ids=row["input_ids"][None], position_ids=row["position_ids"][None]).logits[0]
        scores.append(logits.log_softmax(-1))
        masks.append(row["loss_mask"])
        ids.append(row["input_ids"])
    following = torch.roll(torch.cat(ids), -1)
    chances = torch.cat(scores).gather(1, following[:, None])[:, 0]
    mask = torch.roll(torch.cat(masks), -1)
    theirs = -(chances * mask).sum() / torch.cat(masks).sum()
    ours: list[Metric] = []
    run(TrainSettings(data=str(tmp_path / "data"), model=str(model), out=str(tmp_path / "ours"), device="cpu",
                      max_steps=1, batch=len(rows)), ours.append)
    assert float(theirs) == pytest.approx(ours[0].loss, rel=1e-5)
