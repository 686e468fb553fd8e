"""From when to when a part of a session goes: it tells which of two files of one session came first.

Only a few programs write several files with the name of one session, each with what was new. Where a format's files are
whole runs, two with one name are two runs, whatever their times say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from core.domain.events import NoteAdded, StepAdded, decode_event

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_VARIED = 6
"""Digits of which there are so many kinds were made by chance; a name that was made unreadable has fewer."""

_TOTAL = re.compile(r"^Recorded for a turn: input_tokens (\d{1,15})\b")


class SessionSpan(msgspec.Struct, frozen=True):
    """The first and the last mark of a part on a scale that only rises while a session goes on."""

    first: float
    last: float
    is_exact: bool = False
    """Whether two parts with other marks are two parts, even where they say the same."""


def is_own_name(name: str) -> bool:
    """Whether a session's name is one that a program made up for it alone."""
    return _UUID.fullmatch(name) is not None and len(set(name.lower()) - {"-"}) >= _VARIED


def by_times(bodies: Iterable[bytes]) -> SessionSpan | None:
    """By the times of the steps, in seconds since 1970; None where there are none."""
    heads = [f.head for b in bodies if isinstance(f := decode_event(b).fact, StepAdded)]
    times = [t.timestamp() for h in heads for t in (h.started_at, h.ended_at) if isinstance(t, datetime)]
    return SessionSpan(min(times), max(times)) if times else None


def by_totals(bodies: Iterable[bytes]) -> SessionSpan | None:
    """By how many tokens the session had used up to the end of each turn, as Codex counts them."""
    notes = [f.text for b in bodies if isinstance(f := decode_event(b).fact, NoteAdded)]
    totals = [float(found[1]) for text in notes if (found := _TOTAL.match(text))]
    return SessionSpan(min(totals), max(totals), is_exact=True) if totals else None


def goes_on(before: SessionSpan | None, after: SessionSpan | None) -> bool:
    """Whether the second part begins after the end of the first."""
    return before is not None and after is not None and after.first > before.last
