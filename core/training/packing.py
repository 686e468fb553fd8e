"""How an update's rows are dealt out: packs without padding, of equal work, the same number for every device.

Rows of equal tokens are no equal work: attention takes the square of a row's length, everything else the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Part = list[int]
"""Which rows are computed at once, by their place in the update."""


class Work(NamedTuple):
    """What a row of T tokens costs: `per_token` · T + `per_square` · T², in any unit."""

    per_token: float = 1.0
    per_square: float = 0.0

    def of(self, tokens: int) -> float:
        """One row's work."""
        return self.per_token * tokens + self.per_square * tokens * tokens


def work_of(config: Any) -> Work:
    """From the shape of a transformer: its matrix products against causal attention, in multiply-adds a layer. Of a
    mixture of experts those count that a token goes through."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    size = getattr(config, "head_dim", None) or hidden // heads
    keys = getattr(config, "num_key_value_heads", None) or heads
    inner = getattr(config, "intermediate_size", None) or 4 * hidden
    chosen = getattr(config, "num_experts_per_tok", None)
    if chosen:
        inner = chosen * (getattr(config, "moe_intermediate_size", None) or inner)
    weights = 2 * hidden * heads * size + 2 * hidden * keys * size + 3 * hidden * inner
    return Work(float(weights), float(heads * size))


def packs(lengths: Sequence[int], most: int, devices: int, work: Work) -> list[list[Part]]:
    """For each device its packs of at most `most` tokens (a longer row is one alone); some may hold no row."""
    rounds = max(1, min(-(-sum(lengths) // (most * devices)), -(-len(lengths) // devices)))
    while True:
        parts = _filled(lengths, most, rounds * devices, work)
        if parts is not None:
            return _dealt(sorted(parts, key=lambda p: -sum(work.of(lengths[i]) for i in p)), devices)
        rounds += 1


def _filled(lengths: Sequence[int], most: int, count: int, work: Work) -> list[Part] | None:
    """Each row, the longest first, into the pack with the least work that has room; None where one finds none."""
    parts: list[Part] = [[] for _ in range(count)]
    tokens, load = [0] * count, [0.0] * count
    for row in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        free = [p for p in range(count) if not parts[p] or tokens[p] + lengths[row] <= most]
        if not free:
            return None
        best = min(free, key=lambda p: load[p])
        parts[best].append(row)
        tokens[best] += lengths[row]
        load[best] += work.of(lengths[row])
    return parts


def groups(lengths: Sequence[int], rows: int, devices: int) -> list[list[Part]]:
    """For each device its groups of `rows` rows of like length, which are padded to the longest of a group."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return _dealt([order[n : n + rows] for n in range(0, len(order), rows)] or [[]], devices)


def _dealt(parts: list[Part], devices: int) -> list[list[Part]]:
    """Parts in the order of their work: the n-th parts of all devices cost alike, and every device gets as many."""
    parts = parts + [[] for _ in range(-len(parts) % devices)]
    turns = [parts[n : n + devices] for n in range(0, len(parts), devices)]
    dealt = [turn if n % 2 == 0 else turn[::-1] for n, turn in enumerate(turns)]
    return [[turn[d] for turn in dealt] for d in range(devices)]
