"""Metrics reach TensorBoard, Weights & Biases (without a network) and MLflow by the callbacks of transformers."""

from __future__ import annotations

import importlib.util
import json

import pytest
from support.tiny_model import make_model
from support.updates import session_rows, write_rows

from core.training.settings import TrainSettings
from core.training.train import run

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore")

PACE = ("tokens_per_s", "mfu", "memory_mb", "computed_tokens", "trained_share")


@pytest.fixture
def tracked(tmp_path, monkeypatch):
    """Trains two updates with a tracker; gives the run's own metrics."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "board"))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path / 'mlflow'}")
    model = make_model(tmp_path / "model")
    data = write_rows(tmp_path / "data.jsonl", session_rows(1, 60, 300, share=0.4)[:8])

    def train(tracker: str | None = None):
        settings = TrainSettings(data=str(data), model=str(model), out=str(tmp_path / "run"), device="cpu", batch=4,
                                 peak_tflops=0.01, track=(tracker,) if tracker else (), run_name=tracker or "")
        assert run(settings).done
        return [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]

    return train


def needs(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def test_a_line_of_metrics_has_the_pace(tracked):
    lines = tracked()
    assert all(0 < line["mfu"] < 5 and line["memory_mb"] > 0 and line["tokens_per_s"] > 0 for line in lines)


def test_the_counted_operations_are_those_that_torch_counts():
    """Attention as plain products over the whole square, of which a causal kernel computes half."""
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import LlamaConfig, LlamaForCausalLM

    from core.training.pace import flops_of

    config = LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=176, num_hidden_layers=3,
                         num_attention_heads=4, num_key_value_heads=2)
    config._attn_implementation = "eager"
    ids = torch.randint(0, 500, (1, 256))
    with FlopCounterMode(display=False) as counter:
        LlamaForCausalLM(config)(input_ids=ids, labels=ids).loss.backward()
    causal = 3 * 2.0 * 3 * 4 * 16 * 256 * 256
    assert counter.get_total_flops() == flops_of(config, adapter=False).of([256], 256) + causal


def test_tensorboard(tracked, tmp_path):
    needs("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    lines = tracked("tensorboard")
    board = EventAccumulator(str(tmp_path / "board"))
    board.Reload()
    for name in (*PACE, "loss", "grad_norm"):
        told = [e.value for e in board.Scalars(f"train/{name}")]
        assert told == pytest.approx([line[name] for line in lines], rel=1e-4), name


def test_weights_and_biases_without_a_network(tracked, tmp_path):
    needs("wandb")
    import wandb

    tracked("wandb")
    wandb.finish()  # as at the end of a process
    [written] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    content = written.read_bytes()
    assert all(f"train/{name}".encode() in content for name in PACE)


def test_mlflow(tracked, tmp_path):
    needs("mlflow")
    import mlflow

    lines = tracked("mlflow")
    mlflow.set_tracking_uri(f"file://{tmp_path / 'mlflow'}")
    [found] = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert found.info.run_name == "mlflow"
    for name in (*PACE, "loss"):
        assert found.data.metrics[name] == pytest.approx(lines[-1][name]), name
