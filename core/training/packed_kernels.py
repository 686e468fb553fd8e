"""Kernels that compute the attention of a whole pack at once: torch's FlexAttention, and the packages FlashAttention 2
and 3. Each row attends to itself and to what it branches off from, as in `segments`: nothing is approximate.

Their gradients are computed on GPUs only. Here their masks and places are checked against rows computed one by one
(`tests/core/training/test_packed_kernels.py`); on a GPU they were not run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

Lengths = tuple[int, ...]
Prefixes = tuple[tuple[tuple[int, int], ...], ...]
"""Of each row the places of the pack, as ranges, that it sees before itself."""

PACKAGES = {"flash_attention_2": "flash_attn", "flash_attention_3": "flash_attn_interface"}
"""The module of each package, which has `flash_attn_varlen_func`."""

PACKED = ("flex", *PACKAGES)


def packed_attention(kernel: str, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: Lengths,
                     prefixes: Prefixes, scale: float | None) -> torch.Tensor:
    """Attention of one pack, of states (1, heads, tokens, size), as (1, tokens, heads, size)."""
    if kernel == "flex":
        return by_flex(query, key, value, lengths, prefixes, scale)
    package = (importlib.import_module("flash_attn") if kernel == "flash_attention_2" else
               importlib.import_module("flash_attn_interface"))
    return by_lengths(package.flash_attn_varlen_func, query, key, value, lengths, prefixes, scale)


def by_flex(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: Lengths, prefixes: Prefixes,
            scale: float | None) -> torch.Tensor:
    """By torch's FlexAttention, which leaves out blocks where nothing attends."""
    compute = _compiled() if query.is_cuda else flex_attention
    mask = _blocks(lengths, prefixes, query.device)
    found: torch.Tensor = compute(query, key, value, block_mask=mask, scale=scale,
                                  enable_gqa=query.shape[1] != key.shape[1])
    return found.transpose(1, 2)


@cache
def _compiled() -> Callable[..., Any]:
    """Lengths differ from pack to pack: one compilation is to serve them all."""
    compiled: Callable[..., Any] = torch.compile(flex_attention, dynamic=True)
    return compiled


@lru_cache(maxsize=2)
def _blocks(lengths: Lengths, prefixes: Prefixes, device: torch.device) -> BlockMask:
    """Made once for all layers of a pack. On a GPU it is compiled: else it would take the square of the pack."""
    tokens = sum(lengths)
    row = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(device)
    before = torch.zeros(len(lengths), tokens, dtype=torch.bool)
    for number, ranges in enumerate(prefixes):
        for first, end in ranges:
            before[number, first:end] = True
    before = before.to(device)

    def sees(_: torch.Tensor, __: torch.Tensor, at: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return ((row[at] == row[place]) & (at >= place)) | before[row[at], place]

    return create_block_mask(sees, None, None, tokens, tokens, device=device, _compile=device.type == "cuda")


def by_lengths(function: Callable[..., Any], query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
               lengths: Lengths, prefixes: Prefixes, scale: float | None) -> torch.Tensor:
    """By a function that takes rows end to end with their places. Where a row has more keys than queries its last key
    is its last query's (FlashAttention from 2.1 on): what it branches off from goes before its own."""
    low = query.dtype if query.dtype in (torch.bfloat16, torch.float16) else torch.bfloat16
    ends = [0, *accumulate(lengths)]
    ranges = [[*before, own] for before, own in zip(
        prefixes or ((),) * len(lengths), pairwise(ends), strict=True)]
    seen = [sum(end - first for first, end in row) for row in ranges]
    keys, values = (torch.cat([states[0, :, a:b] for row in ranges for a, b in row], 1) if any(prefixes) else states[0]
                    for states in (key, value))
    found = function(*(states.transpose(0, 1).to(low) for states in (query[0], keys, values)),
                     cu_seqlens_q=_places(lengths, query.device), cu_seqlens_k=_places(seen, query.device),
                     max_seqlen_q=max(lengths), max_seqlen_k=max(seen), softmax_scale=scale, causal=True)
    whole: torch.Tensor = found[0] if isinstance(found, tuple) else found  # earlier ones give their sums as well
    return whole[None].to(query.dtype)


def _places(lengths: Any, device: torch.device) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)
