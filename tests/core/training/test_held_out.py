"""Rows that an export holds out are evaluated while a model is trained, and never trained on."""

from __future__ import annotations

import json
import warnings

import msgspec
import pytest
from support.tiny_model import make_model

from core.domain.message import Message
from core.training.settings import TrainSettings
from core.training.train import run

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def write(path, model, answers):
    from core.export.render import Renderer

    renderer, lines = Renderer(model), []
    for answer in answers:
        messages = [Message(role="user", content="Which split?"), Message(role="assistant", content=answer)]
        told = renderer.render(messages, [False, True])
        labels = [i if m else -100 for i, m in zip(told.ids, told.mask, strict=True)]
        lines.append({"input_ids": told.ids, "labels": labels})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return lines


def test_held_out_rows_are_evaluated_with_the_checkpoints_and_at_the_end(tmp_path):
    from transformers import AutoModelForCausalLM

    model = make_model(tmp_path / "model")
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "data.jsonl", model, ["the training split"] * 10)
    [held] = write(tmp_path / "data" / "eval.jsonl", model, ["the training split, always"])
    told = []
    settings = TrainSettings(data=str(tmp_path / "data"), model=str(model), out=str(tmp_path / "out"), batch=2,
                             learning_rate=1e-2, min_learning_rate=1e-3, eval_every=2, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(settings, told.append).done
    lines = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert lines == msgspec.to_builtins(told) and [m["step"] for m in lines if "loss" in m] == [1, 2, 3, 4, 5]
    seen = [(m["step"], m["eval_loss"]) for m in lines if "eval_loss" in m]
    assert [step for step, _ in seen] == [2, 4, 5] and seen[-1][1] < seen[0][1]
    assert [m["tokens"] for m in lines if "eval_loss" in m] == [m["tokens"] for m in lines if "loss" in m
                                                                and m["step"] in (2, 4, 5)]
    net = AutoModelForCausalLM.from_pretrained(str(tmp_path / "out" / "model"), dtype=torch.float32).eval()
    ids, labels = torch.tensor([held["input_ids"]]), torch.tensor([held["labels"]])
    with torch.no_grad():
        by_hand = float(net(input_ids=ids, labels=labels).loss)
    assert seen[-1][1] == pytest.approx(by_hand, rel=1e-3)
