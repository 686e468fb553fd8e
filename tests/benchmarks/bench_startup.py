"""How long a run looks at its data before the first update: 50,000 rows, and two billion tokens by extrapolation.

`bench_startup.py [--rows 50000] [--tokens 2400] [--processes 1]`: JSON lines and Parquet of the same rows, each read
for the first time, and again as a run that goes on does. The processes are what GPUs would have.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from training_rig import arguments

CHECK = """
import sys
from pathlib import Path
from core.training.data import Crew, check_rows, load_rows
path, folder, rank, ranks = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
def wait():
    import time
    (folder / f"at-{rank}").touch()
    while len(list(folder.glob("at-*"))) < ranks:
        time.sleep(0.01)
folder.mkdir(parents=True, exist_ok=True)
facts = check_rows([path], 152000, 131072, folder, Crew(rank, ranks, wait))
print(len(load_rows(facts)))
"""
"""What each process of a run does before it makes its trainer."""


def write(folder: Path, rows: int, tokens: int) -> None:
    """The same random rows as JSON lines and as Parquet, a tenth of the tokens trained."""
    dice = np.random.default_rng(0)
    with (folder / "data.jsonl").open("wb") as lines:
        writer = None
        for start in range(0, rows, 500):
            ids = dice.integers(0, 152_000, (min(500, rows - start), tokens))
            labels = np.where(dice.random(ids.shape) < 0.1, ids, -100)
            labels[:, -1] = ids[:, -1]
            some = [{"input_ids": i, "labels": k} for i, k in zip(ids.tolist(), labels.tolist(), strict=True)]
            lines.writelines(json.dumps(row).encode() + b"\n" for row in some)
            table = pa.Table.from_pylist(some)
            table = table.cast(pa.schema([(n, pa.list_(pa.int32())) for n in ("input_ids", "labels")]))
            writer = writer or pq.ParquetWriter(folder / "data.parquet", table.schema, compression="zstd",
                                                use_dictionary=False)
            writer.write_table(table)
    if writer is not None:
        writer.close()


def cpu_seconds() -> float:
    """Processor time of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(path: Path, folder: Path, processes: int) -> tuple[float, float]:
    """Seconds of wall time, and of processor time of all processes together."""
    started, before = time.perf_counter(), cpu_seconds()
    running = [subprocess.Popen([sys.executable, "-c", CHECK, str(path), str(folder), str(rank), str(processes)],
                                stdout=subprocess.DEVNULL) for rank in range(processes)]
    if any(process.wait() for process in running):
        raise SystemExit("a process failed")
    for mark in folder.glob("at-*"):
        mark.unlink()
    return time.perf_counter() - started, cpu_seconds() - before


def main() -> None:
    """Print what was measured."""
    asked = arguments(rows=50_000, tokens=2400, processes=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, asked.rows, asked.tokens)
        for kind in ("jsonl", "parquet"):
            path = folder / f"data.{kind}"
            (first, cpu), (again, cpu_again) = (measure(path, folder / kind, asked.processes) for _ in range(2))
            count = asked.rows * asked.tokens
            each = (cpu - cpu_again) / count  # imports and mapping left out
            print(json.dumps({"form": kind, "rows": asked.rows, "tokens": count, "processes": asked.processes,
                              "mb": path.stat().st_size // 1_000_000, "first_s": round(first, 2),
                              "again_s": round(again, 2), "cpu_ns_per_token": round(each * 1e9, 1),
                              "two_billion_cpu_s": round(each * 2e9, 1),
                              "two_billion_8_processes_s": round(cpu_again / asked.processes + each * 2e9 / 8, 1)}))


if __name__ == "__main__":
    main()
