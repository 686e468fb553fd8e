"""A place where words were found: what search tells, on this computer and over the wire."""

from typing import Annotated, Literal

import msgspec

from core.domain.bounds import Count, Many, Name, Sequence, StepPlace, Text

Where = Literal["title", "thought", "action", "output", "summary", "guidance", "note"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One place where all the words are found; newest first.

    `snippet` is plain text, `matches` says where in it the words stand (start, stop). `ref` is the id of the
    guidance or summary, the call of an output, or the key of a remark's author; `step` is None for what is not about
    a step.
    """

    session: Name
    seq: Sequence
    step: StepPlace | None
    where: Where
    ref: Name
    snippet: Text
    matches: Annotated[tuple[tuple[Count, Count], ...], Many]
