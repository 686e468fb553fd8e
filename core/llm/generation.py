"""Sampling from a causal language model: several prompts at once, each with its own stop, settings and randomness.

The model's cache holds what was computed; a row's uniform numbers come from its own seed, so that what is sampled does
not depend on which other rows are there (but for the last bits of the logits).
"""

import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec
import torch

_CACHES = ("cache", "past_key_values")
"""Where a model gives and takes its cache, newest name first: transformers 5.24 renamed it in its own models."""


class Draw(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt: at most `most` tokens, at a `temperature` (0: the best token each time), of the tokens that make up
    `top_p` of the probability. `seed` None: another answer each time."""

    prompt: Sequence[int]
    most: int
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None


class Drawn(msgspec.Struct):
    """The sampled tokens with their log-probabilities (log_softmax(logits / temperature), before `top_p` cuts);
    `ended`: the last one is a stop token."""

    ids: list[int]
    logprobs: list[float]
    ended: bool = False


OnToken = Callable[[int, Drawn], bool]
"""Told of each new token of a row; true ends that row."""


def generate(model: Any, asked: Sequence[Draw], stops: Collection[int], pad: int, on_token: OnToken | None = None
             ) -> list[Drawn]:
    """An answer for each prompt, in their order."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            return _generate(model, asked, stops, pad, on_token)
    finally:
        model.train(was_training)


def _generate(model: Any, asked: Sequence[Draw], stops: Collection[int], pad: int, on_token: OnToken | None
              ) -> list[Drawn]:
    given = [Drawn([], []) for _ in asked]
    running = [bool(one.most > 0) for one in asked]
    draws = [random.Random(one.seed) for one in asked]
    ids, seen = _padded([one.prompt for one in asked], pad, model.device)
    places = (seen.cumsum(-1) - 1).clamp(min=0)
    cache: dict[str, Any] = {}
    while any(running):
        out = model(input_ids=ids, attention_mask=seen, position_ids=places, use_cache=True, logits_to_keep=1,
                    **cache)
        name = next(one for one in _CACHES if one in out)
        cache = {name: out[name]}
        drawn, logprobs = _draw(out.logits[:, -1].float(), asked, [d.random() for d in draws])
        for row, (token, logprob) in enumerate(zip(drawn, logprobs, strict=True)):
            if running[row]:
                running[row] = _goes_on(row, token, logprob, given[row], asked[row], stops, on_token)
        ids = torch.tensor(drawn, device=model.device).unsqueeze(1)
        seen = torch.cat([seen, seen.new_ones(len(asked), 1)], dim=1)
        places = places[:, -1:] + 1
    return given


def _goes_on(row: int, token: int, logprob: float, given: Drawn, asked: Draw, stops: Collection[int],
             on_token: OnToken | None) -> bool:
    given.ids.append(token)
    given.logprobs.append(logprob)
    given.ended = token in stops
    is_over = on_token is not None and on_token(row, given)
    return not (given.ended or is_over or len(given.ids) >= asked.most)


def _padded(prompts: Sequence[Sequence[int]], pad: int, device: Any) -> tuple[Any, Any]:
    """The prompts as one block, filled on their left, and which of its places hold tokens."""
    width = max(map(len, prompts))
    ids = [[pad] * (width - len(one)) + list(one) for one in prompts]
    seen = [[0] * (width - len(one)) + [1] * len(one) for one in prompts]
    return torch.tensor(ids, device=device), torch.tensor(seen, device=device)


def _draw(logits: Any, asked: Sequence[Draw], uniform: Sequence[float]) -> tuple[list[int], list[float]]:
    """A token for each row, and its log-probability."""
    heat = torch.tensor([one.temperature or 1.0 for one in asked], device=logits.device).unsqueeze(1)
    logprobs = torch.log_softmax(logits / heat, dim=-1)
    best = logprobs.argmax(-1)
    tokens = best.clone()
    if any(one.temperature for one in asked):
        tokens = _sampled(logprobs, asked, uniform)
        cold = torch.tensor([not one.temperature for one in asked], device=logits.device)
        tokens = torch.where(cold, best, tokens)
    return tokens.tolist(), logprobs.gather(1, tokens.unsqueeze(1)).squeeze(1).tolist()


def _sampled(logprobs: Any, asked: Sequence[Draw], uniform: Sequence[float]) -> Any:
    """By the inverse of the cumulative distribution: one uniform number a row."""
    chances = logprobs.exp().double()
    if any(one.top_p < 1.0 for one in asked):
        chances = _cut(chances, torch.tensor([one.top_p for one in asked], device=logprobs.device).unsqueeze(1))
    sums = chances.cumsum(-1)
    wanted = torch.tensor(uniform, dtype=sums.dtype, device=sums.device).unsqueeze(1) * sums[:, -1:]
    found = torch.searchsorted(sums, wanted, right=True).squeeze(1)
    return found.clamp(max=logprobs.shape[-1] - 1)


def _cut(chances: Any, top_p: Any) -> Any:
    """The chances without those beyond the most probable tokens that make up `top_p`."""
    ordered, places = chances.sort(dim=-1, descending=True)
    beyond = ordered.cumsum(-1) - ordered >= top_p
    return torch.zeros_like(chances).scatter(1, places, ordered.masked_fill(beyond, 0.0))
