"""`liger=true` changes no gradient: Liger's own kernels, by Triton's interpreter, in whole updates of our trainer."""

from __future__ import annotations

import importlib

import pytest
import support.triton_here  # noqa: F401  before Liger
import torch
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.rope import LigerRopeFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction
from support.updates import plain_gradient, session_rows, trainer_gradient, worst_error, write_rows
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]  # numpy, operation by operation
FAMILIES = {"llama": {}, "qwen2": {}, "qwen3": {"head_dim": 16}}
KERNELS = (LigerRMSNormFunction, LigerRopeFunction, LigerSiLUMulFunction)


@pytest.fixture(autouse=True)
def unpatched():
    """Liger puts its own into the families' modules, for every model that is made afterwards."""
    modules = [importlib.import_module(f"transformers.models.{name}.modeling_{name}") for name in FAMILIES]
    before = [dict(vars(module)) for module in modules]
    yield
    for module, names in zip(modules, before, strict=True):
        vars(module).update(names)


@pytest.fixture
def calls(monkeypatch):
    """How often each kernel's forward and backward pass ran."""
    counted: dict[str, int] = {}

    def count(kernel, way):
        real = getattr(kernel, way)

        def counting(*args):
            name = f"{kernel.__name__}.{way}"
            counted[name] = counted.get(name, 0) + 1
            return real(*args)

        monkeypatch.setattr(kernel, way, staticmethod(counting))

    for kernel in KERNELS:
        count(kernel, "forward")
        count(kernel, "backward")
    return counted


@pytest.mark.parametrize(("family", "more"), [
    ("llama", {}), ("qwen3", {}), ("qwen2", {"method": "lora"}), ("llama", {"checkpointing": "full"})])
def test_an_update_with_ligers_kernels_has_the_gradient_of_plain_transformers(tmp_path, calls, family, more):
    from support.tiny_model import make_model

    model = make_model(tmp_path / "tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(model)
    torch.manual_seed(3)
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
             "num_key_value_heads": 1, "vocab_size": len(tokenizer), "tie_word_embeddings": True, **FAMILIES[family]}
    AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **shape)).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    rows = session_rows(1, 100, len(tokenizer), stop=tokenizer.pad_token_id)
    data = write_rows(tmp_path / "data.jsonl", rows)
    plain = plain_gradient(tmp_path / "model", rows)[1]
    assert not calls
    (loss, gradient, _), (told, ours, _) = (
        trainer_gradient(tmp_path / "model", data, tmp_path / str(liger), batch=len(rows), liger=liger, **more)
        for liger in (False, True))
    assert {f"{kernel.__name__}.{way}" for kernel in KERNELS for way in ("forward", "backward")} == set(calls)
    assert told == pytest.approx(loss, rel=1e-5)
    assert worst_error(ours, gradient) <= 5e-6
    if not more:
        assert worst_error(ours, plain) <= 5e-6
