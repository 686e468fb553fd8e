"""A run as a process: it learns, stops on request, goes on where it was killed, and leaves a plain model behind."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.cut_files import assert_cut_is_found
from support.full_disk import fill_up, mounted
from support.tiny_model import make_model

from core.domain.errors import Conflict, InvalidInput, Unavailable
from core.training.settings import TrainSettings
from core.training.train import run

pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def data(tmp_path_factory, model) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "data.jsonl", model)


def write_data(path: Path, model: Path, rows: int = 8) -> Path:
    from core.domain.message import Message
    from core.export.render import Renderer

    renderer, lines = Renderer(model), []
    for n in range(rows):
        told = renderer.render([Message(role="user", content=f"Which split, {n}?"),
                                Message(role="assistant", content="the training split 训练集")], [False, True])
        labels = [i if m else -100 for i, m in zip(told.ids, told.mask, strict=True)]
        lines.append(json.dumps({"input_ids": told.ids, "labels": labels}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def start(data, model, out, python=sys.executable, **more) -> subprocess.Popen:
    told = {"batch": 2, "micro_batch": 2, "learning_rate": 1e-2, "min_learning_rate": 1e-3, "save_every": 2,
            "device": "cpu", **more}
    sets = [a for k, v in told.items() for a in ("--set", f"{k}={v}")]
    command = [str(python), "-m", "core.training.worker", str(data), "--model", str(model), "--out", str(out), *sets]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"})


def until(process: subprocess.Popen, step: int) -> list[dict]:
    told = []
    while not told or told[-1].get("step", 0) < step:
        line = process.stdout.readline()
        assert line, process.stderr.read().decode()[-2000:]
        told.append(json.loads(line))
    return told


def settings(data, model, out, **more) -> TrainSettings:
    told = {"batch": 2, "micro_batch": 2, "learning_rate": 1e-2, "min_learning_rate": 1e-3, "save_every": 2, **more}
    return TrainSettings(data=str(data), model=str(model), out=str(out), device="cpu", **told)


@pytest.mark.timeout(240)
def test_killed_stopped_and_resumed_it_ends_where_an_undisturbed_run_ends(data, model, tmp_path, caplog):
    """Needs checkpoints, the order of the rows and the optimizer's state to survive a SIGKILL and a SIGTERM; and a
    checkpoint of which a file is cut to be told from a whole one."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    expected = []
    whole = run(settings(data, model, tmp_path / "whole", epochs=8), expected.append)
    assert whole.done and [m.step for m in expected] == list(range(1, 33))
    out = tmp_path / "killed"
    with start(data, model, out, epochs=8) as killed:
        until(killed, 5)
        killed.send_signal(signal.SIGKILL)
    half = out / "checkpoints" / "checkpoint-99"  # as if it died while it wrote one
    half.mkdir()
    (half / "trainer_state.json").write_text('{"global_st')
    with start(data, model, out, epochs=8, save_every=1000) as stopped:
        first = until(stopped, 3)[0]["step"]
        stopped.send_signal(signal.SIGTERM)
        last = json.loads(stopped.stdout.read().splitlines()[-1])
    assert first > 1 and stopped.returncode == 0 and not half.exists()
    assert last["stopped"] and not last["done"] and last["resumed_at"] == first - 1
    assert Path(last["checkpoint"]).name == f"checkpoint-{last['step']}"
    cut = Path(shutil.copytree(out, tmp_path / "cut")) / "checkpoints" / f"checkpoint-{last['step']}"
    again = run(settings(data, model, out, epochs=8))
    assert again.done and again.resumed_at == last["step"] and again.step == again.steps == 32
    for path in sorted(p for p in cut.rglob("*") if p.is_file()):
        assert_cut_is_found(path, cut)
    os.truncate(cut / "optimizer.pt", 0)  # as after a loss of power
    with caplog.at_level(logging.WARNING, "training"):
        without = run(settings(data, model, tmp_path / "cut", epochs=8))
    assert without.done and without.resumed_at == first - 1 and "bytes of optimizer.pt" in caplog.text
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [m["step"] for m in metrics] == list(range(1, 33))
    assert [m["loss"] for m in metrics] == pytest.approx([m.loss for m in expected], abs=1e-4)
    assert metrics[-1]["loss"] < metrics[0]["loss"] - 1
    assert metrics[0]["lr"] == pytest.approx(1e-2) and metrics[-1]["lr"] < 1.2e-3
    assert {"tokens_per_s", "memory_mb", "trained_share", "seconds", "steps"} <= set(metrics[0])
    reference = AutoModelForCausalLM.from_pretrained(tmp_path / "whole" / "model")
    for folder in (out, tmp_path / "cut"):
        trained = AutoModelForCausalLM.from_pretrained(folder / "model")
        for a, b in zip(trained.parameters(), reference.parameters(), strict=True):
            assert a.allclose(b, atol=1e-4)
    assert AutoTokenizer.from_pretrained(out / "model").chat_template
    assert list((out / "model").glob("*.safetensors"))


def test_stopping_before_the_first_update_ends_and_another_run_in_the_folder_is_refused(data, model, tmp_path):
    asked = threading.Event()
    asked.set()
    told = run(settings(data, model, tmp_path / "r"), stop=asked)
    assert told.stopped and told.step == 1 and Path(told.checkpoint).is_dir()
    with pytest.raises(Conflict) as refused:
        run(settings(data, model, tmp_path / "r", epochs=3))
    assert refused.value.code == "other_run" and refused.value.params["fields"] == ["epochs"]


def test_a_second_training_in_the_folder_is_refused_until_the_first_is_gone(data, model, warm, tmp_path, monkeypatch,
                                                                             caplog):
    out = tmp_path / "r"
    with start(data, model, out, warm, epochs=500) as first:
        until(first, 2)
        with pytest.raises(Conflict) as refused:
            run(settings(data, model, out, epochs=500))
        with start(data, model, out, warm, epochs=500) as second:
            told = json.loads(second.stdout.read())
        until(first, 1)
        first.send_signal(signal.SIGKILL)
    assert refused.value.code == told["error"]["code"] == "run_at_work" and second.returncode == Conflict.exit_status
    stopped = threading.Event()
    stopped.set()
    assert run(settings(data, model, out, epochs=500), stop=stopped).stopped  # a lock dies with its holder
    monkeypatch.setattr("core.training.alone.PATIENCE_S", 0.05)
    monkeypatch.setattr("core.store.lock._lock", lambda *_, **__: False)  # as on a shared disk without locks
    assert run(settings(data, model, tmp_path / "other", epochs=500), stop=stopped).stopped
    assert "without locks" in caplog.text and not [*(tmp_path / "other").glob("run.lock.*")]


def test_a_disk_that_gets_full_is_named_and_the_run_goes_on_once_there_is_room(data, model, tmp_path):
    with mounted(tmp_path / "disk", 8) as disk:
        chosen = settings(data, model, disk / "r", epochs=3)
        with pytest.raises(Unavailable) as refused:
            run(chosen, lambda metric: metric.step == 3 and fill_up(disk))
        assert refused.value.code == "folder_unusable" and "No space left" in refused.value.sentence
        (disk / "ballast").unlink()
        again = run(chosen)
        assert again.done and again.resumed_at == 2 and again.step == 12
        fill_up(disk)
        with pytest.raises(Unavailable, match="No space left"):  # from the first file that is written on
            run(settings(data, model, disk / "other"))


@pytest.mark.parametrize("clip", [0.0, 1.0])
def test_a_run_that_goes_apart_ends_with_an_error_and_leaves_no_model(data, model, tmp_path, clip):
    out = tmp_path / "r"
    with pytest.raises(InvalidInput) as refused:
        run(settings(data, model, out, epochs=9, learning_rate=1e12, min_learning_rate=1e12, clip=clip))
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert refused.value.code == "training_diverged" and refused.value.params["step"] == len(lines) + 1
    assert all(line["loss"] and line["grad_norm"] is not None for line in lines) and not (out / "model").exists()


def test_rows_that_the_model_has_no_room_for_are_refused(data, model, tmp_path):
    small = shutil.copytree(model, tmp_path / "small")
    config = json.loads((small / "config.json").read_text())
    (small / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4}))
    with pytest.raises(InvalidInput) as refused:
        run(settings(data, small, tmp_path / "r"))
    assert refused.value.code == "row_too_long" and "more than 4" in refused.value.sentence


def test_lora_leaves_a_merged_model_that_plain_transformers_loads(data, model, tmp_path):
    from transformers import AutoModelForCausalLM

    told = []
    assert run(settings(data, model, tmp_path / "r", epochs=2, method="lora", lora_rank=4), told.append).done
    assert told[-1].loss < told[0].loss
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "r" / "model")
    before = AutoModelForCausalLM.from_pretrained(model)
    assert (tmp_path / "r" / "adapter" / "adapter_config.json").is_file()
    names = {n for n, p in merged.named_parameters() if not p.allclose(before.get_parameter(n))}
    assert any("q_proj" in n for n in names) and not any("embed" in n or "lora" in n for n in names)
