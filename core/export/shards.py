"""Rows as Parquet: one file, or shards of a like number of tokens that several readers take apart."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.llm.extra import require_extra

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
    """JSON lines of tokens as NAME-00000-of-00002.parquet and so on, tokens as 32-bit numbers; gives the files.

    Shards of an earlier export are removed.
    """
    for old in folder.glob(f"{name}-*-of-*.parquet"):
        old.unlink()
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
