"""A process that answers its parent: JSON lines in, JSON lines out, until its input ends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

import msgspec

Say = Callable[[object], None]
"""Sends one answer."""


def serve(make: Callable[[Say], Callable[[bytes], None]]) -> int:
    """Give each line to what `make` makes of the way to answer. Returns the exit status, 0.

    Standard output carries answers only: what libraries and a person's rules print goes to standard error.
    """
    out = sys.stdout.buffer

    def say(told: object) -> None:
        out.write(msgspec.json.encode(told) + b"\n")
        out.flush()

    with contextlib.redirect_stdout(sys.stderr):
        answer = make(say)
        for line in sys.stdin.buffer:
            if line.strip():
                answer(line)
    return 0
