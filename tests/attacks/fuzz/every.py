"""Every decoder under atheris for a while, one after the other; prints a table of what was tried.

    pip install atheris
    python tests/attacks/fuzz/every.py [SECONDS EACH] [FOLDER OF REAL FILES]

It begins with sound inputs (`seeds.py`), for `files` with real ones up to 64 kB. Ends with status 1 where an input did
harm; it is kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from seeds import MOST_BYTES, seeds_of

HERE = Path(__file__).resolve().parent


def targets() -> list[str]:
    """The names that run.py offers."""
    told = subprocess.run([sys.executable, HERE / "run.py"], capture_output=True, text=True, check=False).stderr
    return told.split("targets: ")[1].strip().split(", ")


def corpus(folder: Path, target: str, real: Path | None) -> Path:
    """A folder of first inputs."""
    folder.mkdir(parents=True)
    for number, data in enumerate(seeds_of(target, real)):
        (folder / f"{number}").write_bytes(data)
    return folder


def fuzz(target: str, seconds: int, inputs: Path, harm: Path) -> tuple[int, str]:
    """How many inputs were tried, and what the first harmful one did ("" for none)."""
    argv = [sys.executable, HERE / "run.py", target, f"-max_total_time={seconds}", f"-artifact_prefix={harm}/",
            "-print_final_stats=1", f"-max_len={MOST_BYTES}", inputs]
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors="replace", check=False)
    tried = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
    last = [line for line in done.stderr.splitlines() if re.search(r"Error|ERROR|Exception", line)]
    return int(tried[1]) if tried else 0, (last or [f"status {done.returncode}"])[-1] if done.returncode else ""


def main() -> int:
    """Fuzz them all."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    real = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    harm = Path(tempfile.mkdtemp(prefix="tiphys-fuzz-harm-"))
    status = 0
    sys.stdout.write("| decoder | inputs tried | harm |\n|---|---|---|\n")
    with tempfile.TemporaryDirectory(prefix="tiphys-fuzz-") as folder:
        for target in targets():
            inputs = corpus(Path(folder) / target, target, real)
            tried, told = fuzz(target, seconds, inputs, harm)
            status |= bool(told)
            sys.stdout.write(f"| {target} | {tried:,} | {told or 0} |\n")
            sys.stdout.flush()
    if status:
        sys.stdout.write(f"The inputs that did harm are in {harm}.\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
