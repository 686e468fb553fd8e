"""Several devices share each row: a part of its tokens on each, all of its tokens for some heads in attention.

DeepSpeed-Ulysses' scheme (Jacobs et al. 2023, arXiv:2309.14509): before attention the devices of a group exchange parts
of the row against parts of the heads, after it they exchange back. Everything else of a layer looks at one token at a
time. Attention itself is that of packed rows on one device, with fewer heads, so every kernel stays, and nothing is
approximate. What torch 2.13 ships instead (ring attention) knows the kernels of GPUs only, and no packed rows.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import distributed
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

from core.domain.errors import InvalidInput
from core.training.segments import no_mask, segment_attention

NAME = "tiphys_context_parallel"


def check_shares(model: Any, share: int) -> None:
    """Raises InvalidInput (bad_settings) for a model whose rows `share` devices cannot share."""
    heads = model.config.get_text_config().num_attention_heads
    if heads % share:
        raise InvalidInput("bad_settings", f"context_parallel is {share}, and the model's {heads} heads of attention "
                           "cannot be dealt out evenly.")


def share_rows(model: Any, share: int, kernel: str = "auto") -> None:
    """Let groups of `share` neighbouring processes share each pack, computed by a kernel of the settings. All processes
    of the run call it, after the model takes packed rows."""
    ranks = range(distributed.get_world_size())
    groups = [distributed.new_group([*ranks[at : at + share]]) for at in range(0, len(ranks), share)]
    own = groups[distributed.get_rank() // share]

    def attention(module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                  attention_mask: torch.Tensor | None, segment_lengths: tuple[int, ...] | None = None,
                  **kwargs: Any) -> tuple[torch.Tensor, None]:
        if segment_lengths is None:  # a batch that is not shared: an evaluation
            return segment_attention(module, query, key, value, attention_mask, **kwargs)
        return _exchanged(own, module, query, key, value, segment_lengths, {**kwargs, "kernel": kernel})

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, no_mask)
    model.set_attn_implementation(NAME)


def _exchanged(group: Any, module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
               lengths: tuple[int, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, None]:
    size = distributed.get_world_size(group)
    if key.shape[1] % size:  # fewer heads of keys than devices: each gets a copy of those that its queries ask
        copies = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(copies, 1), value.repeat_interleave(copies, 1)
    per_key = SimpleNamespace(num_key_value_groups=query.shape[1] // key.shape[1], is_causal=True,
                              training=module.training)
    q, k, v = (_Exchange.apply(states, group, True) for states in (query, key, value))
    output, _ = segment_attention(per_key, q, k, v, None, segment_lengths=lengths, **kwargs)
    back: torch.Tensor = _Exchange.apply(output.transpose(1, 2), group, False)
    return back.transpose(1, 2), None


class _Exchange(torch.autograd.Function):  # type: ignore[misc]
    """States (1, heads, tokens, size) of all heads at some tokens become those of some heads at all tokens
    (`gathers`), or the reverse."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, group: Any, gathers: bool) -> torch.Tensor:
        ctx.group, ctx.gathers = group, gathers
        return _swap(states, group, 1, 2) if gathers else _swap(states, group, 2, 1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return (_swap(grads[0], ctx.group, 2, 1) if ctx.gathers else _swap(grads[0], ctx.group, 1, 2)), None, None


def _swap(states: torch.Tensor, group: Any, dealt: int, joined: int) -> torch.Tensor:
    """Cut along the axis `dealt`, a piece for each process; what comes from each is joined along `joined`."""
    pieces = torch.stack(states.chunk(distributed.get_world_size(group), dealt)).contiguous()
    received = torch.empty_like(pieces)
    distributed.all_to_all_single(received, pieces, group=group)
    return torch.cat(received.unbind(0), joined)
