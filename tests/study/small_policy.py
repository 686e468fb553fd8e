"""A model that is small enough to learn an environment on a processor: words as tokens, a Llama of two layers.

`python -m study.small_policy ENVIRONMENT FOLDER` writes it with random weights; its words are those that the
environment's items, plans and messages use.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.agents import prompts
from core.domain.step import Action
from core.environments.registry import environment_task, kind_of, open_here

TEMPLATE = ("{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")
MARKS = ("<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")


def texts(kind: str, items: Iterable[int]) -> Iterator[str]:
    """What a policy reads and writes in an environment: openings, plans with their answers, some mistakes."""
    for item in items:
        task = environment_task(kind, item=item)
        yield from asyncio.run(_played(task))


async def _played(task) -> list[str]:
    environment = open_here(task.environment)
    try:
        first = await environment.reset(task, task.environment.seed)
        found = [*prompts.environment_prompts(task, first.output.text, "react", environment.tools()),
                 "Thought: \nAction: inventory"]
        plan = kind_of(task.environment).plan
        for step, line in enumerate([*(plan(task.environment) if plan else []), "inventory", "nonsense"], 1):
            told = await environment.act(Action(call_id="", tool="act", arguments={"command": line}), step)
            found += [f"Action: {line}", told.output.text, told.error.message if told.error else ""]
        return found
    finally:
        await environment.close()


JOINED = r" ?[A-Za-z_]+| ?[0-9]|\n+| ?[^A-Za-z_0-9\n ]| "
"""Words, each with the blank before it."""

APART = r"[A-Za-z_]+|[0-9]|\n+|[^A-Za-z_0-9\n ]| "
"""Words and blanks: longer rows, but a word is the same token wherever it stands."""


def make_words(folder: Path, corpus: Iterator[str], pieces: str = JOINED):
    """A tokenizer whose tokens are the words of a corpus, as a pattern cuts them."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel(unk_token="<|unk|>"))
    words.pre_tokenizer = pre_tokenizers.Split(Regex(pieces), "isolated")
    words.decoder = decoders.Fuse()
    words.train_from_iterator(corpus, trainers.WordLevelTrainer(
        vocab_size=20_000, show_progress=False, special_tokens=["<|unk|>", *MARKS]))
    fast = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<|unk|>", eos_token=MARKS[0], pad_token=MARKS[1],
                                   additional_special_tokens=list(MARKS[2:]), clean_up_tokenization_spaces=False)
    fast.chat_template = TEMPLATE
    fast.save_pretrained(str(folder))
    return fast


def make(kind: str, folder: Path, *, width: int = 128, layers: int = 2, items: Sequence[int] = (), seed: int = 0,
         sharpness: float = 0.0) -> Path:
    """The folder of a model with random weights for an environment; with a `sharpness` it is one that copies
    (`lay_copying_in`), with twice the layers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    chosen = items or range(kind_of(environment_task(kind).environment).count())
    tokenizer = make_words(folder, texts(kind, chosen))
    if sharpness:
        from study.base import Shape, save_copying  # it takes the words of this module

        return save_copying(folder, tokenizer, Shape(width=width, pairs=layers, sharpness=sharpness), seed)
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=2048, tie_word_embeddings=True,
        bos_token_id=None, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id))
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(str(folder))
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", default="", help="numbers with commas; all, where none are named")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    make(given.kind, given.folder, items=[int(one) for one in given.items.split(",") if one], width=given.width,
         seed=given.seed)
