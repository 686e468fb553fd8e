"""Whether a model's activations fit, or have to be computed again in the backward pass."""

from __future__ import annotations

from typing import Any

import psutil
import torch

_SHARE = 4
"""Activations may take this part of the memory that is free: 1/4."""


def activation_bytes(config: Any, tokens: int, width: int = 4) -> int:
    """About what a dense transformer keeps for the backward pass of so many tokens, `width` bytes a number.

    Twelve states of a layer's width and four of its inner width: the inputs of each matrix product, norm and gate,
    and the query, key and value before and after rotation.
    """
    inner = getattr(config, "intermediate_size", None) or 4 * config.hidden_size
    return int(config.num_hidden_layers * tokens * width * (12 * config.hidden_size + 4 * inner))


def keeps(model: Any, tokens: int) -> bool:
    """Whether the activations of so many tokens at once fit beside the weights, their gradients and Adam's moments."""
    config = model.config.get_text_config()
    weights = sum(p.numel() for p in model.parameters())
    if torch.cuda.is_available():
        free, width = torch.cuda.mem_get_info()[0] - 16 * weights, 2
    else:
        free, width = psutil.virtual_memory().available - 12 * weights, 4
    return bool(activation_bytes(config, tokens, width) < free // _SHARE)
