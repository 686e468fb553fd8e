"""What a small policy is taught before it plays TextCraft: to read. It learns to say a list of words again, and then to
play sessions whose words were exchanged for one another, anew in each: what is to be done stands nowhere but in the
text, and so it does for goals that it never saw."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from study.first_plays import rows

from core.domain.message import Message
from core.environments.registry import environment_task, open_here

COPIES, LONGEST = 450, 40
"""Changes in which lists are said again, and words of the longest list."""

_RECIPE = re.compile(r"^craft [0-9]+ .*", re.MULTILINE)
_FORM = frozenset({"craft", "using", "get"})


def near_commands(told: str) -> list[str]:
    """What may be tried in a game of TextCraft: the recipes that it tells, and what goes into them from the ground."""
    recipes = _RECIPE.findall(told)
    parts = [part for recipe in recipes for part in recipe.partition(" using ")[2].split(", ")]
    return list(dict.fromkeys([*recipes, *(f"get {part}" for part in parts)]))


def teach_to_read(folder: Path, sessions: Sequence[Sequence[Message]], items: Sequence[int], *, epochs: int,
                  rate: float, seed: int) -> float:
    """Train the model of a folder in place, first on lists, then on sessions of TextCraft. Gives the last loss."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
    dice = np.random.default_rng(seed)
    _taught(model, (_lists(dice, len(tokenizer)) for _ in range(COPIES)), 1.5 * rate, COPIES, falls=False)
    taught, words = rows(tokenizer, sessions), _words(tokenizer, items)
    count = epochs * -(-len(taught) // 8)
    last = _taught(model, _batches(taught, words, tokenizer.pad_token_id, len(tokenizer), epochs, dice), rate, count)
    model.save_pretrained(str(folder))
    return last


def _taught(model, batches, rate: float, count: int, *, falls: bool = True) -> float:
    """One change for each batch; the rate rises at first, and falls to nothing where it does."""
    import torch

    adam, loss = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.0), torch.zeros(())
    for number, (ids, labels) in enumerate(batches):
        for group in adam.param_groups:
            group["lr"] = rate * min(1.0, (number + 1) / 60) * (max(0.05, 1 - number / count) if falls else 1.0)
        loss = model(input_ids=torch.tensor(ids), labels=torch.tensor(labels)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
    return loss.item()


def _lists(dice: np.random.Generator, size: int):
    length = int(dice.integers(8, LONGEST))
    words = dice.integers(7, size, (1250 // length, length))
    ids = np.concatenate([words, words], 1)
    labels = ids.copy()
    labels[:, :length] = -100
    return ids, labels


def _words(tokenizer, items: Sequence[int]) -> np.ndarray:
    """The ids of the words that name things in these games."""
    tasks = [environment_task("textcraft", item=item) for item in items]
    told = [asyncio.run(open_here(task.environment).reset(task, 0)).output.text for task in tasks]
    texts = {word for text in told for line in near_commands(text) for word in re.findall(r"[a-z_]+", line)}
    ids = {tokenizer.convert_tokens_to_ids(f" {word}") for word in texts - _FORM} - {tokenizer.unk_token_id}
    return np.array(sorted(ids))


def _batches(taught, words: np.ndarray, pad: int, size: int, epochs: int, dice: np.random.Generator):
    """Sessions of about a length, their words exchanged."""
    for _ in range(epochs):
        order = sorted(range(len(taught)), key=lambda n: len(taught[n][0]) + 40 * dice.random())
        starts = list(range(0, len(order), 8))
        dice.shuffle(starts)
        for at in starts:
            batch = [taught[n] for n in order[at : at + 8]]
            width = max(len(ids) for ids, _ in batch)
            both = [_exchanged(ids, labels, words, size, dice) for ids, labels in batch]
            yield (np.array([[*ids, *[pad] * (width - len(ids))] for ids, _ in both]),
                   np.array([[*labels, *[-100] * (width - len(labels))] for _, labels in both]))


def _exchanged(ids, labels, words: np.ndarray, size: int, dice: np.random.Generator):
    other = np.arange(size)
    other[words] = dice.permutation(words)
    labels = np.array(labels)
    return other[np.array(ids)], np.where(labels < 0, labels, other[np.maximum(labels, 0)])
