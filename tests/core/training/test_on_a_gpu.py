"""What only a GPU shows; passed over where there is none. Each kernel against attention's definition, whole updates by
each kernel, by each way to keep activations and with Liger against plain transformers, and the plan of memory against
the allocator's own count. `--gpus` on several: the run that test_together.py makes on a processor."""

from __future__ import annotations

import importlib.util
import json

import pytest
from support.packed_states import ALONE, BRANCHES, LENGTHS, packed_states, row_by_row
from support.tiny_model import make_model
from support.updates import plain_gradient, session_rows, trainer_gradient, worst_error, write_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
DEVICE = "cuda"
pytestmark = [pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"),
              pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]
PACKAGES = {"flash_attention_2": "flash_attn", "flash_attention_3": "flash_attn_interface"}
KERNELS = ["auto", "math", "flash", "efficient", "cudnn", "flex", *PACKAGES]


def needs(kernel: str) -> None:
    """Pass over a kernel whose package is not installed."""
    if kernel in PACKAGES and importlib.util.find_spec(PACKAGES[kernel]) is None:
        pytest.skip(f"{PACKAGES[kernel]} is not installed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, rows, and their gradient by plain transformers on the processor, in float32."""
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("gpu")
    model = make_model(folder / "model")
    rows = session_rows(2, 120, 300, stop=AutoTokenizer.from_pretrained(model).pad_token_id)
    return model, write_rows(folder / "data.jsonl", rows), rows, plain_gradient(model, rows)


def error(made, out, **settings) -> float:
    """How far an update's gradient on the GPU is from plain transformers'."""
    model, data, rows, (loss, gradient) = made
    told, ours, _ = trainer_gradient(model, data, out, batch=len(rows), device="auto", **settings)
    assert told == pytest.approx(loss, rel=1e-4 if settings["precision"] == "fp32" else 2e-2)
    return worst_error({name: one.cpu().float() for name, one in ours.items()}, gradient)


@pytest.mark.parametrize("branches", [ALONE, BRANCHES], ids=["rows", "branches"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_and_its_gradient_are_attentions_definition(kernel, branches) -> None:
    from core.training.kernels import attention_kernel
    from core.training.segments import segment_attention

    needs(kernel)
    if branches is BRANCHES and kernel == "flash":
        pytest.skip("torch's own FlashAttention takes no mask; branches belong to reinforcement")
    module = torch.nn.Module()
    module.num_key_value_groups, module.is_causal = 2, True
    given = packed_states(4, torch.bfloat16, DEVICE)
    with attention_kernel(kernel):
        ours, _ = segment_attention(module, *given, None, segment_lengths=LENGTHS, segment_prefixes=branches,
                                    kernel=kernel, scaling=0.25)
    wanted = row_by_row(*given, branches)
    assert (ours - wanted).abs().max() <= 0.02 * wanted.abs().max()
    factor = torch.randn_like(wanted)
    for got, right in zip(torch.autograd.grad((ours * factor).sum(), given),
                          torch.autograd.grad((wanted * factor).sum(), given), strict=True):
        assert (got - right).abs().max() <= 0.03 * right.abs().max()


@pytest.mark.parametrize("more", [{"attention": "math"}, {"attention": "efficient"}, {"packing": False}, {
    "checkpointing": "selective"}, {"checkpointing": "full"}, {"checkpointing": "offload"}, {"head": "all"}])
def test_an_update_in_float32_has_the_gradient_of_plain_transformers(made, tmp_path, more) -> None:
    assert error(made, tmp_path, precision="fp32", **more) <= 1e-4


@pytest.mark.parametrize("more", [*({"attention": kernel} for kernel in KERNELS if kernel != "math"), {"liger": True}, {
    "attention": "measured"}, {"checkpointing": "offload"}, {"method": "lora"}])
def test_an_update_in_bfloat16_is_as_near_as_plain_kernels_are(made, tmp_path, more) -> None:
    needs(more.get("attention", ""))
    if more.get("liger") and importlib.util.find_spec("liger_kernel") is None:
        pytest.skip("liger_kernel is not installed")
    if more.get("method") == "lora":
        (_, plain, _), (_, ours, _) = (
            trainer_gradient(made[0], made[1], tmp_path / kind, batch=len(made[2]), device="auto", precision=kind,
                             **more) for kind in ("fp32", "bf16"))
        assert worst_error({name: one.float() for name, one in ours.items()}, plain) <= 0.1
        return
    rounding = error(made, tmp_path / "math", precision="bf16", attention="math")
    assert error(made, tmp_path / "own", precision="bf16", **more) <= 2 * rounding


@pytest.mark.parametrize("kind", ["none", "selective", "full", "offload"])
def test_the_plan_of_memory_is_what_the_device_gives(tmp_path, kind) -> None:
    """Qwen2 in bfloat16, 8,192 tokens: the allocator's peak against the plan, which is to lean to more."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    from core.training.data import check_rows
    from core.training.memory import planned, shape_of
    from core.training.room import load_of
    from core.training.settings import TrainSettings

    folder = make_model(tmp_path / "model")
    vocabulary = len(AutoTokenizer.from_pretrained(folder))
    Qwen2ForCausalLM(Qwen2Config(vocab_size=vocabulary, hidden_size=512, intermediate_size=1536, num_hidden_layers=8,
                                 num_attention_heads=8, num_key_value_heads=2, max_position_embeddings=16_384,
                                 bos_token_id=None, eos_token_id=None)).save_pretrained(folder)
    ids = [n % vocabulary for n in range(8192)]
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"input_ids": ids, "labels": [t if n % 10 == 0 else -100 for n, t in enumerate(ids)]}))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    trainer_gradient(folder, data, tmp_path / "out", batch=1, device="auto", checkpointing=kind)
    measured = torch.cuda.max_memory_allocated() - before
    settings = TrainSettings(data=str(data), model=str(folder), out="o", batch=1, checkpointing=kind)
    model = AutoModelForCausalLM.from_pretrained(folder)
    plan = planned(shape_of(model), load_of(settings, check_rows([data], vocabulary, 10_000, tmp_path / "rows"), model),
                   kind)
    assert 0.7 <= plan.total / measured <= 1.6
