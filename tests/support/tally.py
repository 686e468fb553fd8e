"""What a test tried and how often harm came of it, for the table that `make foreign` prints."""

from __future__ import annotations

import json
import os
from pathlib import Path

VARIABLE = "TIPHYS_TALLY"
"""Names the file into which tests write their lines; without it a tally is only the assertion."""


def tally(subject: str, tried: int, harm: list[str] | int, seed: str = "") -> None:
    """Record that something foreign was tried so often, then fail where harm was done.

    `subject` is the table's row ("Codex logs, steps compared"); `harm` the cases (or their number); `seed` what
    makes the same cases again. Several calls with one subject are added up.
    """
    found = harm if isinstance(harm, int) else len(harm)
    if file := os.environ.get(VARIABLE):
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(json.dumps({"subject": subject, "tried": tried, "harm": found, "seed": seed}) + "\n")
    assert tried > 0, f"{subject}: nothing was tried"
    assert not found, f"{subject}: {harm}"
