"""What made a message of a context, in words."""

from __future__ import annotations

from app.kit.i18n import translate
from app.kit.safe_text import one_line


def made_by_program(source: str) -> str:
    """A note (how far the agent is, what it is reminded of), a summary, or "" for neither."""
    kind = source.partition(":")[0]
    return kind if kind in ("note", "summary") else ""


def source_words(source: str) -> str:
    """What made a message, in words."""
    kind, _, name = source.partition(":")
    known = {
        "task": translate("EyeView", "task"),
        "note": translate("EyeView", "note of the program"),
        "step": translate("EyeView", "step {name}"),
        "guidance": translate("EyeView", "guidance"),
        "summary": translate("EyeView", "summary"),
        "system": translate("EyeView", "instructions"),
    }.get(kind)
    return known.format(name=one_line(name, 20)) if known is not None else one_line(source, 60)
