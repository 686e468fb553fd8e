"""How long a command takes until its window is on the display: window_time.py TIMES COMMAND…   (needs xdotool)

Each start has a home of its own that an earlier start has filled. Prints the seconds, one start a line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 180.0
"""It is no measure: a machine that does much else is given its time."""


def measure(command: list[str], home: str) -> float:
    """One start, to the window's first mapping."""
    started = time.monotonic()
    with subprocess.Popen(command, env={**os.environ, "TIPHYS_HOME": home}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            while time.monotonic() - started < LIMIT_S:
                search = ["xdotool", "search", "--onlyvisible", "--class", "tiphys"]
                if subprocess.run(search, capture_output=True, check=False).stdout:
                    return time.monotonic() - started
                if process.poll() is not None:
                    break
                time.sleep(0.01)
            process.kill()
            raise SystemExit(f"No window came: {process.stderr.read() if process.stderr else ''}")
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(30)


def main(times: int, command: list[str]) -> None:
    """Print the times of all starts but the first, which fills the home."""
    with tempfile.TemporaryDirectory(prefix="tiphys-start-") as home:
        for number in range(times + 1):
            taken = measure(command, home)
            if number:
                sys.stdout.write(f"{taken:.3f}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
