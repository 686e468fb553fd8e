"""Whether each row of a block can be trained exactly as it stands, by numpy over all tokens of the block at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.domain.errors import InvalidInput

_IGNORED = -100  # as in the head; that module needs torch


class RowRules(NamedTuple):
    """What a model can take: ids below `vocabulary`, rows of at most `max_length` tokens; and what becomes of recorded
    `thoughts` (TrainSettings)."""

    vocabulary: int
    max_length: int
    thoughts: str = "data"


class BlockFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a block holds: `lines` as written, everything else with repeats; or the `code` and `sentence` of its first
    bad row. `weight` is the sum over its trained tokens, `thoughts` counts tokens of recorded reasoning as written,
    `trained_thoughts` those of them that carried loss."""

    sha256: str = ""
    lines: int = 0
    rows: int = 0
    tokens: int = 0
    trained: int = 0
    longest: int = 0
    weight: float = 0.0
    weighted: bool = False
    token_weights: bool = False
    thoughts: int = 0
    trained_thoughts: int = 0
    code: str = ""
    sentence: str = ""
    row: int = 0


class _Rows:
    """The columns of a block as flat arrays, and where each row begins."""

    def __init__(self, table: pa.Table) -> None:
        table = table.combine_chunks()
        self.count = len(table)
        self._table = table
        self.ids, self.lengths = self._flat("input_ids")
        self.labels, self.label_lengths = self._flat("labels")
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.weight = self._column("weight", 1.0)
        self.repeats = self._column("repeats", 1).astype(np.int64)
        self.has_weights = np.asarray(table.column("weights").is_valid())
        self.weights, self.weight_lengths = self._flat("weights")
        self.edges, self.edge_counts = self._flat("thoughts")

    def _flat(self, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        column = self._array(name)
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        values = column.flatten()
        if values.null_count:
            at = int(np.argmax(np.asarray(values.is_null())))
            _refuse(int(np.searchsorted(np.cumsum(lengths), at, side="right")), "has a value for each token")
        return values.to_numpy(zero_copy_only=False), lengths

    def _column(self, name: str, default: float) -> NDArray[np.float64]:
        column = self._array(name).cast(pa.float64()).fill_null(default)
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _array(self, name: str) -> Any:
        column = self._table.column(name)
        return column.chunk(0) if column.num_chunks else pa.array([], column.type)

    def row_of(self, bad: NDArray[np.bool_]) -> int:
        """The first row with a token of these, from 0."""
        return int(np.searchsorted(self.starts, np.argmax(bad), side="right")) - 1

    def take_loss_from(self, tokens: NDArray[np.bool_]) -> None:
        """These tokens carry no loss any more."""
        self.labels = np.where(tokens, _IGNORED, self.labels)
        self.weights = np.where(tokens[np.repeat(self.has_weights, self.lengths)], 0.0, self.weights)

    def sums(self, tokens: NDArray[Any]) -> NDArray[Any]:
        """The sum over each row's tokens."""
        return np.add.reduceat(np.concatenate([tokens, [0]]), self.starts[:-1]) * (self.lengths > 0)


def checked(table: pa.Table, digest: str, rules: RowRules, target: Path) -> BlockFacts:
    """Check a block and write its rows. Raises InvalidInput, its sentence with {row} for the row's number, which is in
    `params` as counted from 1 in the block."""
    if not len(table):
        return BlockFacts(sha256=digest)
    rows = _Rows(table)
    _check_lengths(rows, rules)
    _check_tokens(rows, rules)
    thought = _thought_tokens(rows)
    trained_thoughts = int((thought & (rows.labels != _IGNORED)).sum())
    if rules.thoughts == "context":
        rows.take_loss_from(thought)
    trains = rows.labels != _IGNORED
    trains[rows.starts[:-1]] = False  # the first token of a row has no prediction
    trained = rows.sums(trains.astype(np.int64))
    if not trained.all():
        _refuse(int(np.argmin(trained != 0)), "trains anything")
    weighted, by_token = bool((rows.weight != 1.0).any()), bool(rows.has_weights.any())
    _write(rows, target)
    return BlockFacts(
        sha256=digest, lines=rows.count, rows=int(rows.repeats.sum()), longest=int(rows.lengths.max()),
        tokens=int(rows.lengths @ rows.repeats), trained=int(trained @ rows.repeats),
        weight=_weight(rows, trains, trained), weighted=weighted, token_weights=by_token,
        thoughts=int(thought.sum()), trained_thoughts=trained_thoughts)


def _weight(rows: _Rows, trains: NDArray[np.bool_], trained: NDArray[np.int64]) -> float:
    each = rows.sums(_token_weights(rows) * trains) if rows.has_weights.any() else rows.weight * trained
    return float((each * rows.repeats).sum())


def _check_lengths(rows: _Rows, rules: RowRules) -> None:
    _refuse_where(rows.lengths != rows.label_lengths, "has as many labels as tokens")
    _refuse_where(rows.has_weights & (rows.weight_lengths != rows.lengths), "has a weight of at least 0 for each token")
    long = np.flatnonzero(rows.lengths > rules.max_length)
    if long.size:
        tokens = int(rows.lengths[long[0]])
        raise InvalidInput("row_too_long", f"Row {{row}} has {tokens} tokens, more than {rules.max_length}; rows are "
                           "never cut.", row=int(long[0]) + 1, tokens=tokens)
    _refuse_where(rows.lengths < 2, "has a token to predict")
    _refuse_where(~(np.isfinite(rows.weight) & (rows.weight >= 0)), "has a weight of at least 0")
    _refuse_where(rows.repeats < 1, "counts at least once")


def _check_tokens(rows: _Rows, rules: RowRules) -> None:
    foreign = (rows.ids < 0) | (rows.ids >= rules.vocabulary)
    if foreign.any():
        _refuse(rows.row_of(foreign), "was made with this model's tokenizer")
    other = (rows.labels != _IGNORED) & (rows.labels != rows.ids)
    if other.any():
        _refuse(rows.row_of(other), "has labels that equal its tokens")


def _thought_tokens(rows: _Rows) -> NDArray[np.bool_]:
    """Which tokens are recorded reasoning: between the first and second, third and fourth … edge of a row. Raises
    InvalidInput for edges that are not in order, or not in the row."""
    row = np.repeat(np.arange(rows.count), rows.edge_counts)
    _refuse_where(rows.edge_counts % 2 != 0, "has a start and an end for each thought")
    edges = rows.edges.astype(np.int64)
    wrong = (edges < 0) | (edges > rows.lengths[row])
    wrong[1:] |= (row[1:] == row[:-1]) & (edges[1:] < edges[:-1])
    if wrong.any():
        _refuse(int(row[np.argmax(wrong)]), "has its thoughts in order and within it")
    steps = np.zeros(rows.starts[-1] + 1, dtype=np.int64)
    np.add.at(steps, rows.starts[row] + edges, 1 - 2 * (np.arange(len(edges)) % 2))
    return np.cumsum(steps)[:-1] > 0


def _token_weights(rows: _Rows) -> NDArray[np.float64]:
    """The weight of each token. Raises InvalidInput for one below 0 or that is no number."""
    counts = np.repeat(rows.weight, rows.lengths)
    if rows.has_weights.any():
        own = np.repeat(rows.has_weights, rows.lengths)
        wrong = np.zeros(own.shape, dtype=bool)
        wrong[own] = ~(np.isfinite(rows.weights) & (rows.weights >= 0))
        if wrong.any():
            _refuse(rows.row_of(wrong), "has a weight of at least 0 for each token")
        counts[own] = rows.weights
    return counts


def _refuse_where(bad: NDArray[np.bool_], what: str) -> None:
    if bad.any():
        _refuse(int(np.argmax(bad)), what)


def _refuse(row: int, what: str) -> None:
    raise InvalidInput("bad_row", f"Row {{row}} is not one that {what}.", row=row + 1)


def _write(rows: _Rows, target: Path) -> None:
    """The rows as `datasets` maps them: a stream of Arrow record batches, of the same columns in every block."""
    offsets = pa.array(rows.starts.astype(np.int32))
    by_token = rows.has_weights.any()
    weights = (pa.ListArray.from_arrays(offsets, pa.array(_token_weights(rows).astype(np.float32))) if by_token
               else pa.nulls(rows.count, pa.list_(pa.float32())))
    table = pa.table({"input_ids": _lists(rows.ids, offsets), "labels": _lists(rows.labels, offsets),
                      "weight": pa.array(rows.weight), "weights": weights, "repeats": pa.array(rows.repeats)})
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def _lists(values: NDArray[Any], offsets: Any) -> Any:
    return pa.ListArray.from_arrays(offsets, pa.array(values.astype(np.int32, copy=False)))
