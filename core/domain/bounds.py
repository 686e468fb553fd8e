"""The bounds of every number, text and list that comes from outside: one named type for each sort of field.

A bound is what the narrowest holder can take (a column of 32 bits in `core.domain.steps`, SQLite's and Qt's 64 bits,
a double's whole numbers), or, for texts, far more than any real source has. `tests/core/domain/test_bounds.py` walks
the types of all events, operations and messages: none has a field without a bound.
"""

import re
from datetime import datetime
from typing import Annotated

from msgspec import Meta

_ESCAPED = re.compile(r"[\x00-\x1f]")

INT32 = 2**31 - 1
"""The largest step number, count and size: what `array("i")` and Qt's `int` hold."""

INT64 = 2**63 - 1
"""The largest number that SQLite and Qt hold."""

WHOLE = 2**53 - 1
"""The largest sum and offset: what a double, and JSON elsewhere, holds exactly (RFC 8259 §6)."""

LONGEST_TEXT = 2 * 1024 * 1024
"""Characters of the longest text: no event and no operation is longer in bytes."""

MOST_ITEMS = 100_000
"""Entries of the longest list."""

# ---- numbers

StepNumber = Annotated[int, Meta(ge=1, le=INT32)]
"""The number of a step."""

StepPlace = Annotated[int, Meta(ge=0, le=INT32)]
"""The number of a step, or 0 for the session as a whole, or before the first step."""

Count = Annotated[int, Meta(ge=0, le=INT32)]
"""How many, or how large; also the size of one payload in bytes."""

Tokens = Annotated[int, Meta(ge=0, le=INT32)]
"""Tokens of one completion, or of a context."""

Total = Annotated[int, Meta(ge=0, le=WHOLE)]
"""A sum over a session, or a place in a stream of bytes."""

Sequence = Annotated[int, Meta(ge=0, le=INT64)]
"""A place in a log, a journal or an outbox, or a fence; 0 is before the first."""

Balance = Annotated[int, Meta(ge=-WHOLE, le=WHOLE)]
"""A count that may be below zero for a while."""

ExitCode = Annotated[int, Meta(ge=-(2**31), le=2**32 - 1)]
"""The exit code of a process: signed on POSIX, unsigned 32 bits on Windows."""

Cells = Annotated[int, Meta(ge=0, le=1_000)]
"""Columns or rows of a terminal; each is drawn."""

MOST_COST = 1e9

Cost = Annotated[float, Meta(ge=0, le=MOST_COST)]
"""US dollars of one completion, a limit or a price."""

TotalCost = Annotated[float, Meta(ge=0, le=1e15)]
"""US dollars of a session."""

MOST_POINTS = 1e9

Points = Annotated[float, Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
"""A score or a part of one; other programs do not keep to 0–100."""

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
"""A duration: thirty years, and below what any clock or timer of the system takes."""

Factor = Annotated[float, Meta(ge=0, le=1e6)]
"""A plain number such as a temperature or processors."""

Share = Annotated[float, Meta(ge=0, le=1)]
"""A part of a whole."""

Measure = Annotated[float, Meta(ge=-1e30, le=1e30)]
"""What a training run measured: far below where a double's sums and a chart's scales end."""

Moment = Annotated[datetime, Meta(tz=True)]
"""A time with its offset from UTC; years 1 to 9999."""

# ---- texts, in characters

Id = Annotated[str, Meta(max_length=200)]
"""An identity (`core.domain.ids` says what ours look like; other programs have theirs), or ""."""

NAME = 500
"""Characters of the longest name."""

Name = Annotated[str, Meta(max_length=NAME)]
"""The name of a person, rule, model, host, terminal, tool, format or program."""

Code = Annotated[str, Meta(max_length=200)]
"""A stable word of a program: a reason, a kind of error, a role, a version."""

Tag = Annotated[str, Meta(max_length=100)]
"""A person's tag."""

Title = Annotated[str, Meta(max_length=2_000)]
"""One line that a person reads."""

Address = Annotated[str, Meta(max_length=100_000)]
"""A path, a URL, or what was searched for."""

Reason = Annotated[str, Meta(max_length=100_000)]
"""Why, in a sentence or some."""

Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
"""Anything longer that people or models wrote."""

Bytes = Annotated[bytes, Meta(max_length=LONGEST_TEXT)]
"""Bytes that are held in an event itself."""

# ---- lists

Few = Meta(max_length=1_000)
"""For lists of what a person could name: hosts of a task, scopes, references."""

Many = Meta(max_length=MOST_ITEMS)
"""For lists that grow with the work: parts of a context, tools of a step."""


EVENT_TEXT = 400_000
"""Characters of a text that one event holds beside all else."""


_SHORT = 1_600_000 // 6 - 1
"""Characters that fit however they are written."""


def event_text(text: str) -> str:
    """The beginning of a text that travels in an event: less where characters are written with six bytes each."""
    if len(text) <= _SHORT:
        return text
    start = text[:EVENT_TEXT]
    return start if len(start.encode("utf-8", "replace")) + 5 * len(_ESCAPED.findall(start)) < 1_600_000 else (
        start[: EVENT_TEXT // 2])


def clamp(value: int, highest: int = INT32, lowest: int = 0) -> int:
    """The nearest number within bounds."""
    return max(lowest, min(highest, value))
