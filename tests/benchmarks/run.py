"""Benchmarks, each a small real system on loopback; prints one JSON line per figure.

    make bench                       all of them
    python tests/benchmarks/run.py live stored fanout stuck soak chain secrets search order sessions gateway snapshots
    python tests/benchmarks/run.py mount             data of 5 GB that a host reads in place
    python tests/benchmarks/run.py hand_in           a workspace of 2 GB, a submission of 500 MB
    python tests/benchmarks/run.py commands --seed FOLDER   the command family, beside ResearchGym's own
    python tests/benchmarks/run.py view              the viewer with 100,000 steps: V1 V2 V3 V4 V5 V6 V7, or some
    python tests/benchmarks/run.py rollouts          2,000 of them while a person takes one over
    python tests/benchmarks/run.py shown             from the command to the painted window
    python tests/benchmarks/run.py import --mb 100   how fast, and in how much memory, files of each format are read
    python tests/benchmarks/run.py follow           a file that grows by 200 lines a second
    python tests/benchmarks/run.py training          head session weights selective packing startup gpu
    python tests/benchmarks/run.py head --tokens 4096   with options of one
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PATHS = os.pathsep.join(str(p) for p in (HERE.parents[1], HERE.parent, HERE))
TRAINING = ("head", "session", "weights", "selective", "packing", "startup", "gpu")
VIEW = ("V1", "V2", "V3", "V4", "V5", "V6", "V7")
NAMES = ("live", "stored", "fanout", "stuck", "soak", "chain", "secrets", "search", "order", "import", "sessions",
         "questions", "gateway", "rollouts", "snapshots", "mount", "commands", "hand_in", "shown", "follow", "view",
         *TRAINING)


def main(names: list[str]) -> int:
    """Run the named benchmarks, each in a process of its own; the exit status of the first that failed."""
    options = names[next((i for i, n in enumerate(names) if n.startswith("-")), len(names)) :]
    wanted = names[: len(names) - len(options)]
    if wanted and set(wanted) <= set(VIEW):
        wanted, options = ["view"], wanted
    for name in TRAINING if wanted == ["training"] else wanted or list(NAMES):
        if name not in NAMES:
            print(json.dumps({"error": f"There is no benchmark {name}; there are: {', '.join(NAMES)}."}))
            return 2
        command = [sys.executable, str(HERE / f"bench_{name}.py"), *options]
        done = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": PATHS})
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
