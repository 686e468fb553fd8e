"""A task in InnovatorBench's layout with a workspace of 2 GB and a submission of 500 MB, scored in real containers."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "support/large_hand_in.py"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workspace-mb", type=int, default=2048)
    parser.add_argument("--output-mb", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:  # a process of its own, as only such a one has a peak of its own
        argv = [sys.executable, str(PROGRAM), folder, str(given.workspace_mb), str(given.output_mb)]
        return subprocess.run(argv, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
