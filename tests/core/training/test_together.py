"""Several processes train one model: the result is that of one process, and stopping them keeps a checkpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.tiny_model import make_model
from support.updates import session_rows, write_rows

from core.domain.errors import InvalidInput, Unavailable
from core.training.launch import _launcher, _summary
from core.training.settings import TrainSettings
from core.training.train import run

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
              pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    rows = session_rows(2, 60, 300, share=0.4)[:21]  # 21 in batches of 8: the last update is smaller than the others
    return make_model(folder / "model"), write_rows(folder / "data.jsonl", rows)


def settings(made, out, **more) -> TrainSettings:
    model, data = made
    told = {"batch": 8, "learning_rate": 1e-3, "min_learning_rate": 1e-4, "weight_decay": 0.1, "device": "cpu", **more}
    return TrainSettings(data=str(data), model=str(model), out=str(out), **told)


def test_two_processes_learn_what_one_learns(made, tmp_path):
    from safetensors.torch import load_file

    told = {}
    for gpus in (1, 2):
        lines: list[dict] = []
        done = run(settings(made, tmp_path / str(gpus), gpus=gpus, pack_tokens=64), lines.append)
        assert done.done and done.step == 3
        told[gpus] = lines, load_file(Path(done.folder) / "model.safetensors")
    for one, two in zip(told[1][0], told[2][0], strict=True):
        for name in ("step", "tokens", "computed_tokens", "trained_share"):
            assert one[name] == two[name]
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
        assert two["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-4)
    assert (tmp_path / "2" / "metrics.jsonl").read_text().count("\n") == 3
    for name, weights in told[1][1].items():
        assert torch.allclose(weights, told[2][1][name], atol=2e-5), name


def test_stopped_together_they_save_and_go_on(made, tmp_path):
    asked, lines = threading.Event(), []

    def hear(told):
        lines.append(told)
        asked.set()

    first = run(settings(made, tmp_path / "r", gpus=2, epochs=50), hear, asked)
    assert first.stopped and not first.done and Path(first.checkpoint).is_dir() and first.step < 150
    lines.clear()
    again = run(settings(made, tmp_path / "r", gpus=1, epochs=50), lambda t: lines.append(t), _soon(lines))
    assert again.resumed_at == first.step and lines[0]["step"] == first.step + 1


def test_what_the_first_of_them_says_at_the_end_is_heard():
    assert _summary({"done": True, "folder": "x", "step": 3}, 0, "").step == 3
    with pytest.raises(InvalidInput, match="is wrong") as refused:
        _summary({"error": {"code": "bad_row", "sentence": "Row 3 is wrong."}}, 2, "")
    assert refused.value.code == "bad_row"
    with pytest.raises(Unavailable, match="Killed") as broke:
        _summary({}, -9, "starting\nKilled\n")
    assert broke.value.code == "training_broke"


def test_gpus_are_started_by_accelerate_with_the_layers_sharded(made, tmp_path):
    from accelerate.commands.config.config_args import load_config_from_file

    told = _launcher(settings(made, tmp_path, device="auto", gpus=8))
    assert told[1:4] == ["-m", "accelerate.commands.launch", "--config_file"] and told[-2:] == ["--num_processes", "8"]
    config = load_config_from_file(told[4])
    assert config.distributed_type.value == "FSDP" and config.fsdp_config["fsdp_version"] == 2
    assert config.mixed_precision == "bf16"


def _soon(lines):
    """Set once something was heard."""
    class Soon(threading.Event):
        def is_set(self):
            return bool(lines)

    return Soon()


SHARDED = '''
import sys, json, torch
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM
from core.training.head import add_weighted_loss
from core.training.packing import Work
from core.training.segments import use_segments
from core.training.updates import Levers, UpdateCollator
model, data, out = sys.argv[1:]
torch.distributed.init_process_group("gloo")
rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
mesh = torch.distributed.init_device_mesh("cpu", (ranks,))
net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).train()
use_segments(net)
add_weighted_loss(net, everywhere=False)
for layer in net.model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
rows = [json.loads(line) for line in open(data)]
update = UpdateCollator(Levers(merge_copies=False, pack=200, work=Work(1.0, 0.01)), 0, rank, ranks)(rows)
for part in update["parts"]:
    weights = part.pop("weights")
    (net(**part, token_weights=weights) / update["weight"] * ranks).backward()
grads = {n: p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad for n, p in net.named_parameters()}
if rank == 0:
    torch.save(grads, out)
torch.distributed.destroy_process_group()
'''


def test_sharded_parameters_get_the_gradient_of_plain_transformers(made, tmp_path):
    """FSDP2 itself on two processes: the head's matrix is a sharded one, and a device may have nothing to do."""
    from support.updates import plain_gradient, worst_error

    model, data = made
    rows = [json.loads(line) for line in data.read_text().splitlines()][:5]
    few, script, out = write_rows(tmp_path / "few.jsonl", rows), tmp_path / "sharded.py", tmp_path / "grads.pt"
    script.write_text(SHARDED)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script),
               str(model), str(few), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": ".", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    assert worst_error(torch.load(out, weights_only=True), plain_gradient(model, rows)[1]) <= 5e-6
