"""Named sets of options, so that a data set can be made as a paper made it without knowing each of its choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "paper": {"overlap": "each", "balance": "repeat", "react": 7, "summary": 10, "chains": False},
    "once": {"overlap": "once"},
}
"""Options by preset. `core.workers.export.PRESETS` has their words.

paper: as APOLLO made its data. Each context just before a summary and the last one is a sample that trains all its
actions which no verdict masks, those that were carried past a summary too ("the ReAct trajectory will only compute the
correct action part's loss", §4.1); so there is one summary sample less than there are ReAct samples. 7 and 10 copies.
once: each action trains in one sample, the first that holds it.
"""


def with_preset(data: object) -> object:
    """Options as plain data, completed by those of the preset that they name."""
    preset = PRESETS.get(str(data.get("preset", ""))) if isinstance(data, Mapping) else None
    return {**preset, **data} if preset is not None and isinstance(data, Mapping) else data
