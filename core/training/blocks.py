"""A data set's files, and the blocks that they are read in: JSON lines, Parquet or Arrow, one file or shards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from core.domain.errors import InvalidInput
from core.domain.misfit import misfit

_BLOCK = 32 << 20
"""Bytes of JSON lines that are read at once; a longer line is a block of its own."""

_KINDS = (".jsonl", ".parquet", ".arrow")

_TOKENS = (pa.list_(pa.int32()), pa.list_(pa.int64()))
_FIELDS = {"input_ids": pa.list_(pa.int64()), "labels": pa.list_(pa.int64()), "weight": pa.float64(),
           "weights": pa.list_(pa.float64()), "repeats": pa.int64(), "thoughts": pa.list_(pa.int64())}
"""The columns that a trainer reads; others are of no concern."""


class _Line(msgspec.Struct):
    """One row in the format trl."""

    input_ids: list[int]
    labels: list[int]
    weight: float | None = None
    weights: list[float] | None = None
    repeats: int | None = None
    thoughts: list[int] | None = None


_LINES = msgspec.json.Decoder(_Line)


class Block(NamedTuple):
    """Some rows of a file: bytes `start` to `end` of JSON lines, or a row group (`start`) of a Parquet file, or a
    record batch of an Arrow file."""

    path: Path
    start: int
    end: int

    def read(self) -> tuple[pa.Table, str]:
        """The rows, and the SHA-256 of their bytes. Raises InvalidInput (bad_row), with the row in the block."""
        if self.path.suffix == ".jsonl":
            return self._lines()
        try:
            table = self._table()
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidInput("bad_file", f"{self.path.name} cannot be read: {' '.join(str(error).split())[:200]}",
                               row=0) from error
        return _known(table, self.path), _digest(table)

    def _table(self) -> pa.Table:
        if self.path.suffix == ".parquet":
            return pyarrow.parquet.ParquetFile(self.path).read_row_group(self.start)
        reader = _arrow_file(self.path)
        return pa.Table.from_batches([reader.get_batch(self.start)], reader.schema)

    def _lines(self) -> tuple[pa.Table, str]:
        with self.path.open("rb") as file:
            file.seek(self.start)
            data = file.read(self.end - self.start)
        rows: list[_Columns] = []
        for number, line in enumerate(data.splitlines(), 1):
            try:
                rows.append(_columns(_LINES.decode(line)))
            except (ValueError, RecursionError) as error:
                why = misfit(error, _Line)
                raise InvalidInput("bad_row", f"Line {{row}} of {self.path.name} is no row of the format trl ({why}): "
                                   "write it by tiphys export --to trl.", row=number) from error
        return _table_of(rows), hashlib.sha256(data).hexdigest()


class _Columns(NamedTuple):
    """A row's values: arrays, which take an eighth of the memory of lists while other rows are read."""

    input_ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    weight: float | None
    weights: list[float] | None
    repeats: int | None
    thoughts: list[int] | None


def _columns(line: _Line) -> _Columns:
    return _Columns(np.array(line.input_ids, np.int64), np.array(line.labels, np.int64), line.weight, line.weights,
                    line.repeats, line.thoughts)


def _table_of(rows: Sequence[_Columns]) -> pa.Table:
    weights = pa.array([r.weights for r in rows], _FIELDS["weights"])
    return pa.table({
        "input_ids": _lists([r.input_ids for r in rows]), "labels": _lists([r.labels for r in rows]),
        "weight": pa.array([r.weight for r in rows], pa.float64()), "weights": weights,
        "repeats": pa.array([r.repeats for r in rows], pa.int64()),
        "thoughts": pa.array([r.thoughts for r in rows], _FIELDS["thoughts"])})


def _lists(arrays: Sequence[Any]) -> Any:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)
    values = np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.astype(np.int64)))


def data_files(data: Path, name: str) -> list[Path]:
    """`data` itself where it is a file, else the folder's files of a name: NAME.jsonl, NAME.parquet, or shards such as
    NAME-00000-of-00008.parquet, in order."""
    if data.is_file():
        return [data]
    whole = [data / f"{name}{kind}" for kind in _KINDS if (data / f"{name}{kind}").is_file()]
    if whole:
        return whole[:1]
    return sorted(path for kind in _KINDS for path in data.glob(f"{name}-*{kind}"))


def blocks_of(files: Sequence[Path]) -> list[Block]:
    """All blocks of some files, in order. Raises InvalidInput (bad_file) for a file that is none."""
    blocks: list[Block] = []
    for path in files:
        try:
            blocks += _blocks(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidInput("bad_file", f"{path.name} cannot be read: {' '.join(str(error).split())[:200]}",
                               path=str(path)) from error
    return blocks


def _blocks(path: Path) -> Iterator[Block]:
    if path.suffix == ".parquet":
        groups = pyarrow.parquet.ParquetFile(path).num_row_groups
        return (Block(path, n, n + 1) for n in range(groups))
    if path.suffix == ".arrow":
        return (Block(path, n, n + 1) for n in range(_arrow_file(path).num_record_batches))
    return _line_blocks(path)


def _line_blocks(path: Path) -> Iterator[Block]:
    """Every process cuts at the same line ends, without reading what lies between."""
    size, start = path.stat().st_size, 0
    with path.open("rb") as file:
        while start < size:
            file.seek(min(start + _BLOCK, size) - 1)
            file.readline()
            end = file.tell()
            yield Block(path, start, end)
            start = end


def _arrow_file(path: Path) -> Any:
    return pa.ipc.open_file(pa.memory_map(str(path)))


def _known(table: pa.Table, path: Path) -> pa.Table:
    """The columns that are read, in the types of this module."""
    missing = [n for n in ("input_ids", "labels") if n not in table.column_names]
    if missing:
        raise InvalidInput("bad_row", f"{path.name} has no column {missing[0]}.", row=0)
    try:
        columns = {n: _as(table.column(n), kind) if n in table.column_names else pa.nulls(len(table), kind)
                   for n, kind in _FIELDS.items()}
    except pa.ArrowInvalid as error:
        raise InvalidInput("bad_row", f"{path.name} has a column of another kind: {str(error)[:200]}", row=0) from error
    return pa.table(columns)


def _as(column: Any, kind: Any) -> Any:
    return column if kind in _TOKENS and column.type in _TOKENS else column.cast(kind)


def _digest(table: pa.Table) -> str:
    total = hashlib.sha256()
    for column in table.columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                total.update(memoryview(buffer) if buffer is not None else b"")
    return total.hexdigest()
