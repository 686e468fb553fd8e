"""A session that grows by file: another program writes 200 lines a second, `tiphys import --follow` reads them.

`bench_follow.py [--rate 200] [--seconds 20] [--before 0 20000]`: for each number of lines that the file has before, one
JSON line. `lag` is the time from the line that ends a step until the step stands in the log of record, where the window
has it from (its own way from there: `live`); `cpu` is the share of a processor that following takes, its start
included; `behind` is how many steps are still lacking a second after the last line. The baseline is `tail -f` into a
file: the time until a line is in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import islice, pairwise
from pathlib import Path

import grown
from rig import quantiles, told

from core.cli.log_access import reading
from core.formats import registry
from core.store.home import Home
from core.store.sqlite import scalar

LOOK_S = 0.02
LONGEST_S = 120.0


class Writer(threading.Thread):
    """Adds lines to a file at a steady rate; knows when each was there."""

    def __init__(self, path: Path, lines: list[bytes], rate: float) -> None:
        super().__init__(daemon=True)
        self.path, self.lines, self.rate = path, lines, rate
        self.written: list[float] = []

    def run(self) -> None:
        """Write them all."""
        began = time.monotonic()
        with self.path.open("ab", buffering=0) as file:
            for number, line in enumerate(self.lines):
                time.sleep(max(0.0, began + number / self.rate - time.monotonic()))
                file.write(line)
                self.written.append(time.monotonic())


def measure(before: int, rate: float, seconds: float) -> None:
    """One file with so many lines before, followed while it grows."""
    with tempfile.TemporaryDirectory(prefix="tiphys-bench-") as folder:
        path, home = Path(folder) / "run.jsonl", Home(Path(folder) / "home")
        lines = _lines(Path(folder), before + round(rate * seconds))
        begin = max(before, 20)
        path.write_bytes(b"".join(lines[:begin]))
        (whole := Path(folder) / "all.jsonl").write_bytes(b"".join(lines))
        busy = _cpu()
        follower = subprocess.Popen([sys.executable, "-m", "core.cli", "--home", str(home.path), "import", "--json",
                                     "--follow", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert follower.stdout is not None
            first = json.loads(follower.stdout.readline())["steps"]
            threading.Thread(target=follower.stdout.read, daemon=True).start()
            writer = Writer(path, lines[begin:], rate)
            writer.start()
            seen = _watch(home, writer, sum(s.steps for s in registry.read(whole)))
        finally:
            follower.terminate()
            follower.wait(60)
        share = (_cpu() - busy) / (seen[-1][0] - seen[0][0])
        _tell(writer, first, seen, before=before, rate=rate, mb=round(path.stat().st_size / 1e6), cpu=round(share, 2),
              tail_ms=_tail(Path(folder), lines[:200], rate))


def _tell(writer: Writer, first: int, seen: list[tuple[float, int]], **figures: object) -> None:
    """A step's last line is taken to lie where the steps lie evenly: the file is one pattern again and again."""
    last = seen[-1][1]
    per_step = len(writer.lines) / max(1, last - first)
    lags = [max(0.0, at - writer.written[min(len(writer.written) - 1, round((step - first) * per_step) - 1)]) * 1000
            for (_, had), (at, now) in pairwise(seen) for step in range(max(had, first) + 1, now + 1)]
    at_end = max((steps for at, steps in seen if at <= writer.written[-1] + 1), default=first)
    told("follow", **figures, steps=last, behind=last - at_end, **quantiles(lags), load=round(os.getloadavg()[0], 1))


def _lines(folder: Path, count: int) -> list[bytes]:
    """So many lines of a session of Claude Code, with outputs of 2 kB."""
    whole = folder / "whole.jsonl"
    size = 4_000_000
    while True:
        grown.MADE["claude-code"][1](whole, size)
        with whole.open("rb") as file:
            lines = list(islice(file, count))
        if len(lines) == count:
            return lines
        size *= 2


def _watch(home: Home, writer: Writer, whole: int) -> list[tuple[float, int]]:
    """(moment, steps) each time that the log has more, until it has as many as the whole file."""
    seen = [(time.monotonic(), 0)]
    while writer.is_alive() or seen[-1][1] < whole:
        with reading(home) as conn:
            steps = scalar(conn, "SELECT max(step) FROM event WHERE kind = 'step_added'") or 0
        if steps > seen[-1][1]:
            seen.append((time.monotonic(), steps))
        if time.monotonic() - seen[0][0] > LONGEST_S:
            break
        time.sleep(LOOK_S)
    return seen


def _tail(folder: Path, lines: list[bytes], rate: float) -> float:
    """The median time until `tail -f` has a line, at the same rate."""
    path, into = folder / "tailed", folder / "into"
    path.write_bytes(b"")
    with into.open("wb") as file:
        tail = subprocess.Popen(["tail", "-f", "-n", "+1", str(path)], stdout=file)
    writer, lags, sizes = Writer(path, lines, rate), [], 0
    writer.start()
    try:
        for number, line in enumerate(lines):
            sizes += len(line)
            while into.stat().st_size < sizes:
                time.sleep(0.0005)
            lags.append(time.monotonic() - writer.written[number] if number < len(writer.written) else 0.0)
    finally:
        tail.terminate()
        tail.wait(10)
    return round(sorted(lags)[len(lags) // 2] * 1000, 2)


def _cpu() -> float:
    """Seconds of processor time of the processes that ended."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--before", type=int, nargs="+", default=[0, 20_000])
    asked = parser.parse_args()
    for count in asked.before:
        measure(count, asked.rate, asked.seconds)
