"""What the annotator must see: notices in the window, never a modal box. Errors become sentences by their code."""

from __future__ import annotations

import logging

import msgspec
from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.kit.i18n import QT_TRANSLATE_NOOP
from core.domain.errors import ReportableError

_log = logging.getLogger("ui")

_T = "Errors"
SENTENCES: dict[str, str] = {
    "already_delivered": QT_TRANSLATE_NOOP("Errors", "Too late: this guidance was delivered at step {step}."),
    "already_withdrawn": QT_TRANSLATE_NOOP("Errors", "This guidance was withdrawn already."),
    "bad_address": QT_TRANSLATE_NOOP("Errors", "“{address}” is no address of a server."),
    "bad_archive": QT_TRANSLATE_NOOP("Errors", "This archive is damaged or was tampered with."),
    "bad_endpoint": QT_TRANSLATE_NOOP(
        "Errors", "“{endpoint}” is no endpoint's address: http:// or https://, host and path, without user, query or "
        "escapes."),
    "bad_frame": QT_TRANSLATE_NOOP("Errors", "The server sent something that cannot be read."),
    "account_exists": QT_TRANSLATE_NOOP(
        "Errors", "There is an account of this name already. Ask the administrator for another invitation."),
    "bad_invitation": QT_TRANSLATE_NOOP(
        "Errors", "This is no invitation to a Tiphys server, or a part of it is missing."),
    "bad_link": QT_TRANSLATE_NOOP("Errors", "This is no link to a session, no step and no session."),
    "bad_token": QT_TRANSLATE_NOOP("Errors", "The server does not accept your token."),
    "bad_variable": QT_TRANSLATE_NOOP("Errors", "“{variable}” cannot be the name of a variable."),
    "command_failed": QT_TRANSLATE_NOOP("Errors", "“tiphys {command}” failed: {why}"),
    "empty_text": QT_TRANSLATE_NOOP("Errors", "There is no text to send."),
    "file_not_written": QT_TRANSLATE_NOOP("Errors", "{path} cannot be written: {why}"),
    "file_too_large": QT_TRANSLATE_NOOP("Errors", "This file is too large."),
    "guidance_exists": QT_TRANSLATE_NOOP("Errors", "The server holds this guidance already."),
    "held_for_newer_server": QT_TRANSLATE_NOOP(
        "Errors", "The server's program is older and would take your verdict on one action for one on the whole step. "
                  "That verdict, and what you sent after it, waits on this computer until the server is updated."),
    "imported": QT_TRANSLATE_NOOP("Errors", "An imported trajectory cannot be controlled: no agent is behind it."),
    "internal": QT_TRANSLATE_NOOP("Errors", "The server met a fault of its own. Its log has the details."),
    "internal_error": QT_TRANSLATE_NOOP(
        "Errors", "Something went wrong in a command of Tiphys. Its log has the details."),
    "invitation_expired": QT_TRANSLATE_NOOP(
        "Errors", "This invitation has expired. Ask the administrator for a new one."),
    "invitation_unknown": QT_TRANSLATE_NOOP(
        "Errors", "The server does not know this invitation. Ask the administrator for a new one."),
    "invitation_used": QT_TRANSLATE_NOOP(
        "Errors", "This invitation was used already. If that was not you, tell the administrator."),
    "missing_scope": QT_TRANSLATE_NOOP("Errors", "Your token does not allow this."),
    "network_disk": QT_TRANSLATE_NOOP(
        "Errors", "The data folder lies on a network disk, where a log cannot be kept safely."),
    "no_attention": QT_TRANSLATE_NOOP("Errors", "Nothing needs attention here any more."),
    "no_docker": QT_TRANSLATE_NOOP("Errors", "There is no Docker engine that can be used."),
    "no_guidance": QT_TRANSLATE_NOOP("Errors", "The server does not know this guidance."),
    "no_runner": QT_TRANSLATE_NOOP("Errors", "No agent is running now, so nothing can be interrupted."),
    "no_server": QT_TRANSLATE_NOOP("Errors", "The link leads to {address}, which is not among your servers."),
    "no_session": QT_TRANSLATE_NOOP("Errors", "The server does not know this session."),
    "no_step": QT_TRANSLATE_NOOP("Errors", "This session has no such step."),
    "no_task": QT_TRANSLATE_NOOP("Errors", "The server does not know this task."),
    "not_a_file": QT_TRANSLATE_NOOP("Errors", "“{path}” is not a file."),
    "server_start": QT_TRANSLATE_NOOP("Errors", "The private server did not start. Its log is in {folder}."),
    "session_exists": QT_TRANSLATE_NOOP("Errors", "There is a session of this name already."),
    "session_over": QT_TRANSLATE_NOOP("Errors", "This session has ended: no agent will read this."),
    "step_changed": QT_TRANSLATE_NOOP(
        "Errors", "Step {step} has changed since you judged it. Look at it again: your choice waits in the panel "
                  "Review."),
    "store_too_new": QT_TRANSLATE_NOOP("Errors", "This data was written by a newer version of Tiphys."),
    "store_unavailable": QT_TRANSLATE_NOOP("Errors", "The data folder cannot be used now."),
    "store_write_failed": QT_TRANSLATE_NOOP("Errors", "The disk refused to store this. Is it full?"),
    "task_changed": QT_TRANSLATE_NOOP(
        "Errors", "The folder of the task {task} has changed since you saw what it asks. Open the dialog again."),
    "text_too_long": QT_TRANSLATE_NOOP("Errors", "This text is too long to be sent."),
    "token_expired": QT_TRANSLATE_NOOP(
        "Errors", "Your account on this server has expired. The administrator can prolong it."),
    "too_many_connections": QT_TRANSLATE_NOOP(
        "Errors", "This account has {most} connections to the server already, which is as many as one may have."),
    "unknown_format": QT_TRANSLATE_NOOP("Errors", "“{path}” is in no format that is known here."),
    "wrong_state": QT_TRANSLATE_NOOP("Errors", "This is not possible in the session's present state."),
}
"""Stable codes whose sentence is told in the reader's language; other codes show core's English sentence."""


class Notice(msgspec.Struct, frozen=True):
    """One sentence for the reader; `kind`: info, done, attention or error. `session` is where it belongs, `about`
    what exactly it is about."""

    sentence: str
    kind: str = "info"
    session: str = ""
    about: object = None


class Notices(QObject):
    """Where anybody in the app speaks to the reader; the window shows what is told."""

    posted = Signal(object)
    opened = Signal(object)
    """The reader wants to see what a Notice is about."""

    def tell(self, sentence: str, kind: str = "info", session: str = "", about: object = None) -> None:
        """Show a sentence that is in the reader's language already."""
        self.posted.emit(Notice(sentence, kind, session, about))

    def report(self, error: BaseException) -> None:
        """Show a failure: an expected one as its sentence, any other as a fault of ours with a hint to the log."""
        if isinstance(error, ReportableError):
            self.tell(sentence_of(error), "error")
        else:
            _log.error("Unexpected error", exc_info=error)
            self.tell(self.tr("Something went wrong in Tiphys itself ({kind}). The log has the details.").format(
                kind=type(error).__name__), "error")


def sentence_of(error: ReportableError) -> str:
    """The sentence of an expected failure in the reader's language."""
    known = SENTENCES.get(error.code)
    if known is None:
        return error.sentence
    try:
        return QCoreApplication.translate(_T, known).format(**error.params)
    except (KeyError, IndexError):
        return error.sentence
