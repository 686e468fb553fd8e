"""Writes rows to a file as they come, in bytes that depend on nothing but the rows."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.export.chains import copies, sharded_columns, token_weights
from core.export.formats import DatasetFormat
from core.export.options import ExportOptions
from core.export.rows import SampleRow
from core.llm.extra import require_extra

_ENCODER = msgspec.json.Encoder(order="deterministic")


class RowWriter:
    """A data set's file under its final name only once it is whole. Repeats come in rounds, so that the copies
    of a sample lie apart. A context manager: leaving it by an exception leaves no half behind."""

    def __init__(self, folder: Path, format: DatasetFormat, options: ExportOptions, name: str = "data") -> None:
        self._format = format
        self._options = options
        self._places: list[tuple[int, int, int]] = []
        self.rows = 0
        self._name, self._folder = name, folder
        self.paths = [folder / f"{name}.{'parquet' if format.parquet else 'jsonl'}"] if not format.shards else []
        self._part = folder / f".{name}.part"
        self._file = self._part.open("w+b")

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)

    def add(self, row: SampleRow) -> None:
        """Write one row, to be repeated by the balance of its kind."""
        times = copies(row, self._options)
        for record in self._format.lines(row) if times else ():
            if self._format.shards:
                times, record = 1, record | sharded_columns(row, self._options)
            elif self._options.chains:
                record |= token_weights(row, self._options)
            elif self._options.balance == "weight":
                record["weight"] = float(self._options.times(row.sample.kind))
            line = _ENCODER.encode(record) + b"\n"
            self._places.append((self._file.tell(), len(line), times))
            self._file.write(line)
            self.rows += 1

    def finish(self) -> str:
        """Write the repeats, give the file (or the shards) its name; returns the SHA-256 of its bytes."""
        for turn in range(1, max((t for _, _, t in self._places), default=1)):
            for start, size, times in self._places:
                if times > turn:
                    self._copy(start, size)
        self._file.flush()
        if self._format.shards:
            self.paths = write_shards(self._part, self._folder, self._name)
        elif self._format.parquet:
            write_parquet(self._part, self.paths[0])
        else:
            self._part.replace(self.paths[0])
        return _digest(self.paths)

    def _copy(self, start: int, size: int) -> None:
        self._file.seek(start)
        line = self._file.read(size)
        self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self.rows += 1


def _digest(paths: Sequence[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                total.update(piece)
    return total.hexdigest()


_BATCH = 8 << 20
"""Bytes of rows that become one group of a Parquet file."""

_SHARD = 32
"""Groups of a shard: 256 MB of JSON, about 20 million tokens."""

_TOKENS = ("input_ids", "labels", "attention_mask", "position_ids")


def write_parquet(source: Path, target: Path) -> None:
    """JSON lines as one Parquet file."""
    for _ in _written(source, lambda _: target, None, 0):
        pass


def write_shards(source: Path, folder: Path, name: str) -> list[Path]:
    """JSON lines of tokens as NAME-00000-of-00002.parquet and so on, tokens as 32-bit numbers; gives the files."""
    parts = list(_written(source, lambda n: folder / f".{name}-{n:05d}.part", _schema(source), _SHARD))
    shards = [folder / f"{name}-{n:05d}-of-{len(parts):05d}.parquet" for n in range(len(parts))]
    for part, shard in zip(parts, shards, strict=True):
        part.replace(shard)
    return shards


def _schema(source: Path) -> Any:
    """The types of tokens and weights; those of other columns as the first row has them."""
    pa = importlib.import_module("pyarrow")
    with source.open("rb") as lines:
        first = pa.Table.from_pylist([msgspec.json.decode(lines.readline())]).schema
    kinds = dict.fromkeys(_TOKENS, pa.list_(pa.int32())) | {"attention_mask": pa.list_(pa.int8()),
                                                            "weights": pa.list_(pa.float32())}
    return pa.schema([(field.name, kinds.get(field.name, field.type)) for field in first])


def _written(source: Path, place: Any, schema: Any, most: int) -> Iterator[Path]:
    """Write groups of rows; a file is over after `most` groups (0: never)."""
    require_extra("pyarrow")
    pa, pq = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    writer, groups, files = None, 0, 0
    with source.open("rb") as lines:
        while batch := [msgspec.json.decode(line) for line in lines.readlines(_BATCH)]:
            table = pa.Table.from_pylist(batch, schema=schema)
            schema = schema or table.schema
            if writer is None:
                # tokens have no few values that a dictionary would hold
                writer = pq.ParquetWriter(place(files), schema, compression="zstd", use_dictionary=False)
            writer.write_table(table)
            groups += 1
            if groups == most:
                writer.close()
                yield place(files)
                writer, groups, files = None, 0, files + 1
    if writer is not None:
        writer.close()
        yield place(files)
