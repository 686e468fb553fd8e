"""The words for a session's states."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def state_words(state: str) -> tuple[str, str, str]:
    """Sign, word and colour of a session's state."""
    return {
        "queued": ("○", QCoreApplication.translate("Sessions", "queued"), "muted"),
        "running": ("●", QCoreApplication.translate("Sessions", "running"), "live"),
        "paused": ("‖", QCoreApplication.translate("Sessions", "paused"), "attention"),
        "waiting": ("◌", QCoreApplication.translate("Sessions", "waiting"), "attention"),
        "finished": ("✓", QCoreApplication.translate("Sessions", "finished"), "muted"),
        "unreadable": ("✗", QCoreApplication.translate("Sessions", "unreadable"), "error"),
        "failed": ("✗", QCoreApplication.translate("Sessions", "failed"), "error"),
        "stopped": ("■", QCoreApplication.translate("Sessions", "stopped"), "muted"),
    }.get(state, ("?", state, "muted"))
