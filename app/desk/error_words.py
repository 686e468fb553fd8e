"""The word for how a step failed, or how a command ended."""

from __future__ import annotations

from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line

ERRORS: dict[str, str] = {
    "exit_code": QT_TRANSLATE_NOOP("ErrorKind", "exit code"),
    "not_found": QT_TRANSLATE_NOOP("ErrorKind", "not found"),
    "interrupted": QT_TRANSLATE_NOOP("ErrorKind", "interrupted"),
    "timeout": QT_TRANSLATE_NOOP("ErrorKind", "timeout"),
    "killed": QT_TRANSLATE_NOOP("ErrorKind", "killed"),
    "refused": QT_TRANSLATE_NOOP("ErrorKind", "refused"),
    "malformed": QT_TRANSLATE_NOOP("ErrorKind", "malformed call"),
    "failed": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "tool_error": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "cancelled": QT_TRANSLATE_NOOP("ErrorKind", "cancelled"),
    "network": QT_TRANSLATE_NOOP("ErrorKind", "network"),
    "invalid_arguments": QT_TRANSLATE_NOOP("ErrorKind", "wrong arguments"),
    "unknown_tool": QT_TRANSLATE_NOOP("ErrorKind", "unknown tool"),
    "evaluator_failed": QT_TRANSLATE_NOOP("ErrorKind", "evaluator failed"),
    "submission_too_large": QT_TRANSLATE_NOOP("ErrorKind", "submission too large"),
    "submission_unreadable": QT_TRANSLATE_NOOP("ErrorKind", "submission not readable"),
    # what Inspect calls a tool's errors
    "parsing": QT_TRANSLATE_NOOP("ErrorKind", "malformed call"),
    "unicode_decode": QT_TRANSLATE_NOOP("ErrorKind", "not UTF-8"),
    "permission": QT_TRANSLATE_NOOP("ErrorKind", "not permitted"),
    "file_not_found": QT_TRANSLATE_NOOP("ErrorKind", "no such file"),
    "is_a_directory": QT_TRANSLATE_NOOP("ErrorKind", "is a folder"),
    "limit": QT_TRANSLATE_NOOP("ErrorKind", "limit reached"),
    "output_limit": QT_TRANSLATE_NOOP("ErrorKind", "output too long"),
    "approval": QT_TRANSLATE_NOOP("ErrorKind", "not approved"),
    "unknown": QT_TRANSLATE_NOOP("ErrorKind", "unknown error"),
}


def status_word(status: str) -> str:
    """The word for an envelope's status."""
    return {
        "finished": translate("Step", "finished"),
        "running": translate("Step", "running in the background"),
        "timeout": translate("Step", "timeout"),
        "killed": translate("Step", "killed"),
        "refused": translate("Step", "refused"),
        "failed": translate("Step", "failed"),
    }.get(status, status)


def error_word(kind: str) -> str:
    """The word for an error's kind; an unknown one is shown as it is."""
    known = ERRORS.get(kind)
    if known is not None:
        return translate("ErrorKind", known)
    return one_line(kind.replace("_", " "), 24) or translate("Row", "error")
