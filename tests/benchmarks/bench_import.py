"""How fast files of each format are read, in MB of the file for a second of processor time, and in how much memory.

`bench_import.py [--mb 100] [--whole [--beside FOLDER]] [FORMAT …]`: one JSON line a format. The baseline is CPython's
`json` decoding the same file in the same run; memory is what the reading adds to the process at its peak, as a multiple
of the file. `--whole`: instead `tiphys import` as a user gets it, into a new home, its start and its rules included,
memory in all; `--beside`: the same with the sources in another folder, in turn.
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


def whole(path: Path, sources: Path) -> dict[str, float]:
    """Import a file by the command of some sources; seconds are of the processor, with all child processes. Modules are
    compiled before, as those of an installed program are."""
    _import(grown.SAMPLES / "codex.jsonl", sources, path.parent)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = _import(path, sources, path.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = path.stat().st_size
    return {"sessions": printed.count(b"imported "), "seconds": round(seconds, 2),
            "mb_s": round(size / 1e6 / seconds, 1), "memory": round(after.ru_maxrss * 1024 / size, 2)}


def _import(path: Path, sources: Path, folder: Path) -> bytes:
    """What the command of some sources prints, in a new home; compiled modules lie in the folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as home:
        environment = {**kept, "TIPHYS_HOME": home, "PYTHONPATH": str(sources), "PYTHONPYCACHEPREFIX": str(folder)}
        return subprocess.run([sys.executable, "-m", "core.cli", "import", str(path)], capture_output=True, check=True,
                              cwd=sources, env=environment).stdout


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _apart(*asked: str) -> dict[str, float]:
    """What this file answers in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *asked], capture_output=True, check=True)
    found: dict[str, float] | float = json.loads(done.stdout)
    return found if isinstance(found, dict) else {"mb_s": found}


def main(asked: list[str]) -> None:
    """Print a line for each format."""
    trees = [Path(__file__).parents[2]]
    trees += [Path(asked[asked.index("--beside") + 1])] if "--beside" in asked else []
    size = int(asked[asked.index("--mb") + 1]) if "--mb" in asked else 100
    wanted = [name for name in grown.MADE if name in asked] or list(grown.MADE)
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            file, make = grown.MADE[name]
            path = Path(folder) / file
            make(path, size * 1_000_000)
            json_mb_s = _apart("baseline", str(path))["mb_s"]
            readings = [_apart("whole", str(path), str(tree)) for tree in trees] if "--whole" in asked else [
                _apart("read", str(path))]
            for found, tree in zip(readings, trees, strict=False):
                told("import", format=name, **found, json_mb_s=json_mb_s, ratio=round(found["mb_s"] / json_mb_s, 2),
                     load=round(os.getloadavg()[0], 1), **({"sources": str(tree)} if len(readings) > 1 else {}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["whole"]:
        print(json.dumps(whole(Path(sys.argv[2]), Path(sys.argv[3]))))
    elif sys.argv[1:2] in (["read"], ["baseline"]):
        print(json.dumps({"read": read, "baseline": baseline}[sys.argv[1]](Path(sys.argv[2]))))
    else:
        main(sys.argv[1:])
