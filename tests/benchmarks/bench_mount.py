"""Data of 5 GB that a host reads in place: how long a container takes to start with them and to read their last
bytes, beside the same container without them, and beside a copy of the folder. Prints seconds.

    python tests/benchmarks/run.py mount --gb 5 [--copy]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from core.domain.ids import new_id
from core.domain.task import Data, Host
from core.sandbox.kinds import open_sandbox
from core.sandbox.placement import FolderMount, HostLinks

TARGET = "/data/set"


async def started(folder: Path, data: Path | None, size: int) -> tuple[float, float]:
    """Seconds to a host that answers, and to the last megabyte of its data."""
    host = Host(name="main", data=(Data(source=str(data), target=TARGET),) if data else ())
    links = HostLinks(mounts=(FolderMount(data, TARGET),) if data else ())
    sandbox = open_sandbox("docker", f"bench-{new_id()}", host, folder, home="bench-mount", links=links)
    try:
        began = time.monotonic()
        await sandbox.start()
        ready = time.monotonic() - began
        if data:
            ran = await sandbox.run(["sh", "-c", f"tail -c 1048576 {TARGET}/large | wc -c; stat -c %s {TARGET}/large"])
            assert ran.output.split() == [b"1048576", str(size).encode()], ran.output
        return ready, time.monotonic() - began
    finally:
        await sandbox.remove()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gb", type=float, default=5.0)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--copy", action="store_true", help="copy the folder, too")
    options = parser.parse_args()
    size = int(options.gb * (1 << 30))
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "set"
        data.mkdir(mode=0o755)
        with (data / "large").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        asyncio.run(started(Path(place), None, 0))  # the first one of an installation makes the image
        without, there = [], []
        for _ in range(options.times):
            without.append(asyncio.run(started(Path(place), None, 0))[0])
            there.append(asyncio.run(started(Path(place), data, size))[1])
        figures = {"gb": options.gb, "start_s": round(statistics.median(without), 2),
                   "usable_s": round(statistics.median(there), 2), "slowest_s": round(max(there), 2)}
        if options.copy:
            began = time.monotonic()
            shutil.copytree(data, Path(place) / "copy")
            figures["copy_s"] = round(time.monotonic() - began, 2)
    print(json.dumps({"benchmark": "mount", **figures}))


if __name__ == "__main__":
    main()
