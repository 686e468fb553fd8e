"""How fast files of each format are read, in MB of the file for a second of processor time, and in how much memory.

`bench_import.py [--mb 100] [FORMAT …]`: one JSON line a format. The baseline is CPython's `json` decoding the same file
in the same process; memory is what the reading adds to the process at its peak, as a multiple of the file.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grown
from rig import told


def read(path: Path) -> dict[str, float]:
    """Read a file as an import does, payloads included; a process of its own asks this."""
    from core.formats import registry

    registry.recognise(grown.SAMPLES / "codex.jsonl")
    before, started = _peak(), time.process_time()
    steps = 0
    for session in registry.read(path):
        steps += session.steps
        del session
    seconds = time.process_time() - started
    size = path.stat().st_size
    return {"steps": steps, "mb_s": round(size / 1e6 / seconds, 1), "memory": round((_peak() - before) / size, 2),
            "mb": round(size / 1e6)}


def baseline(path: Path) -> float:
    """MB of a file that CPython's json decodes in a second of processor time, lines one by one."""
    data = path.read_bytes()
    started = time.process_time()
    if path.suffix == ".jsonl":
        for line in data.splitlines():
            json.loads(line)
    else:
        json.loads(data)
    return round(len(data) / 1e6 / (time.process_time() - started), 1)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(asked: list[str]) -> None:
    """Print a line for each format."""
    size = int(asked[asked.index("--mb") + 1]) if "--mb" in asked else 100
    wanted = [name for name in grown.MADE if name in asked] or list(grown.MADE)
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            file, make = grown.MADE[name]
            path = Path(folder) / file
            make(path, size * 1_000_000)
            found = {}
            for what in ("read", "baseline"):
                done = subprocess.run([sys.executable, __file__, what, str(path)], capture_output=True, check=True)
                found[what] = json.loads(done.stdout)
            told("import", format=name, **found["read"], json_mb_s=found["baseline"],
                 ratio=round(found["read"]["mb_s"] / found["baseline"], 2), load=round(os.getloadavg()[0], 1))


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["baseline"]):
        print(json.dumps({"read": read, "baseline": baseline}[sys.argv[1]](Path(sys.argv[2]))))
    else:
        main(sys.argv[1:])
