"""The estimate of a run's memory: its exact parts, what was measured, what it chooses and what it says would fit."""

from __future__ import annotations

import json
import random
import re

import msgspec
import pytest
from support.tiny_model import make_model
from support.updates import session_rows, trainer_gradient, write_rows

from core.domain.errors import LimitReached
from core.training.settings import TrainSettings

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
memory = pytest.importorskip("core.training.memory")
pytestmark = pytest.mark.filterwarnings("ignore")

BIG = memory.Shape(parameters=8_000_000_000, layer=200_000_000, embedding=620_000_000, head=620_000_000, layers=36,
                   hidden=4096, inner=12288, heads=32, head_size=128, vocabulary=151_936)
LONG = memory.Load(tokens=131_072, scored=13_107, width=2, devices=8, scores=1 << 28)


def test_parameters_gradients_and_moments_are_those_of_a_real_trainer(tmp_path):
    for tied in (True, False):
        model = make_model(tmp_path / str(tied), tied=tied)
        data = write_rows(tmp_path / "d.jsonl", session_rows(1, 40, 300, share=0.4)[:4])
        _, gradient, trainer = trainer_gradient(model, data, tmp_path / f"out-{tied}", batch=4)
        plan = memory.planned(memory.shape_of(trainer.model), memory.Load(tokens=100, scored=10), "none")
        count = sum(p.numel() for p in trainer.model.parameters())
        state = sum(v.numel() * v.element_size() for one in trainer.optimizer.state.values()
                    for v in one.values() if v.ndim)
        assert plan.parameters == 4 * count
        assert plan.gradients == sum(g.numel() * g.element_size() for g in gradient.values())
        assert plan.moments == state


@pytest.mark.parametrize("kind", memory.KINDS)
def test_what_was_measured_on_a_processor_is_near_the_plan(tmp_path, kind):
    """Peak memory of an update less what was there before, of a model whose activations outweigh its gradients."""
    from benchmarks.training_rig import make_model as make_qwen
    from benchmarks.training_rig import ours

    dice = random.Random(0)
    ids = [dice.randrange(4, 2000) for _ in range(2048)]
    row = {"input_ids": ids, "labels": [i if n % 10 == 0 else -100 for n, i in enumerate(ids)]}
    variant = ours(make_qwen(tmp_path / "m", layers=5, hidden=192, vocabulary=2000), [row], tmp_path,
                   checkpointing=kind)
    variant.measure()  # the first one fills the libraries' own buffers
    variant.measure()
    shape = memory.shape_of(variant.model)
    plan = memory.planned(shape, memory.Load(tokens=2048, scored=205, apart=False), kind)
    expected = (plan.gradients + plan.activations + plan.head) / 1e6
    assert 0.5 < expected / variant.mb[-1] < 2.0, (expected, variant.mb)


def test_the_quickest_way_that_fits_is_chosen():
    totals = [memory.planned(BIG, LONG, kind).total for kind in memory.KINDS]
    assert totals == sorted(totals, reverse=True)
    for kind, total in zip(memory.KINDS, totals, strict=True):
        assert memory.chosen(BIG, LONG, int(total / 0.9) + 10, "auto").checkpointing == kind
    assert memory.chosen(BIG, LONG, 10**15, "full").checkpointing == "full"
    assert memory.planned(BIG, LONG, "offload").host == 36 * 131_072 * 4096 * 2
    here = msgspec.structs.replace(LONG, apart=False)  # on a processor there is nowhere else to put them
    assert memory.planned(BIG, here, "offload").total > memory.planned(BIG, here, "full").total


def test_an_eight_billion_model_at_128k_is_as_the_modelled_figures_say():
    """Boundaries 39 GB, attention outputs 39 GB, a layer's states 13 GB or more (docs/training.md)."""
    full, selective = (memory.planned(BIG, LONG, kind) for kind in ("full", "selective"))
    assert selective.activations - full.activations == pytest.approx(39e9, rel=0.05)
    assert full.parameters + full.gradients + full.moments == 16 * BIG.parameters // 8


@pytest.mark.parametrize("room", [2e9, 2e10, 4e10])
def test_a_refusal_names_what_would_fit_and_that_fits(room):
    with pytest.raises(LimitReached) as refused:
        memory.chosen(BIG, LONG, int(room), "auto")
    sentence = refused.value.sentence
    assert refused.value.code == "memory_short" and "activations" in sentence and "would fit" in sentence
    if found := re.search(r"context_parallel=([0-9]+) on ([0-9]+) devices", sentence):
        share, devices = int(found[1]), int(found[2])
        less = msgspec.structs.replace(LONG, tokens=LONG.tokens // share, scored=LONG.scored // share, devices=devices,
                                       is_shared=True)
        memory.chosen(BIG, less, int(room), "auto")
    if found := re.search(r"(?<!on )\b([0-9]+) devices", sentence):
        memory.chosen(BIG, msgspec.structs.replace(LONG, devices=int(found[1])), int(room), "auto")
    if found := re.search(r"at most ([0-9,]+) tokens", sentence):
        tokens = int(found[1].replace(",", ""))
        less = msgspec.structs.replace(LONG, tokens=tokens, scored=LONG.scored * tokens // LONG.tokens)
        memory.chosen(BIG, less, int(room), "auto")
    if "method=lora" in sentence:
        memory.chosen(BIG, msgspec.structs.replace(LONG, adapter=BIG.parameters // 100), int(room), "auto")


def test_a_dry_run_says_it_all_and_leaves_nothing(tmp_path):
    from core.training.dry_run import dry_run, lines

    model = make_model(tmp_path / "model")
    data = write_rows(tmp_path / "d.jsonl", session_rows(1, 40, 300, share=0.4))
    settings = TrainSettings(data=str(data), model=str(model), out=str(tmp_path / "out"), device="cpu", batch=4)
    found = dry_run(settings)
    assert found.rows == len(data.read_text().splitlines()) == 17 and found.updates == 5
    assert found.chosen == "none" and [p.checkpointing for p in found.plans] == list(memory.KINDS)
    assert "→ none" in lines(found)[1] and json.loads(json.dumps(found.chosen))
    assert not (tmp_path / "out").exists()
    little = dry_run(msgspec.structs.replace(settings, device="auto", gpus=8, memory_gb=0.001))
    assert little.chosen == "" and "would fit" in lines(little)[-1] and little.devices == 8


def test_a_run_for_which_there_is_no_memory_does_not_start(tmp_path):
    from core.training.train import run

    model = make_model(tmp_path / "model")
    data = write_rows(tmp_path / "d.jsonl", session_rows(1, 40, 300, share=0.4))
    settings = TrainSettings(data=str(data), model=str(model), out=str(tmp_path / "out"), device="cpu",
                             memory_gb=0.0005)
    with pytest.raises(LimitReached) as refused:
        run(settings)
    assert refused.value.code == "memory_short"
