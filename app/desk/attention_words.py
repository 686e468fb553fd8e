"""What needs a person's look, in words, the most urgent first."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.kit.safe_text import one_line

URGENCY = ("waiting", "error_burst", "loop", "stall", "budget", "finished")
"""Kinds of attention; what waits for a person comes first."""


def attention_word(kind: str) -> str:
    """The word for what needs attention."""
    return {
        "error_burst": QCoreApplication.translate("Sessions", "many errors"),
        "loop": QCoreApplication.translate("Sessions", "repeats itself"),
        "stall": QCoreApplication.translate("Sessions", "no progress"),
        "waiting": QCoreApplication.translate("Sessions", "waits for you"),
        "budget": QCoreApplication.translate("Sessions", "budget nearly used"),
        "finished": QCoreApplication.translate("Sessions", "not dealt with yet"),
    }.get(kind, one_line(kind, 24))
