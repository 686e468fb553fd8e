"""A lock that dies with its holder, and may be looked at without being in the way."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from core.store.lock import FileLock, is_held

HOLD = """
import sys
from core.store.lock import FileLock
print(FileLock(sys.argv[1]).take(), flush=True)
sys.stdin.read()
"""


def test_it_is_held_by_one_and_free_when_that_one_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "runner.lock"
    assert not is_held(path)
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          cwd=Path(__file__).parents[3]) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"True\n"
        assert is_held(path) and not FileLock(path).take()
        holder.kill()
        holder.wait()
        assert not is_held(path)


def test_a_second_one_waits_until_it_is_released(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.take() and one.take() and not two.take()
    one.release()
    one.release()
    assert two.take()
    two.release()


def test_it_is_waited_for_as_long_as_is_asked(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.take()
    waiting = threading.Timer(0.3, one.release)  # far beyond the instant that `take` grants anybody
    waiting.start()
    assert two.take(patience_s=60)
    waiting.join()
    two.release()


def test_looking_is_never_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.001):
            is_held(path)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(200):
            lock = FileLock(path)
            assert lock.take()
            lock.release()
    finally:
        over.set()
        looker.join()
