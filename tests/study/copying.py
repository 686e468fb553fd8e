"""Lays into the first layers of a small LFM2 what models otherwise learn from millions of words: to find what stood
behind the same words before, and to say it again. Everything else stays as random as it was.

The first convolution notes of each token which three came before it. Of the first attention's two heads one looks for
places behind what the model has just read (an induction head), the other for places before which the same three stood;
both hand on the token that they find.
"""

from __future__ import annotations

from typing import Any

_LAGS = 3


def lay_copying_in(model: Any, sharpness: float) -> None:
    """Change the weights of a model that was just made, in place. Its first layers are a convolution over at least four
    tokens with biases, and attention with two heads. `sharpness`: how far alike places are preferred."""
    import torch

    with torch.no_grad():
        width = model.config.hidden_size
        codes = width // 4
        embeddings = model.model.embed_tokens.weight
        embeddings.copy_(torch.randn_like(embeddings) / width**0.5)
        shown = _rows(codes, width)
        places = _rows(_LAGS * codes, width)
        _note_those_before(model.model.layers[0].conv, shown, places)
        _attend(model.model.layers[1].self_attn, shown, places, codes, sharpness)


def _rows(count: int, width: int) -> Any:
    """Orthonormal rows."""
    import torch

    return torch.linalg.qr(torch.randn(width, width))[0][:count]


def _note_those_before(conv: Any, shown: Any, places: Any) -> None:
    """The token `lag` before, as `shown` shows it, goes to places of its own."""
    width, codes = shown.shape[1], shown.shape[0]
    gate, out_gate, values = conv.in_proj.weight.view(3, width, width)
    gate.zero_(), out_gate.zero_(), values.zero_()
    conv.in_proj.bias.zero_()
    conv.in_proj.bias[: 2 * width] = 1.0  # both gates are open
    conv.conv.weight.zero_()
    conv.conv.bias.zero_()
    for lag in range(_LAGS):
        channels = slice(lag * codes, (lag + 1) * codes)
        values[channels] = shown
        conv.conv.weight[channels, 0, -2 - lag] = 1.0
    conv.out_proj.weight.zero_()
    conv.out_proj.weight[:, : places.shape[0]] = places.T / width**0.5
    conv.out_proj.bias.zero_()


def _attend(attention: Any, shown: Any, places: Any, codes: int, sharpness: float) -> None:
    """Queries and keys of both heads, values that are the tokens themselves."""
    import torch

    width, size = shown.shape[1], attention.head_dim
    mixed = [torch.randn(size, codes) / size**0.5 for _ in range(_LAGS + 1)]
    before = [places[lag * codes : (lag + 1) * codes] for lag in range(_LAGS)]
    behind = sum(m @ c for m, c in zip(mixed, (shown, *before), strict=False))
    here = sum(m @ c for m, c in zip(mixed, before, strict=False))
    itself = mixed[-1] @ shown  # each place is most like itself, so the token that is there counts against it
    attention.q_proj.weight.copy_(torch.cat([behind, here - itself]))
    attention.k_proj.weight.copy_(torch.cat([here, here + itself]))
    attention.q_layernorm.weight.fill_(sharpness)
    turn = _rows(width, width)
    attention.v_proj.weight.copy_(turn)
    attention.out_proj.weight.copy_(turn.T * (4.0 / width**0.5))
