"""Attention over packed rows without a mask: each row attends to itself, computed on its own.

A mask of a pack takes the square of its length and is computed where nothing attends; a loop over a few long rows
costs nothing beside them, and takes the same kernel that a single row would.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from core.training.packed_kernels import PACKED, packed_attention

NAME = "tiphys_segments"
_ALIKE = {"full_attention", None}


def segment_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    segment_lengths: tuple[int, ...] | None = None,
    segment_prefixes: tuple[tuple[tuple[int, int], ...], ...] | None = None,
    kernel: str = "auto",
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention inside segments of these lengths; without them as in any other batch. A segment with a prefix (places
    of the pack, as ranges) sees that before itself: it branches off there. `kernel` may be one that takes packs."""
    if segment_lengths is not None and kernel in PACKED:
        return packed_attention(kernel, query, key, value, segment_lengths, segment_prefixes or (),
                                kwargs.get("scaling")), None
    if segment_lengths is None or len(segment_lengths) == 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)  # type: ignore[no-any-return]
    sizes = list(segment_lengths)
    rows = zip(query.split(sizes, 2), key.split(sizes, 2), value.split(sizes, 2), strict=True)
    outputs = []
    for (q, k, v), prefix in zip(rows, segment_prefixes or ((),) * len(sizes), strict=True):
        k, v = (torch.cat([*(whole[:, :, a:b] for a, b in prefix), own], 2) for whole, own in ((key, k), (value, v)))
        mask = _behind(q.shape[2], k.shape[2], q.device) if prefix else None
        outputs.append(sdpa_attention_forward(module, q, k, v, mask, **kwargs)[0])
    return torch.cat(outputs, 1), None


def _behind(own: int, seen: int, device: torch.device) -> torch.Tensor:
    """Which of `seen` places the last `own` of them see: those up to themselves."""
    return torch.ones(own, seen, dtype=torch.bool, device=device).tril(seen - own)[None, None]


def no_mask(*args: Any, attention_mask: torch.Tensor | None = None, **kwargs: Any) -> Any:
    """No mask but for padded batches."""
    return None if attention_mask is None else sdpa_mask(*args, attention_mask=attention_mask, **kwargs)


def can_pack(model: Any) -> bool:
    """Whether every layer of a model is full causal attention that hands our arguments down to it."""
    config = model.config.get_text_config()
    kinds = {*(getattr(config, "layer_types", None) or [None])}
    plain = kinds <= _ALIKE and getattr(config, "sliding_window", None) is None
    kernel = config._attn_implementation == "sdpa" and getattr(model, "_supports_attention_backend", False)
    return bool(plain and kernel and getattr(config, "is_causal", True))


def use_segments(model: Any, kernel: str = "auto") -> None:
    """Let a model's attention take packed rows, computed by a kernel of the settings."""
    # the engine takes a name with "flash" in it for its own way to that package
    name = f"{NAME}_{PACKED.index(kernel)}" if kernel in PACKED else NAME
    AttentionInterface.register(name, partial(segment_attention, kernel=kernel))
    AttentionMaskInterface.register(name, no_mask)
    model.set_attn_implementation(name)
