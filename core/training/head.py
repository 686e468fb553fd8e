"""The output layer at trained positions only, its gradient made in the same pass: no logits are kept or made twice.

Scoring every position of a long row against a large vocabulary costs more than a small model's layers, and most of its
memory. Here a chunk of trained positions is scored, turned into its gradient in place, and forgotten.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.distributed.tensor import DTensor

IGNORED = -100
"""The label of a token without loss, as torch's cross entropy knows it."""

CPU_SCORES, GPU_SCORES = 1 << 26, 1 << 28
"""Scores at once: 0.25 GB and 1 GB in float32."""

_SHAPED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier", "output_multiplier")
"""Fields of a configuration by which a model does more than multiply its last states with one matrix."""


class TokenWeights:
    """The weights of a part's tokens, (rows, tokens) in float32, on their way through a model's call.

    No tensor to whoever wraps that call: FSDP2 and autocast cast every tensor of real numbers that they see, and what
    counts 0.1 would then count 0.1001.
    """

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values


class _WeightedCrossEntropy(torch.autograd.Function):  # type: ignore[misc]
    """Σ w·l over rows of hidden states, with the gradients of states, matrix and bias computed on the way."""

    @staticmethod
    def forward(
        ctx: Any,
        states: torch.Tensor,
        matrix: torch.Tensor,
        bias: torch.Tensor | None,
        targets: torch.Tensor,
        weights: torch.Tensor,
    ) -> torch.Tensor:
        needs = ctx.needs_input_grad
        d_states = torch.zeros_like(states) if needs[0] else None
        d_matrix = torch.zeros_like(matrix, dtype=torch.float32) if needs[1] else None  # a sum over many chunks
        d_bias = torch.zeros_like(bias) if bias is not None and needs[2] else None
        total = states.new_zeros((), dtype=torch.float32)
        low = matrix.to(states)
        size = max(64, (GPU_SCORES if states.is_cuda else CPU_SCORES) // matrix.shape[0])
        for at in range(0, states.shape[0], size):
            piece = slice(at, at + size)
            scores = torch.nn.functional.linear(states[piece], low, bias if bias is None else bias.to(states))
            losses, slopes = _slopes(scores, targets[piece], weights[piece], any(needs[:3]))
            total += losses
            if d_states is not None:
                torch.mm(slopes, low, out=d_states[piece])
            if d_matrix is not None:
                _add_product(d_matrix, slopes, states[piece])
            if d_bias is not None:
                d_bias += slopes.sum(0)
        ctx.kinds = states.dtype, matrix.dtype, matrix.dtype
        ctx.save_for_backward(d_states, d_matrix, d_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        grads_by_kind = zip(ctx.saved_tensors, ctx.kinds, strict=True)
        # in place: the matrix's gradient is as large as the matrix; a second backward pass is refused by the engine
        return (*(None if d is None else d.mul_(grads[0].to(d)).to(kind) for d, kind in grads_by_kind), None, None)


def _add_product(total: torch.Tensor, slopes: torch.Tensor, states: torch.Tensor) -> None:
    """Add slopesᵀ · states, in the precision of the sum."""
    if total.dtype == slopes.dtype:
        total.addmm_(slopes.t(), states)
    else:
        total += slopes.t() @ states


def _slopes(
    scores: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, wanted: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Σ w·l of some rows, and its derivative by the scores, which are overwritten."""
    exact = scores.float()
    top = exact.logsumexp(1)
    losses = ((top - exact.gather(1, targets[:, None])[:, 0]) * weights).sum()
    if not wanted:
        return losses, scores
    exact.sub_(top[:, None]).exp_().mul_(weights[:, None])
    exact.scatter_add_(1, targets[:, None], -weights[:, None])
    return losses, exact.to(scores)


@torch.no_grad()  # type: ignore[untyped-decorator]
def log_probs(head: torch.nn.Module, states: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What each target's logarithm of the probability is, and the entropy of each prediction, in nats; float32."""
    size = max(64, (GPU_SCORES if states.is_cuda else CPU_SCORES) // head.weight.shape[0])
    found = []
    for at in range(0, states.shape[0], size):
        exact = head(states[at : at + size]).float().log_softmax(1)
        found.append((exact.gather(1, targets[at : at + size, None])[:, 0], -(exact.exp() * exact).sum(1)))
    return torch.cat([f[0] for f in found]), torch.cat([f[1] for f in found])


def weighted_loss(
    head: torch.nn.Module, states: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Σ w·l of these states' predictions. Where parameters are sharded the matrix is gathered once."""
    matrix, bias = head.weight, getattr(head, "bias", None)
    if isinstance(matrix, DTensor):
        matrix = matrix.full_tensor()
        bias = bias.full_tensor() if isinstance(bias, DTensor) else bias
    device = states.device.type
    kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else matrix.dtype
    with torch.autocast(device, enabled=False):
        loss: torch.Tensor = _WeightedCrossEntropy.apply(states.to(kind), matrix, bias, targets, weights)
    return loss


def has_plain_head(model: Any) -> bool:
    """Whether the model's predictions are its last hidden states times one matrix, and nothing after it."""
    config = model.config.get_text_config()
    plain = type(model.get_output_embeddings()) is torch.nn.Linear
    return plain and not any(getattr(config, name, None) for name in _SHAPED)


def summed_loss(model: Any, inputs: dict[str, Any], weights: torch.Tensor) -> torch.Tensor:
    """Σ w·l, weights by token, the head applied where loss falls only."""
    more = {k: v for k, v in inputs.items() if k != "labels"}
    targets = inputs["labels"][:, 1:]
    # the last of a row predicts nothing; of a part of a row it does, and its label follows
    hidden = model.get_decoder()(**more | {"use_cache": False}).last_hidden_state[:, : targets.shape[1]]
    placed = targets != IGNORED
    return weighted_loss(model.get_output_embeddings(), hidden[placed], targets[placed], weights[:, 1:][placed])


def plain_loss(forward: Callable[..., Any], inputs: dict[str, Any], weights: torch.Tensor) -> torch.Tensor:
    """Σ w·l with every position scored, as plain transformers does it."""
    more = {k: v for k, v in inputs.items() if k != "labels"}
    targets = inputs["labels"][:, 1:]
    scores = forward(**more | {"use_cache": False}).logits[:, : targets.shape[1]].float()
    losses = torch.nn.functional.cross_entropy(
        scores.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return (losses * weights[:, 1:].flatten()).sum()


def add_weighted_loss(model: Any, *, everywhere: bool) -> None:
    """Let `model(…, token_weights=TokenWeights(w))` give Σ w·l in float32. It goes through the model's
    call, so that wrappers for several devices do their part. `everywhere`: score all positions. A head of another kind
    is left to the engine's own."""
    forward = model.forward
    plain = has_plain_head(model)

    @functools.wraps(forward)
    def weighted(*args: Any, token_weights: TokenWeights | None = None, **inputs: Any) -> Any:
        if token_weights is None:
            return forward(*args, **inputs)
        weights = token_weights.values
        if everywhere:
            return plain_loss(forward, inputs, weights)
        if plain:
            return summed_loss(model, inputs, weights)
        log_probs = forward(**inputs | {"use_cache": False, "fused_lm_head": True}).log_probs
        return (-log_probs.float() * weights[:, 1:].to(log_probs.device)).sum()

    model.forward = weighted
