"""The words for a session's states."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.kit.safe_text import one_line


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


def reason_words(reason: str) -> str:
    """Why a session is in its state; what another program gave as the reason in its own words."""
    by_person = QCoreApplication.translate("Reasons", "by a person")
    known = {
        "stopped_by_person": by_person, "paused_by_person": by_person,
        "end_not_recorded": QCoreApplication.translate("Reasons", "its file tells no end"),
        "file_grows": QCoreApplication.translate("Reasons", "its file is being written"),
        "runner_died": QCoreApplication.translate("Reasons", "its runner died"),
        "agent_died": QCoreApplication.translate("Reasons", "the agent's program ended"),
        "caller_ended": QCoreApplication.translate("Reasons", "the session that called it ended"),
        "limit_steps": QCoreApplication.translate("Reasons", "its steps are used up"),
        "limit_wall": QCoreApplication.translate("Reasons", "its time is used up"),
        "limit_tokens": QCoreApplication.translate("Reasons", "its tokens are used up"),
        "limit_cost": QCoreApplication.translate("Reasons", "its money is used up"),
        "limit_evaluations": QCoreApplication.translate("Reasons", "its evaluations are used up"),
        "endpoint": QCoreApplication.translate("Reasons", "the model does not answer"),
        "guidance": QCoreApplication.translate("Reasons", "for advice"),
        "host": QCoreApplication.translate("Reasons", "for a host that is away"),
        "waits_for_host": QCoreApplication.translate("Reasons", "for a free host"),
        "asks_for_leave": QCoreApplication.translate("Reasons", "it asks for leave")}
    return known.get(reason) or one_line(reason.replace("_", " "), 80)
