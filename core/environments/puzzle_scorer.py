"""Scores answers to puzzles in a process of its own: a scorer that hangs is ended, and nothing else waits for it.

`python -m core.environments.puzzle_scorer` reads a PuzzleAnswer a line and writes its score, until its input ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from functools import cache
from typing import Any

import msgspec

from core import program
from core.workers.serve import end_with_parent

ANSWER_S, START_S = 30.0, 180.0
"""How long one answer may be looked at, and how long the package may take to load."""


class PuzzleAnswer(msgspec.Struct, frozen=True):
    """An answer to puzzle `place` of a set of reasoning-gym, made with `seed`."""

    set: str
    seed: int
    place: int
    answer: str


class PuzzleScorer:
    """One process, asked in turn; it starts with the first answer, and again after it was ended."""

    def __init__(self, answer_s: float = ANSWER_S) -> None:
        self._answer_s = answer_s
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def score(self, given: PuzzleAnswer) -> float | None:
        """The set's own score, 0 to 1; None where it gave none in time. Blocks for as long."""
        with self._turn:
            if self._process is not None and self._process.poll() is not None:
                self._end()
            if self._process is None and self._said(b"", START_S) is None:
                return None
            found = self._said(msgspec.json.encode(given) + b"\n", self._answer_s)
        return None if found is None else min(1.0, max(0.0, float(found)))

    def close(self) -> None:
        """End the process."""
        with self._turn:
            self._end()

    def _said(self, line: bytes, within_s: float) -> bytes | None:
        process = self._process = self._process or subprocess.Popen(
            program.command("puzzle-scorer"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        end = threading.Timer(within_s, process.kill)
        end.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            found = process.stdout.readline()
        except OSError:
            found = b""
        finally:
            end.cancel()
        if not found:
            self._end()
        return found or None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()


@cache
def scorer() -> PuzzleScorer:
    """The one of this process."""
    return PuzzleScorer()


@cache
def _puzzle(name: str, seed: int, place: int) -> tuple[Any, Any]:
    from reasoning_gym.factory import create_dataset

    made = create_dataset(name, size=place + 1, seed=seed)
    return made, made[place]


def _score(given: PuzzleAnswer) -> float:
    made, entry = _puzzle(given.set, given.seed, given.place)
    try:
        return float(made.score_answer(given.answer, entry))
    except Exception:  # noqa: BLE001 - a scorer that cannot read an answer has not found it right
        return 0.0


def main() -> int:
    """Serve until standard input ends. Standard output carries scores only."""
    end_with_parent()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    with contextlib.redirect_stdout(sys.stderr):
        import reasoning_gym  # noqa: F401 - it registers its sets

        out.write(b"ready\n")
        for line in sys.stdin.buffer:
            out.write(b"%r\n" % _score(msgspec.json.decode(line, type=PuzzleAnswer)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
