"""No lever changes the gradient: each, and all at once, against plain transformers on separate, repeated rows."""

from __future__ import annotations

import pytest
from support.tiny_model import make_model
from support.updates import plain_gradient, session_rows, trainer_gradient, worst_error, write_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

OFF = {"merge_copies": False, "cut_tail": False, "packing": False, "head": "all", "checkpointing": "none"}
SEGMENTS = 2


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, a data set of 34 rows, and its gradient by plain transformers."""
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("levers")
    model = make_model(folder / "model")
    stop = AutoTokenizer.from_pretrained(model).pad_token_id
    rows = session_rows(SEGMENTS, 120, 300, stop=stop)
    assert any(stop in row["labels"] for row in rows)
    return folder, model, write_rows(folder / "data.jsonl", rows), rows, plain_gradient(model, rows)


@pytest.mark.parametrize(("more", "parts"), [
    (OFF, 34), ({**OFF, "micro_batch": 5}, 7), ({**OFF, "cut_tail": True}, 34),
    ({**OFF, "merge_copies": True, "merge_chains": False}, 4), ({**OFF, "merge_copies": True}, 2),
    ({**OFF, "packing": True, "pack_tokens": 500}, None), ({**OFF, "packing": True, "pack_tokens": 100_000}, 1),
    ({**OFF, "packing": True, "pack_tokens": 10}, 34), ({**OFF, "head": "supervised"}, 34),
    ({**OFF, "checkpointing": "full"}, 34), ({**OFF, "checkpointing": "selective"}, 34),
    ({"attention": "math"}, 1), ({"attention": "flash"}, 1), ({**OFF, "attention": "math"}, 34),
    ({"checkpointing": "selective"}, 1), ({"packing": False, "micro_batch": 2}, 1), ({}, 1),
])
def test_the_gradient_is_that_of_plain_transformers(made, tmp_path, more, parts):
    _, model, data, rows, (loss, gradient) = made
    told, ours, trainer = trainer_gradient(model, data, tmp_path, batch=len(rows), **more)
    update = trainer.updates(trainer.train_dataset)
    assert parts is None or len(update["parts"]) == parts
    assert told == pytest.approx(loss, rel=1e-5)
    assert worst_error(ours, gradient) <= 5e-6


def test_activations_that_are_computed_again_are_the_same_to_the_bit(made, tmp_path):
    _, model, data, rows, _ = made
    kept, *others = (trainer_gradient(model, data, tmp_path / kind, batch=len(rows), checkpointing=kind)[1]
                     for kind in ("none", "full", "selective", "offload"))
    for name, gradient in kept.items():
        assert all(torch.equal(gradient, other[name]) for other in others)


def test_offload_takes_the_layers_inputs_out_of_the_graph_as_many_bytes_as_planned(made, tmp_path, monkeypatch):
    """Without a GPU the hooks that copy them off a device copy them within the processor's memory; torch pins no memory
    then, so that alone is left out."""
    from transformers import AutoModelForCausalLM, modeling_utils

    from core.training import engine, memory

    taken: list[int] = []

    class Counting(torch.autograd.graph.save_on_cpu):
        def __init__(self, pin_memory, device_type):
            super().__init__(pin_memory=False, device_type=device_type)

            def counted(tensor):
                packed = tensor.detach().clone()  # what .cpu() does to a tensor of a device
                taken.append(packed.numel() * packed.element_size() * tensor.is_floating_point())
                return tensor.device, packed

            self.pack_hook = counted

    _, model, data, rows, _ = made
    kept = trainer_gradient(model, data, tmp_path / "none", batch=len(rows), checkpointing="none")[1]
    monkeypatch.setattr(modeling_utils, "save_on_cpu", Counting)
    monkeypatch.setattr(engine, "_recomputed", lambda *_: "offload")
    _, ours, trainer = trainer_gradient(model, data, tmp_path, batch=len(rows), checkpointing="offload")
    assert all(torch.equal(gradient, ours[name]) for name, gradient in kept.items())
    tokens = len(trainer.updates(rows)["parts"][0]["input_ids"][0])
    shape = memory.shape_of(AutoModelForCausalLM.from_pretrained(model))
    load = memory.Load(tokens=tokens, scored=tokens // 10)
    plans = {kind: memory.planned(shape, load, kind) for kind in memory.KINDS}
    inputs = [size for size in taken if size == tokens * shape.hidden * 4]
    assert sum(inputs) == plans["offload"].host and len(inputs) == shape.layers
    assert sum(taken) <= 2 * plans["offload"].host  # beside them the rotation's tables, which layers share
    assert plans["full"].activations - plans["offload"].activations == plans["offload"].host - 2 * inputs[0]


def test_selective_checkpointing_keeps_attention_and_full_computes_it_again(made, tmp_path):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        times = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.times += func is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
            return func(*args, **(kwargs or {}))

    _, model, data, rows, _ = made
    seen = {}
    for method in ("full", "lora"):
        for kind in ("none", "selective", "full"):
            with Count() as count:
                trainer_gradient(model, data, tmp_path / method / kind, batch=len(rows), checkpointing=kind,
                                 method=method)
            seen[method, kind] = count.times
    layers, chains = 2, SEGMENTS
    for method in ("full", "lora"):
        assert [seen[method, k] for k in ("none", "selective", "full")] == [layers * chains * n for n in (1, 1, 2)]


def test_attention_is_computed_by_the_kernel_that_was_chosen(made, tmp_path):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        times = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.times += func is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
            return func(*args, **(kwargs or {}))

    _, model, data, rows, _ = made
    seen = {}
    for kernel in ("auto", "flash", "math"):
        with Count() as count:
            trainer_gradient(model, data, tmp_path / kernel, batch=len(rows), checkpointing="none", attention=kernel)
        seen[kernel] = count.times
    assert seen["auto"] == seen["flash"] > 0 == seen["math"]


def test_what_is_trained_goes_in_and_comes_out_with_the_same_tokens(made, tmp_path):
    """Σ of the weights is the number of trained tokens of all copies; the ids are those of the longest rows."""
    _, model, data, rows, _ = made
    trained = sum(label != -100 for row in rows for label in row["labels"])
    trainer = trainer_gradient(model, data, tmp_path, batch=len(rows))[2]
    update = trainer.updates(rows)
    [part] = update["parts"]
    assert update["weight"] == trained == float(part["weights"].sum()) == update["trained_tokens"]
    chains = {tuple(r["input_ids"]) for r in rows if r["labels"][-1] != -100}
    lengths = part["segment_lengths"]
    assert {tuple(s.tolist()) for s in part["input_ids"][0].split(lengths)} == chains
    assert part["position_ids"][0].tolist() == [n for size in lengths for n in range(size)]
    assert update["tokens"] == sum(len(r["input_ids"]) for r in rows)
    assert update["computed_tokens"] == sum(map(len, chains)) == sum(update["lengths"])


def test_no_token_of_a_pack_sees_another_row(made, tmp_path):
    """Another first row changes nothing of what a second row's tokens become."""
    from core.training.copies import counted
    from core.training.updates import packed

    _, model, data, rows, _ = made
    net = trainer_gradient(model, data, tmp_path, batch=2)[2].model.eval()
    mine = counted(rows[0])

    def states(before):
        pack = packed([counted(before), mine])
        with torch.no_grad():
            told = net.get_decoder()(input_ids=pack["input_ids"], position_ids=pack["position_ids"],
                                     segment_lengths=pack["segment_lengths"]).last_hidden_state
        return told[0, len(before["input_ids"]) :]

    other = next(r for r in rows if r["input_ids"] != rows[0]["input_ids"])
    assert torch.equal(states(other), states({**other, "input_ids": other["input_ids"][::-1]}))
    with torch.no_grad():
        alone = net.get_decoder()(input_ids=torch.tensor([rows[0]["input_ids"]])).last_hidden_state[0]
    assert torch.allclose(states(other), alone, atol=1e-6)


def test_weights_of_rows_and_of_tokens_count_like_copies(made, tmp_path):
    _, model, _, rows, _ = made
    one, other = rows[0], next(r for r in rows if r["input_ids"][:99] != rows[0]["input_ids"][:99])
    copies = write_rows(tmp_path / "copies.jsonl", [one] * 3 + [other] * 2)
    weights = [2.0 * (label != -100) for label in other["labels"]]
    weighed = write_rows(tmp_path / "weighed.jsonl", [{**one, "weight": 3.0}, {**other, "weights": weights}])
    theirs = plain_gradient(model, [one] * 3 + [other] * 2)
    for name, data, more in (("a", copies, {}), ("b", weighed, {}), ("c", weighed, OFF)):
        loss, ours, _ = trainer_gradient(model, data, tmp_path / name, batch=5, **more)
        assert loss == pytest.approx(theirs[0], rel=1e-5) and worst_error(ours, theirs[1]) <= 5e-6


def test_a_head_that_does_more_than_a_product_is_left_to_the_engine(made, tmp_path):
    """Such models scale or bend their scores; the gradient must be theirs too."""
    from transformers import GraniteConfig, GraniteForCausalLM

    _, source, _, rows, _ = made
    few = [rows[0]] * 2 + [rows[5]]
    model = tmp_path / "granite"
    model.mkdir()
    for path in source.glob("*token*"):
        (model / path.name).write_bytes(path.read_bytes())
    torch.manual_seed(0)
    GraniteForCausalLM(GraniteConfig(vocab_size=800, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                     num_attention_heads=2, num_key_value_heads=1, logits_scaling=3.0,
                                     tie_word_embeddings=True, pad_token_id=None)).save_pretrained(model)
    loss, ours, _ = trainer_gradient(model, write_rows(tmp_path / "d.jsonl", few), tmp_path / "out", batch=3)
    theirs = plain_gradient(model, few)
    assert loss == pytest.approx(theirs[0], rel=1e-5) and worst_error(ours, theirs[1]) <= 5e-6


def test_layers_with_a_window_are_not_packed_and_stay_exact(made, tmp_path):
    from transformers import MistralConfig, MistralForCausalLM

    _, source, _, rows, _ = made
    few = [rows[0]] * 2 + [next(r for r in rows if r["input_ids"][:99] != rows[0]["input_ids"][:99])]
    model = tmp_path / "mistral"
    model.mkdir()
    for path in source.glob("*token*"):
        (model / path.name).write_bytes(path.read_bytes())
    torch.manual_seed(0)
    MistralForCausalLM(MistralConfig(vocab_size=800, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                     num_attention_heads=2, num_key_value_heads=1, sliding_window=16,
                                     pad_token_id=None)).save_pretrained(model)
    loss, ours, trainer = trainer_gradient(model, write_rows(tmp_path / "d.jsonl", few), tmp_path / "out", batch=3,
                                           micro_batch=2)
    assert "attention_mask" in trainer.updates(few)["parts"][0]
    theirs = plain_gradient(model, few)
    assert loss == pytest.approx(theirs[0], rel=1e-5) and worst_error(ours, theirs[1]) <= 5e-6
