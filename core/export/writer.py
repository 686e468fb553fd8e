"""Writes rows to a file as they come, in bytes that depend on nothing but the rows."""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import Conflict, Unavailable
from core.export.chains import copies, token_weights
from core.export.formats import DatasetFormat
from core.export.options import ExportOptions
from core.export.rows import SampleRow
from core.llm.extra import require_extra

_ENCODER = msgspec.json.Encoder(order="deterministic")
_BATCH = 8 * 1024 * 1024
"""Bytes of rows that become one group of a Parquet file."""


class RowWriter:
    """A data set's file under its final name only once it is whole. Repeats come in rounds, so that the copies
    of a sample lie apart. A context manager: leaving it by an exception leaves nothing behind."""

    def __init__(self, folder: Path, format: DatasetFormat, options: ExportOptions, name: str = "data") -> None:
        """Raises Conflict where the folder holds something else than an earlier export, Unavailable for the disk."""
        self._format = format
        self._options = options
        self._places: list[tuple[int, int, int]] = []
        self.rows = 0
        _make_folder(folder)
        self.path = folder / f"{name}.{'parquet' if format.parquet else 'jsonl'}"
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
            if self._options.chains:
                record |= token_weights(row, self._options)
            elif self._options.balance == "weight":
                record["weight"] = float(self._options.times(row.sample.kind))
            line = _ENCODER.encode(record) + b"\n"
            self._places.append((self._file.tell(), len(line), times))
            self._file.write(line)
            self.rows += 1

    def finish(self) -> str:
        """Write the repeats, give the file its name; returns the SHA-256 of its bytes."""
        for turn in range(1, max((t for _, _, t in self._places), default=1)):
            for start, size, times in self._places:
                if times > turn:
                    self._copy(start, size)
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._format.parquet:
            _to_parquet(self._part, self.path)
            self._part.unlink()
        else:
            self._part.replace(self.path)
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _copy(self, start: int, size: int) -> None:
        self._file.seek(start)
        line = self._file.read(size)
        self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self.rows += 1


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [p.name for p in folder.iterdir()] if not (folder / "manifest.json").is_file() else []
    except OSError as error:
        raise Unavailable("folder_unusable", f"{folder} cannot be used: {error}", path=str(folder)) from error
    if set(foreign) - {".data.part", ".eval.part"}:
        raise Conflict("folder_not_empty", f"{folder} holds other files; choose an empty folder.", path=str(folder))


def _to_parquet(source: Path, target: Path) -> None:
    require_extra("pyarrow")
    pa, pq = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")

    writer: Any = None
    with source.open("rb") as lines:
        while batch := [msgspec.json.decode(line) for line in lines.readlines(_BATCH)]:
            table = pa.Table.from_pylist(batch, schema=writer.schema if writer else None)
            writer = writer or pq.ParquetWriter(target, table.schema)
            writer.write_table(table)
    if writer is not None:
        writer.close()
