"""Of which program a saved run is, by the name that it is known by."""

from __future__ import annotations

from app.kit.safe_text import one_line
from core.formats.tools import program_of


def origin_name(origin: str) -> str:
    """What the head of a run and its row in a list say of where it is from; "" for a session of ours."""
    return "" if origin == "live" else program_of(origin) or one_line(origin, 24)
