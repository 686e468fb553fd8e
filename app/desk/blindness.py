"""Blind mode: what others think of a step shows once the reader has decided on it. No Qt."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.step_entry import Opinions
from core.domain.verdict import DECIDED, PEOPLE, Verdict


def seen(verdicts: Mapping[str, Verdict], reader: str) -> Mapping[str, Verdict]:
    """The verdicts that may show: all, but none to a blind `reader` (an author's key) who gave none on this step yet.

    "" as the reader: nobody is blind.
    """
    return verdicts if not reader or any(v.author.key == reader for v in verdicts.values()) else {}


def decided(opinions: Opinions, reader: str) -> bool:
    """Whether a step shows as kept or masked by a person, or by those who made the file; `reader` as in `seen`."""
    return any(v.author.kind in PEOPLE and v.value in DECIDED for v in seen(opinions.verdicts, reader).values())
