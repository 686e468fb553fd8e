"""A place where words were found: what search tells, on this computer and over the wire."""

from __future__ import annotations

from typing import Literal

import msgspec

Where = Literal["title", "thought", "action", "output", "summary", "guidance", "note"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One place where all the words are found; newest first.

    `snippet` is plain text, `matches` says where in it the words stand (start, stop). `ref` is the id of the
    guidance or summary, or the call of an output; `step` is None for what is not about a step.
    """

    session: str
    seq: int
    step: int | None
    where: Where
    ref: str
    snippet: str
    matches: tuple[tuple[int, int], ...]
