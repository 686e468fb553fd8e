"""Rows that begin alike, laid out so that what they share is computed once: a forest in one line of tokens.

Sorted by their tokens, each row shares most with the one before it. It takes over that row's places up to the last
shared token, repeats that one token, and goes on: so every token is still predicted from the place before it, and the
output layer needs to know nothing of trees. Attention is causal along each row, so losses and gradients are those of
the rows computed apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST_SHARED = 8
"""Shared tokens from which on a branch is worth a piece of attention of its own."""

Range = tuple[int, int]


class RowPath(NamedTuple):
    """A row in a grove: which one, and the place of each of its tokens."""

    row: int
    places: NDArray[np.int64]


class Grove(NamedTuple):
    """What is computed at once. Piece n has `lengths[n]` tokens and also sees the places of `prefixes[n]`, in their
    order. `scored` are the places whose next token some row trains."""

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    lengths: tuple[int, ...]
    prefixes: tuple[tuple[Range, ...], ...]
    paths: tuple[RowPath, ...]
    scored: NDArray[np.int64]

    def slots(self, path: RowPath, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where among `scored` these tokens of a row (none of them its first) are predicted."""
        return np.searchsorted(self.scored, path.places[tokens - 1])


def planted(rows: Sequence[NDArray[np.int64]], trained: Sequence[NDArray[np.bool_]], most: int, *, share: bool
            ) -> list[Grove]:
    """Groves of at most `most` tokens (a longer row is one alone) that hold all rows; `share`: what rows begin with
    in common is computed once."""
    order = sorted(range(len(rows)), key=lambda at: (rows[at].astype(">i8").tobytes(), at))
    return [_grown(part, rows, trained, share) for part in _parts(order, rows, most, share)]


def _parts(order: Sequence[int], rows: Sequence[NDArray[np.int64]], most: int, share: bool) -> Iterator[list[int]]:
    part: list[int] = []
    size = 0
    for at in order:
        shared = _shared(rows[part[-1]], rows[at]) if share and part else 0
        fresh = rows[at].size - max(shared - 1, 0)
        if part and size + fresh > most:
            yield part
            part, size, fresh = [], 0, rows[at].size
        part.append(at)
        size += fresh
    if part:
        yield part


def _shared(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """How many tokens both begin with; 0 where that is not worth a branch."""
    size = min(first.size, second.size)
    differ = np.flatnonzero(first[:size] != second[:size])
    count = int(differ[0]) if differ.size else size
    return count if count >= _LEAST_SHARED else 0


def _grown(part: Sequence[int], rows: Sequence[NDArray[np.int64]], trained: Sequence[NDArray[np.bool_]], share: bool
           ) -> Grove:
    pieces: list[NDArray[np.int64]] = []
    prefixes: list[tuple[Range, ...]] = []
    paths: list[RowPath] = []
    size = 0
    for at in part:
        before = paths[-1] if paths else None
        shared = _shared(rows[before.row], rows[at]) if share and before else 0
        start = max(shared - 1, 0)
        seen = before.places[:start] if before is not None else np.zeros(0, np.int64)
        pieces.append(rows[at][start:])
        prefixes.append(_ranges(seen))
        paths.append(RowPath(at, np.concatenate([seen, size + np.arange(rows[at].size - start)]).astype(np.int64)))
        size += rows[at].size - start
    positions = np.concatenate([np.arange(p.size) + b.places.size - p.size for p, b in zip(pieces, paths, strict=True)])
    scored = np.unique(np.concatenate([b.places[np.flatnonzero(trained[b.row][1:])] for b in paths]))
    return Grove(np.concatenate(pieces), positions, tuple(p.size for p in pieces), tuple(prefixes), tuple(paths),
                 scored)


def _ranges(places: NDArray[np.int64]) -> tuple[Range, ...]:
    """Ascending places as runs without gaps."""
    if not places.size:
        return ()
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    edges = np.concatenate([[0], breaks, [places.size]])
    return tuple((int(places[a]), int(places[b - 1]) + 1) for a, b in itertools.pairwise(edges))
