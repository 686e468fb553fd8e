"""axolotl's own collator, trainer and loss make the updates of our rows that we make (its command line is not run)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_model, trl_template

from core.export.options import read_options
from core.export.run import export
from core.training.settings import TrainSettings
from core.training.train import run
from core.workers.training import Metric

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]
THEIRS = Path(os.environ["TIPHYS_ENGINES"]) / "axolotl"


def test_axolotls_trainer_makes_the_same_updates(tmp_path: Path) -> None:
    """All weights 1 (`--balance none`), each row by itself, padded: its packing did not run on a processor."""
    model = make_model(tmp_path / "model", template=trl_template("qwen3"))
    log = write_log(tmp_path / "server.db", a=talking_session(5, steps=1), b=talking_session(6, steps=1))
    options = read_options({"preset": "paper", "balance": "none", "unjudged": "keep"})
    report = export(log, ["a", "b"], "tokens", tmp_path / "data", str(model), options)
    shards = [file for file in report.files if "data-" in file]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("axolotl_updates.py")), str(model), str(tmp_path / "theirs"),
         *shards], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(THEIRS), "AXOLOTL_DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1",
             "TRL_EXPERIMENTAL_SILENCE": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    theirs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"loss"')]
    ours: list[Metric] = []
    run(TrainSettings(data=str(tmp_path / "data"), model=str(model), out=str(tmp_path / "ours"), device="cpu", epochs=2,
                      batch=report.rows, learning_rate=1e-3, decay="constant", epsilon=1e-5), ours.append)
    assert len(theirs) == len(ours) == 2
    for line, mine in zip(theirs, ours, strict=True):
        assert line["loss"] == pytest.approx(mine.loss, rel=2e-4)
        assert line["grad_norm"] == pytest.approx(mine.grad_norm, rel=2e-3)
