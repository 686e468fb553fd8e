"""One thread for torch: these models are too small for more, and other tests want the cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from study.small_policy import make_words, texts
from support.letter_game import LETTERS, use_letter_game
from support.warm import warm_interpreter

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """An interpreter that has the libraries of training loaded, for what is not about a start."""
    pytest.importorskip("trl")
    with warm_interpreter() as python:
        yield python


@pytest.fixture(scope="session")
def letter_policy(tmp_path_factory) -> Path:
    """A policy that says some letter at random: of three tokens an answer, two are nearly certain."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("jinja2")
    from transformers import LlamaConfig, LlamaForCausalLM

    use_letter_game()
    folder = tmp_path_factory.mktemp("letters")
    words = make_words(folder, texts("letters", range(len(LETTERS))))
    torch.manual_seed(0)
    net = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=False, bos_token_id=None,
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id))
    _speak(net, words)
    net.save_pretrained(str(folder))
    return folder


def _speak(net, words) -> None:
    """Teach it the form: `Action: X` with any letter, whatever is asked for."""
    import torch

    openings = [t for t in texts("letters", range(len(LETTERS))) if "goal" in t or "Answer in this form" in t]
    ids, starts = [], []
    for at in range(0, len(openings), 2):
        messages = [{"role": r, "content": c} for r, c in zip(("system", "user"), openings[at : at + 2], strict=True)]
        prompt = words.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        starts += [len(words(prompt, add_special_tokens=False)["input_ids"])] * len(LETTERS)
        ids += [words(f"{prompt}Action: {x}<|end|>", add_special_tokens=False)["input_ids"] for x in LETTERS]
    ids = torch.tensor(ids)
    labels = torch.where(torch.arange(ids.shape[1]) >= torch.tensor(starts)[:, None], ids, -100)
    adam = torch.optim.AdamW(net.parameters(), 3e-2)
    for _ in range(40):
        net(input_ids=ids, labels=labels).loss.backward()
        adam.step()
        adam.zero_grad()
