"""States of packed rows for attention, and what it makes of them by its definition, row by row."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

LENGTHS = (37, 5, 129, 1, 64)
ALONE = ((),) * 5
BRANCHES = ((), ((3, 20),), (), ((37, 42), (100, 101)), ((0, 37), (42, 60)))
"""What each row sees of those before it."""


def packed_states(heads: int, dtype: torch.dtype, device: str = "cpu") -> list[torch.Tensor]:
    """Queries, keys and values of the rows; numbers that bfloat16 holds."""
    torch.manual_seed(7)
    made = [torch.randn(1, n, sum(LENGTHS), 16).bfloat16() for n in (heads, 2, 2)]
    return [one.to(device, dtype).requires_grad_() for one in made]


def row_by_row(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, branches: tuple) -> torch.Tensor:
    """Softmax of each row's queries over its own keys and those that it branches off from, in float64."""
    copies, found, at = query.shape[1] // key.shape[1], [], 0
    query, key, value = query.double(), *(one.double().repeat_interleave(copies, 1) for one in (key, value))
    for length, before in zip(LENGTHS, branches, strict=True):
        places = [n for a, b in (*before, (at, at + length)) for n in range(a, b)]
        scores = query[:, :, at : at + length] @ key[:, :, places].transpose(2, 3) / 4.0
        hidden = torch.ones(length, len(places), dtype=torch.bool, device=query.device).triu(len(places) - length + 1)
        found.append(scores.masked_fill(hidden, -torch.inf).softmax(-1) @ value[:, :, places])
        at += length
    return torch.cat(found, 2).transpose(1, 2)
