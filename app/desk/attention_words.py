"""What needs a person's look, in words, the most urgent first."""

from __future__ import annotations

from app.kit.i18n import translate
from app.kit.safe_text import one_line

URGENCY = ("waiting", "error_burst", "loop", "stall", "budget", "finished")
"""Kinds of attention; what waits for a person comes first."""


def attention_word(kind: str) -> str:
    """The word for what needs attention."""
    return {
        "error_burst": translate("Sessions", "many errors"),
        "loop": translate("Sessions", "repeats itself"),
        "stall": translate("Sessions", "no progress"),
        "waiting": translate("Sessions", "waits for you"),
        "budget": translate("Sessions", "budget nearly used"),
        "finished": translate("Sessions", "not dealt with yet"),
    }.get(kind, one_line(kind, 24))
