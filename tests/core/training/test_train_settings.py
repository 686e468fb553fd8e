"""No setting is ignored: what is unknown, impossible or without effect is refused, and the rest reaches the weights."""

from __future__ import annotations

import json
import math

import pytest
from support.tiny_model import make_model
from support.updates import session_rows, write_rows

from core.domain.errors import InvalidInput, Unavailable
from core.training.settings import TrainSettings, check_gpus, read_settings

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

NAMED = {"data": "d", "model": "m", "out": "o"}


def test_the_defaults_are_the_papers():
    chosen = read_settings(NAMED)
    assert (chosen.epochs, chosen.batch, chosen.learning_rate, chosen.min_learning_rate, chosen.max_length) == (
        1.0, 64, 5e-6, 1e-6, 131_072)
    assert read_settings({**NAMED, "batch": "8", "method": "lora", "track": "tensorboard,wandb"}).track == (
        "tensorboard", "wandb")


def test_a_setting_that_does_not_exist_is_refused_with_the_one_that_was_meant():
    with pytest.raises(InvalidInput, match="did you mean learning_rate") as refused:
        read_settings({**NAMED, "learnin_rate": "1e-5"})
    assert refused.value.code == "unknown_setting"
    with pytest.raises(InvalidInput, match="There is no training setting colour; there are data, model"):
        read_settings({**NAMED, "colour": "red"})


@pytest.mark.parametrize(("wrong", "says"), [
    ({"method": "magic"}, "method"), ({"batch": "0"}, "batch is 0"), ({"batch": "many"}, "batch"),
    ({"learning_rate": "0"}, "above 0"), ({"learning_rate": "nan"}, "with an end"), ({"epochs": "-1"}, "above 0"),
    ({"learning_rate": "1e-6", "min_learning_rate": "1e-5"}, "ends between"),
    ({"weight_decay": "-0.1"}, "weight_decay"),
    ({"beta2": "1"}, "beta2 is 1"), ({"clip": "-1"}, "clip"), ({"max_steps": "0"}, "max_steps"),
    ({"warmup_steps": "-5"}, "warmup_steps"), ({"track": "tensorbord"}, "track"), ({"precision": "fp16"}, "precision"),
    ({"optimizer": "sgd", "beta1": "0.8"}, "only where optimizer is adamw"),
    ({"lora_rank": "8"}, "only where method is lora"), ({"run_name": "x"}, "track names"),
    ({"seed": "4294967296"}, "at most 4294967295"), ({"max_steps": "9" * 20}, "max_steps is"),
    ({"epochs": "1e23"}, "most"),
    ({"packing": "false", "pack_tokens": "99"}, "only where packing is True"),
])
def test_what_cannot_be_or_would_have_no_effect_is_refused(wrong, says):
    with pytest.raises(InvalidInput, match=says) as refused:
        read_settings({**NAMED, **wrong})
    assert refused.value.code == "bad_settings"


def test_more_gpus_than_there_are_are_refused():
    check_gpus(TrainSettings(**NAMED, gpus=4), 4)
    with pytest.raises(Unavailable, match="4 GPUs are asked for, and this machine shows 3") as refused:
        check_gpus(TrainSettings(**NAMED, gpus=4), 3)
    assert refused.value.code == "too_few_gpus"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("settings")
    rows = [{"input_ids": r["input_ids"], "labels": r["labels"]} for r in session_rows(1, 40, 300, share=0.4)[:8]]
    return make_model(folder / "model"), write_rows(folder / "data.jsonl", rows), rows


@pytest.mark.parametrize("chosen", [
    {"decay": "cosine", "warmup_steps": 2, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-5, "weight_decay": 0.3},
    {"decay": "linear", "clip": 0.05, "optimizer": "sgd"},
    {"decay": "constant", "warmup_steps": 1, "clip": 0.0, "epsilon": 1e-5},
])
def test_the_weights_are_those_that_torchs_optimizer_makes_with_these_settings(made, tmp_path, chosen):
    """A loop of plain transformers and torch, with the rates written out, on the same rows in every update."""
    from safetensors.torch import load_file

    from core.training.train import run

    model, data, rows = made
    settings = TrainSettings(data=str(data), model=str(model), out=str(tmp_path), device="cpu", batch=8, epochs=6,
                             learning_rate=1e-2, min_learning_rate=1e-3, **chosen)
    assert run(settings).done
    rates, weights = plainly(model, rows, settings)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["lr"] for line in lines] == pytest.approx(rates, rel=1e-6)
    trained = load_file(tmp_path / "model" / "model.safetensors")
    for name, weight in weights.items():
        assert torch.allclose(trained[name], weight, atol=2e-5), name


def plainly(model, rows, settings):
    from transformers import AutoModelForCausalLM

    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).train()
    groups = [{"params": [p for n, p in net.named_parameters() if ("norm" in n) == norm],
               "weight_decay": 0.0 if norm else settings.weight_decay} for norm in (False, True)]
    kinds = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
    more = {"betas": (settings.beta1, settings.beta2), "eps": settings.epsilon} if settings.optimizer == "adamw" else {}
    optimizer = kinds[settings.optimizer](groups, lr=settings.learning_rate, **more)
    rates = []
    for step in range(6):
        rates.append(rate(step, settings))
        for group in optimizer.param_groups:
            group["lr"] = rates[-1]
        count = sum(label != -100 for row in rows for label in row["labels"][1:])
        for row in rows:
            ids, labels = torch.tensor([row["input_ids"]]), torch.tensor([row["labels"]])
            net(input_ids=ids, labels=labels, num_items_in_batch=count).loss.backward()
        if settings.clip:
            torch.nn.utils.clip_grad_norm_(net.parameters(), settings.clip)
        optimizer.step()
        optimizer.zero_grad()
    return rates, {n: p.detach() for n, p in net.named_parameters()}


def rate(step, settings):
    first, last, rise = settings.learning_rate, settings.min_learning_rate, settings.warmup_steps
    if step < rise:
        return first * step / rise
    share = (step - rise) / (6 - rise)
    if settings.decay == "cosine":
        return last + (first - last) * (1 + math.cos(math.pi * share)) / 2
    return first if settings.decay == "constant" else first + (last - first) * share


def test_a_tracker_that_is_not_installed_is_named_before_anything_starts(made, tmp_path, monkeypatch):
    import importlib.util

    from core.training.train import run

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "wandb" else find(name, *a))
    settings = TrainSettings(data=str(made[1]), model=str(made[0]), out=str(tmp_path), device="cpu", track=("wandb",))
    with pytest.raises(Unavailable, match="pip install wandb") as refused:
        run(settings)
    assert refused.value.code == "tracker_missing" and not (tmp_path / "run.json").exists()


@pytest.mark.parametrize(("values", "why"), [
    ({"attention": "cudnn"}, "a GPU only"), ({"attention": "efficient"}, "a GPU only"), ({"liger": "true"}, "iger")])
def test_kernels_that_are_not_here_are_refused_before_anything_is_loaded(tmp_path, values, why):
    from core.training.train import run

    settings = read_settings({"data": "d", "model": "m", "out": str(tmp_path), "device": "cpu", **values})
    with pytest.raises(Unavailable, match=why) as refused:
        run(settings)
    assert refused.value.code == "kernel_missing"
