"""What `tiphys judge --json` prints, one JSON object: the same type for the window that reads it."""

from __future__ import annotations

import msgspec


class JudgeLine(msgspec.Struct, frozen=True, kw_only=True):
    """So many verdicts are new in a session, and so many of these mask."""

    session: str
    verdicts: int
    masked: int


def read_judge_line(line: bytes) -> JudgeLine:
    """The line of a judge. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(line, type=JudgeLine)
