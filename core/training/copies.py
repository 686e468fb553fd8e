"""Rows of one update that share tokens, computed once: copies as weights, and what begins another row inside that row.

An update's gradient is a sum over its rows. Two rows with the same tokens have the same losses, and attention is
causal, so a row that another one goes on from has its losses inside that one: how often each counts is a weight per
token. Both are exact for a model without dropout, whatever the rows are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.training.head import IGNORED


class Counted(NamedTuple):
    """A row's tokens, and how often the loss of each counts: 0 for those that are not trained."""

    ids: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def weight(self) -> float:
        """The row's part of the update's denominator."""
        return float(self.weights.sum())


def counted(row: Mapping[str, Any]) -> Counted:
    """A row of a data set, its labels and weights as one column. The first token has no prediction, so it counts 0."""
    ids = np.asarray(row["input_ids"], dtype=np.int64)
    weights = (np.asarray(row["labels"]) != IGNORED).astype(np.float64)
    each, whole = row.get("weights"), row.get("weight")
    if each is not None and np.ndim(each) == 1:
        weights *= np.asarray(each, dtype=np.float64)
    elif whole is not None and not np.isnan(whole):
        weights *= float(whole)
    weights[:1] = 0.0
    return Counted(ids, weights)


def cut_tail(row: Counted) -> Counted:
    """The row without the tokens after the last trained one: nothing that counts sees them."""
    trained = np.flatnonzero(row.weights)
    end = int(trained[-1]) + 1 if trained.size else 0
    return Counted(row.ids[:end], row.weights[:end])


def merge(rows: Iterable[Counted], *, prefixes: bool) -> list[Counted]:
    """The rows with copies joined and, with `prefixes`, each row that begins another joined to that one."""
    # big-endian bytes sort as the tokens do, so what a row begins follows it directly
    ordered = sorted(rows, key=lambda r: r.ids.astype(">i8").tobytes())
    distinct: list[Counted] = []
    for row in ordered:
        last = distinct[-1] if distinct else None
        if last is not None and _begins(last, row, prefixes):
            distinct[-1] = _joined(last, row)
        else:
            distinct.append(row)
    return distinct


def _begins(first: Counted, second: Counted, prefixes: bool) -> bool:
    size = first.ids.size
    if size != second.ids.size and not prefixes:
        return False
    return bool(size <= second.ids.size and np.array_equal(first.ids, second.ids[:size]))


def _joined(first: Counted, second: Counted) -> Counted:
    weights = second.weights.copy()
    weights[: first.ids.size] += first.weights
    return Counted(second.ids, weights)
