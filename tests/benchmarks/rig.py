"""What the benchmarks share: a server in a process of its own, readings of its memory and processor time."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class ServerProcess:
    """A private server that starts no runners; `url`, `token`, and what it costs."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._process = subprocess.Popen([sys.executable, __file__, str(home)], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self.token = (home / "admin.token").read_text()

    @property
    def cpu_s(self) -> float:
        """Processor seconds so far, user and system."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def rss_mb(self) -> float:
        """Resident memory in MB."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE / 1e6

    @property
    def fds(self) -> int:
        """Open file handles."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def stop(self) -> None:
        """End it tidily."""
        self._process.terminate()
        self._process.wait(20)


@contextlib.contextmanager
def server(home: Path) -> Iterator[ServerProcess]:
    """A running server process."""
    process = ServerProcess(home)
    try:
        yield process
    finally:
        process.stop()


def told(name: str, **figures: object) -> None:
    """One line of results, with the command that makes it again."""
    rerun = f"python tests/benchmarks/run.py {name}"
    print(json.dumps({"benchmark": name, **figures, "rerun": rerun}), flush=True)


def quantiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the worst, rounded."""
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return {"p50_ms": round(cuts[49], 2), "p99_ms": round(cuts[98], 2), "max_ms": round(max(milliseconds), 2)}


def _serve(home: str) -> None:
    from core.server.serve import ServeSettings, run
    from core.store.home import Home

    run(ServeSettings(home=Home(home), private=True, supervise=False), lambda server: print(server.url, flush=True))


if __name__ == "__main__":
    _serve(sys.argv[1])
