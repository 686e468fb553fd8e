"""Hands in a large submission of a task in InnovatorBench's layout and prints what came of it, and the memory it took.

Run as a process of its own, as only such a one has a peak of its own: `large_hand_in.py FOLDER WORKSPACE_MB OUTPUT_MB`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import msgspec
from support.foreign_tasks import BASE, CONFIG, INNOVATOR
from support.tasks import write_folder

from core.domain.ids import new_id
from core.sandbox.kinds import open_sandbox
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.handing_in import HandingIn

EVALUATION = """
import hashlib, os
from evaluations.base.base_eval import BaseBenchmark
class TaskBenchmark(BaseBenchmark):
    def run_1(self):
        path = os.path.join(self.config.workspace, "data/outputs/model.bin")
        with open(path, "rb") as file:
            size = sum(len(piece) for piece in iter(lambda: file.read(1 << 20), b""))
        return {"error": None, "score": 100.0, "megabytes": size / (1 << 20)}
"""


def peak_mb() -> int:
    """The most memory that this program ever had; getrusage would count that of whoever started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) >> 10


async def hand_in(folder: Path, output_mb: int) -> dict[str, object]:
    """What came of it, and how long each part took, in seconds."""
    catalogue = Catalogue([folder / "tasks"])
    task = catalogue.entries()[0].task
    host = msgspec.structs.replace(task.hosts[0], cpus=1, memory_mb=512, disk_mb=8192)
    task = msgspec.structs.replace(task, hosts=(host,))
    session = f"test-{new_id()}"
    sandbox = open_sandbox("docker", session, host, folder, home="tests-large")
    try:
        await sandbox.start()
        began = time.monotonic()
        await HostFilling(task, catalogue).fill(sandbox)
        filled = time.monotonic() - began
        made = f"mkdir -p data/outputs; head -c {output_mb}M /dev/zero > data/outputs/model.bin"
        await sandbox.run(["bash", "-c", made])
        began = time.monotonic()
        hosts = EvaluatorHosts(session, host, folder, "tests-large")
        outcome, stored = await HandingIn(task, catalogue, sandbox, hosts, folder=folder).score()
        return {"total": outcome.total, "message": outcome.message, "parts": outcome.parts, "stored": len(stored),
                "filled_s": filled, "scored_s": time.monotonic() - began,
                "peak_mb": peak_mb()}
    finally:
        await sandbox.remove()


def main() -> None:
    folder, workspace_mb, output_mb = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    files = {**INNOVATOR, "evaluations/task_30/task/evaluation.py": EVALUATION, "evaluations/base/base_eval.py": BASE,
             "evaluations/task_30/task/config.py": CONFIG}
    write_folder(folder / "tasks/set", files)
    with (folder / "tasks/set/gym/task_30/data/large.bin").open("wb") as file:
        file.truncate(workspace_mb << 20)
    sys.stdout.write(json.dumps(asyncio.run(hand_in(folder, output_mb))) + "\n")


if __name__ == "__main__":
    main()
