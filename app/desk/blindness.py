"""Blind mode: what others think of a step shows once the reader has decided on it. No Qt."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.verdict import Verdict


def seen(verdicts: Mapping[str, Verdict], reader: str) -> Mapping[str, Verdict]:
    """The verdicts that may show: all, but none to a blind `reader` (an author's key) who gave none on this step yet.

    "" as the reader: nobody is blind.
    """
    return verdicts if not reader or any(v.author.key == reader for v in verdicts.values()) else {}
