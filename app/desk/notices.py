"""What the annotator must see: notices in the window, never a modal box. Errors become sentences by their code."""

from __future__ import annotations

import logging

import msgspec
from PySide6.QtCore import QObject, Signal

from app.desk.remark_words import remark_words
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from core.domain.errors import ReportableError

_log = logging.getLogger("ui")

_T = "Errors"
SENTENCES: dict[str, str] = {
    "bad_feed": QT_TRANSLATE_NOOP(
        "Errors", "The feed of updates cannot be used: it is none, or its signature is not by the key of your "
        "administrator."),
    "feed_away": QT_TRANSLATE_NOOP("Errors", "The feed of updates cannot be read at {place}."),
    "id_token_algorithm": QT_TRANSLATE_NOOP(
        "Errors", "The lab's log-in provider signs in a way that the server does not accept."),
    "id_token_audience": QT_TRANSLATE_NOOP("Errors", "This log-in was made for another program."),
    "id_token_bad": QT_TRANSLATE_NOOP("Errors", "What the lab's log-in provider sent cannot be read."),
    "id_token_early": QT_TRANSLATE_NOOP(
        "Errors", "This log-in is not valid yet: compare the clocks of server and provider."),
    "id_token_expired": QT_TRANSLATE_NOOP("Errors", "This log-in has expired: log in again."),
    "id_token_incomplete": QT_TRANSLATE_NOOP(
        "Errors", "What the lab's log-in provider sent lacks something that the server needs."),
    "id_token_issuer": QT_TRANSLATE_NOOP("Errors", "This log-in comes from another provider than the server's."),
    "id_token_key": QT_TRANSLATE_NOOP(
        "Errors", "This log-in is signed with a key that the lab's provider does not name."),
    "id_token_old": QT_TRANSLATE_NOOP("Errors", "This log-in was made too long ago: log in again."),
    "id_token_signature": QT_TRANSLATE_NOOP("Errors", "The signature of this log-in is not right."),
    "already_delivered": QT_TRANSLATE_NOOP("Errors", "Too late: this guidance was delivered at step {step}."),
    "already_withdrawn": QT_TRANSLATE_NOOP("Errors", "This guidance was withdrawn already."),
    "bad_address": QT_TRANSLATE_NOOP("Errors", "“{address}” is no address of a server."),
    "bad_answer": QT_TRANSLATE_NOOP("Errors", "The server answered something else than was asked."),
    "bad_archive": QT_TRANSLATE_NOOP("Errors", "This archive is damaged or was tampered with."),
    "bad_author": QT_TRANSLATE_NOOP("Errors", "The server does not take this in that name."),
    "bad_endpoint": QT_TRANSLATE_NOOP(
        "Errors", "“{endpoint}” is no endpoint's address: http:// or https://, host and path, without user, query or "
        "escapes."),
    "archive_differs": QT_TRANSLATE_NOOP("Errors", "The archive could not be read back whole. The session stays."),
    "bad_event": QT_TRANSLATE_NOOP("Errors", "Something in the log cannot be read: {why}"),
    "bad_fingerprint": QT_TRANSLATE_NOOP(
        "Errors", "“{address}” does not end with the fingerprint of a certificate: wss:// and, behind #, sha256= "
                  "with 64 hexadecimal digits."),
    "bad_frame": QT_TRANSLATE_NOOP("Errors", "The server sent something that cannot be read."),
    "account_exists": QT_TRANSLATE_NOOP(
        "Errors", "There is an account of this name already. Ask the administrator for another invitation."),
    "bad_invitation": QT_TRANSLATE_NOOP(
        "Errors", "This is no invitation to a Tiphys server, or a part of it is missing."),
    "bad_id": QT_TRANSLATE_NOOP(
        "Errors", "This name cannot be used: it has characters that a name may not have, or is too long."),
    "bad_issuer": QT_TRANSLATE_NOOP(
        "Errors", "The lab's log-in provider {url} cannot be used: it is none, or not encrypted."),
    "bad_link": QT_TRANSLATE_NOOP("Errors", "This is no link to a session, no step and no session."),
    "bad_op": QT_TRANSLATE_NOOP("Errors", "The server cannot be asked this: {why}"),
    "bad_opinion": QT_TRANSLATE_NOOP("Errors", "This is no opinion that can be taken over."),
    "bad_origin": QT_TRANSLATE_NOOP("Errors", "An import needs the name of its format."),
    "bad_queue": QT_TRANSLATE_NOOP(
        "Errors", "A review queue needs a name of one line, and says how many steps it asks for."),
    "empty_queue": QT_TRANSLATE_NOOP("Errors", "A review queue needs at least one session that its server has."),
    "no_account": QT_TRANSLATE_NOOP("Errors", "There is no account “{name}” on that server."),
    "no_queue": QT_TRANSLATE_NOOP("Errors", "This review queue is not there."),
    "not_in_queue": QT_TRANSLATE_NOOP("Errors", "The session is not in this review queue."),
    "not_your_queue": QT_TRANSLATE_NOOP(
        "Errors", "Only {by}, who made the review queue, or an administrator may do this."),
    "queue_closed": QT_TRANSLATE_NOOP("Errors", "The review queue is closed."),
    "queue_empty": QT_TRANSLATE_NOOP("Errors", "No session of the review queue is left to take."),
    "queue_exists": QT_TRANSLATE_NOOP("Errors", "The server holds this review queue already."),
    "queue_not_held": QT_TRANSLATE_NOOP("Errors", "The session is not with {people} any more."),
    "queue_read": QT_TRANSLATE_NOOP("Errors", "{people} is reading this session just now: it was not given to you."),
    "queue_taken": QT_TRANSLATE_NOOP("Errors", "This session is with {people} already: it was not given to you."),
    "queue_too_long": QT_TRANSLATE_NOOP("Errors", "A review queue has at most 10,000 sessions."),
    "queue_without": QT_TRANSLATE_NOOP("Errors", "The session was taken out of the review queue."),
    "too_many_queues": QT_TRANSLATE_NOOP("Errors", "The server has as many review queues as it takes."),
    "bad_tag": QT_TRANSLATE_NOOP("Errors", "A tag has 1 to 40 printable characters."),
    "bad_task": QT_TRANSLATE_NOOP("Errors", "This task cannot be started: the value of “{field}” is not possible."),
    "bad_task_file": QT_TRANSLATE_NOOP("Errors", "The task's files cannot be used: {path}"),
    "bad_thresholds": QT_TRANSLATE_NOOP(
        "Errors", "Counts lie between 0 and 10,000, minutes up to 100,000, shares between 0 and 1."),
    "bad_time": QT_TRANSLATE_NOOP("Errors", "The server did not take the time at work that was told to it."),
    "bad_token": QT_TRANSLATE_NOOP("Errors", "The server does not accept your token."),
    "bad_variable": QT_TRANSLATE_NOOP("Errors", "“{variable}” cannot be the name of a variable."),
    "blob_damaged": QT_TRANSLATE_NOOP("Errors", "A text of this session is damaged."),
    "blob_hash": QT_TRANSLATE_NOOP("Errors", "A text of this session is damaged: it does not match its name."),
    "blob_name": QT_TRANSLATE_NOOP("Errors", "A text of this session has a name that no text can have."),
    "blob_too_large": QT_TRANSLATE_NOOP("Errors", "A text is larger than the server takes."),
    "cannot_write": QT_TRANSLATE_NOOP("Errors", "{path} cannot be written."),
    "cannot_remove": QT_TRANSLATE_NOOP("Errors", "Files of a deleted session cannot be removed."),
    "certificate": QT_TRANSLATE_NOOP(
        "Errors", "The server shows another certificate than the one that it should have. Nothing was sent. Ask its "
                  "administrator before you go on. It shows {fingerprint}"),
    "command_failed": QT_TRANSLATE_NOOP("Errors", "“tiphys {command}” failed: {why}"),
    "command_reused": QT_TRANSLATE_NOOP("Errors", "The server holds another command under this name already."),
    "deleted_before": QT_TRANSLATE_NOOP(
        "Errors", "This session was deleted before the log of its server was restored. It is there again, until "
                  "somebody deletes it anew."),
    "empty_text": QT_TRANSLATE_NOOP("Errors", "There is no text to send."),
    "event_too_large": QT_TRANSLATE_NOOP("Errors", "This is larger than one entry of the log may be."),
    "fenced": QT_TRANSLATE_NOOP("Errors", "Another program works on this session now."),
    "bad_pool_host": QT_TRANSLATE_NOOP("Errors", "This cannot be a member of the host pool."),
    "external_agent": QT_TRANSLATE_NOOP(
        "Errors", "An agent that is not ours goes on from its own record alone: branch it from a step with a snapshot, "
                  "where its recipe says how it is taken up."),
    "gpu_in_use": QT_TRANSLATE_NOOP("Errors", "Sessions hold GPUs of {name}; end them first."),
    "feed_set_back": QT_TRANSLATE_NOOP(
        "Errors", "The feed of updates is older than the one that was there before: it is not believed. Somebody put "
        "it there again."),
    "feed_signature": QT_TRANSLATE_NOOP(
        "Errors", "The feed of updates is not signed with your administrator's key: it is not believed."),
    "guidance_given": QT_TRANSLATE_NOOP(
        "Errors", "This guidance was given at step {step}: to go on without it, branch from an earlier step."),
    "host_in_use": QT_TRANSLATE_NOOP("Errors", "{name} is held by sessions; end them first."),
    "issuer_away": QT_TRANSLATE_NOOP("Errors", "The lab's log-in provider cannot be asked now: {url}"),
    "limit_stands": QT_TRANSLATE_NOOP(
        "Errors", "The session ended by a limit ({limit}): say how much more it may use, or it ends at once again."),
    "no_log_in": QT_TRANSLATE_NOOP(
        "Errors", "{server} offers no log-in by the lab's accounts. Ask its administrator for an invitation."),
    "no_pool_host": QT_TRANSLATE_NOOP("Errors", "The host pool has no {name}."),
    "no_such_host": QT_TRANSLATE_NOOP(
        "Errors", "No host of this server's pool could ever take this task. Who runs the server may add one."),
    "not_drawn": QT_TRANSLATE_NOOP(
        "Errors", "A part of the window could not be drawn ({place}). All else goes on, and the log has the details. "
                  "[not_drawn]"),
    "not_over": QT_TRANSLATE_NOOP("Errors", "The session has not ended, so it needs no word to go on."),
    "step_of_parent": QT_TRANSLATE_NOOP("Errors", "Step {step} is one of session {parent}: branch that one."),
    "file_exists": QT_TRANSLATE_NOOP(
        "Errors", "{path} is there and is no earlier archive of this session. It stays as it is."),
    "file_not_written": QT_TRANSLATE_NOOP("Errors", "{path} cannot be written: {why}"),
    "file_too_large": QT_TRANSLATE_NOOP("Errors", "This file is too large."),
    "forbidden": QT_TRANSLATE_NOOP(
        "Errors", "The server refuses this connection. Is {server} the name that it is known by?"),
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
    "invitation_unreadable": QT_TRANSLATE_NOOP("Errors", "The file of the invitation cannot be read."),
    "invitation_used": QT_TRANSLATE_NOOP(
        "Errors", "This invitation was used already. If that was not you, tell the administrator."),
    "login_failed": QT_TRANSLATE_NOOP("Errors", "The lab's provider did not log you in: {why}"),
    "login_name_taken": QT_TRANSLATE_NOOP(
        "Errors", "There is an account of your name already that does not belong to this log-in. The "
                  "administrator can link it."),
    "login_no_role": QT_TRANSLATE_NOOP("Errors", "You are in no group that may work on this server."),
    "login_often": QT_TRANSLATE_NOOP(
        "Errors", "Too many log-ins were begun from your network. Wait a minute, then begin again."),
    "login_over": QT_TRANSLATE_NOOP(
        "Errors", "Your log-in to this server is over: log in again under File › Servers…."),
    "login_refused": QT_TRANSLATE_NOOP("Errors", "The log-in was refused in the browser."),
    "login_revoked": QT_TRANSLATE_NOOP("Errors", "Your account on this server was revoked. Ask your administrator."),
    "login_too_late": QT_TRANSLATE_NOOP("Errors", "The code was not entered in time. Begin again."),
    "login_used": QT_TRANSLATE_NOOP(
        "Errors", "This log-in was used already. If that was not you, tell your administrator."),
    "missing_scope": QT_TRANSLATE_NOOP("Errors", "Your token does not allow this."),
    "network_disk": QT_TRANSLATE_NOOP(
        "Errors", "The data folder lies on a network disk, where a log cannot be kept safely."),
    "no_action": QT_TRANSLATE_NOOP("Errors", "Step {step} has no action {action}."),
    "no_answer": QT_TRANSLATE_NOOP("Errors", "The server did not answer in time."),
    "no_attention": QT_TRANSLATE_NOOP("Errors", "Nothing needs attention here any more."),
    "no_blob": QT_TRANSLATE_NOOP("Errors", "A text of this session is not there."),
    "no_command": QT_TRANSLATE_NOOP("Errors", "This command is not among those that were sent from here."),
    "no_docker": QT_TRANSLATE_NOOP("Errors", "There is no Docker engine that can be used."),
    "no_guidance": QT_TRANSLATE_NOOP("Errors", "The server does not know this guidance."),
    "no_invitations": QT_TRANSLATE_NOOP("Errors", "{server} knows no invitations: its program is older, or another."),
    "no_run": QT_TRANSLATE_NOOP("Errors", "“{folder}” is not the folder of a learning run."),
    "bad_sheets": QT_TRANSLATE_NOOP("Errors", "The groups in “{path}” cannot be shown."),
    "run_not_read": QT_TRANSLATE_NOOP("Errors", "The learning run cannot be read: {why}"),
    "no_runner": QT_TRANSLATE_NOOP("Errors", "No agent is running now, so nothing can be interrupted."),
    "no_server": QT_TRANSLATE_NOOP("Errors", "The link leads to {address}, which is not among your servers."),
    "no_session": QT_TRANSLATE_NOOP("Errors", "The server does not know this session."),
    "no_submission": QT_TRANSLATE_NOOP("Errors", "The session handed nothing in under that number."),
    "no_snapshot": QT_TRANSLATE_NOOP("Errors", "The server's computer holds no such snapshot any more."),
    "no_step": QT_TRANSLATE_NOOP("Errors", "This session has no such step."),
    "task_without_model": QT_TRANSLATE_NOOP(
        "Errors", "This task names no model that is to work on it. Choose one under “Model”."),
    "no_task": QT_TRANSLATE_NOOP("Errors", "The server does not know this task."),
    "no_token": QT_TRANSLATE_NOOP("Errors", "A token is needed."),
    "no_welcome": QT_TRANSLATE_NOOP("Errors", "This is no server of Tiphys, or none that can be spoken to."),
    "not_a_file": QT_TRANSLATE_NOOP("Errors", "“{path}” is not a file."),
    "not_whole": QT_TRANSLATE_NOOP("Errors", "Not all of this session is here, and its server does not send it now."),
    "payload_quota": QT_TRANSLATE_NOOP(
        "Errors", "This account has {count} texts on the server that nothing names; they are removed after a day."),
    "plain_text": QT_TRANSLATE_NOOP("Errors", "{url} would carry your token unencrypted. Use wss://"),
    "runner_exists": QT_TRANSLATE_NOOP("Errors", "An agent works on the session now: stop it first."),
    "scope": QT_TRANSLATE_NOOP("Errors", "The server closed the connection to {server}: the token may not do that."),
    "search_failed": QT_TRANSLATE_NOOP("Errors", "The search on the server failed. Its log says more."),
    "search_too_long": QT_TRANSLATE_NOOP(
        "Errors", "The search took too long. Use more words, or search in one session."),
    "server_away": QT_TRANSLATE_NOOP("Errors", "The server cannot be reached."),
    "server_start": QT_TRANSLATE_NOOP("Errors", "The private server did not start. Its log is in {folder}."),
    "server_too_old": QT_TRANSLATE_NOOP("Errors", "The server's program is older and does not know this."),
    "session_deleted": QT_TRANSLATE_NOOP("Errors", "This session was deleted on its server by {account}."),
    "session_exists": QT_TRANSLATE_NOOP("Errors", "There is a session of this name already."),
    "session_grew": QT_TRANSLATE_NOOP(
        "Errors", "Something was added to this session meanwhile. Look again at what would be lost."),
    "bad_action": QT_TRANSLATE_NOOP("Errors", "“{argument}” is missing, or is not what the tool takes."),
    "bad_tools": QT_TRANSLATE_NOOP("Errors", "What there is to call cannot be read: update the older program."),
    "no_takeover": QT_TRANSLATE_NOOP("Errors", "Nobody can act in the place of this agent."),
    "not_taken_over": QT_TRANSLATE_NOOP("Errors", "The agent has this session back, or somebody else has it: take it "
                                                  "over first."),
    "session_over": QT_TRANSLATE_NOOP("Errors", "This session has ended: no agent will read this."),
    "session_running": QT_TRANSLATE_NOOP(
        "Errors", "This session is still at work, or being written. Stop it, or end the import that follows its file; "
                  "then ask again."),
    "snapshot_too_old": QT_TRANSLATE_NOOP(
        "Errors", "The session has come further than its snapshot after step {step}: branch from that step."),
    "step_changed": QT_TRANSLATE_NOOP(
        "Errors", "Step {step} has changed since you judged it. Look at it again: what you chose or "
                  "wrote waits where you did."),
    "store_closed": QT_TRANSLATE_NOOP("Errors", "The data folder is closed already."),
    "store_too_new": QT_TRANSLATE_NOOP("Errors", "This data was written by a newer version of Tiphys."),
    "store_unavailable": QT_TRANSLATE_NOOP("Errors", "The data folder cannot be used now."),
    "store_write_failed": QT_TRANSLATE_NOOP("Errors", "The disk refused to store this. Is it full?"),
    "subprotocol": QT_TRANSLATE_NOOP("Errors", "{server} does not speak the protocol of this program."),
    "task_changed": QT_TRANSLATE_NOOP(
        "Errors", "The folder of the task {task} has changed since you saw what it asks. Open the dialog again."),
    "task_not_allowed": QT_TRANSLATE_NOOP(
        "Errors", "The task {task} asks for what nobody has allowed it on the server's computer."),
    "text_too_long": QT_TRANSLATE_NOOP("Errors", "This text is too long: {limit} characters are the most."),
    "token_expired": QT_TRANSLATE_NOOP(
        "Errors", "Your account on this server has expired. The administrator can prolong it."),
    "token": QT_TRANSLATE_NOOP("Errors", "{server} does not accept your token."),
    "too_many_connections": QT_TRANSLATE_NOOP(
        "Errors", "This account has {most} connections to the server already, which is as many as one may have."),
    "too_many_early": QT_TRANSLATE_NOOP(
        "Errors", "You have given {most} opinions on sessions that are not on the server: it takes no more of them."),
    "too_many_wants": QT_TRANSLATE_NOOP("Errors", "Too many texts are asked for at once."),
    "unknown_certificate": QT_TRANSLATE_NOOP(
        "Errors", "This computer does not know the certificate of {server}. Add its fingerprint to the address: "
                  "…#sha256=…; “tiphys serve” prints it."),
    "packed_otherwise": QT_TRANSLATE_NOOP(
        "Errors", "“{path}” is packed by {packing}, which is not unpacked here. Unpack it, and open what it holds."),
    "archive_too_new": QT_TRANSLATE_NOOP("Errors", "This archive was written by a newer Tiphys (version {version})."),
    "bad_database": QT_TRANSLATE_NOOP("Errors", "“{path}” is cut off, or no database that can be read."),
    "empty_file": QT_TRANSLATE_NOOP("Errors", "“{path}” is empty."),
    "file_incomplete": QT_TRANSLATE_NOOP("Errors", "“{path}” is being written now."),
    "file_unreadable": QT_TRANSLATE_NOOP("Errors", "“{path}” cannot be read."),
    "line_too_long": QT_TRANSLATE_NOOP("Errors", "“{path}” has a line that is too long to be read."),
    "no_sessions": QT_TRANSLATE_NOOP("Errors", "“{path}” holds no session of an agent. {why}"),
    "no_steps": QT_TRANSLATE_NOOP("Errors", "“{path}” holds no step of an agent. {why}"),
    "unknown_format": QT_TRANSLATE_NOOP("Errors", "“{path}” is in no format that is known here."),
    "subagent": QT_TRANSLATE_NOOP(
        "Errors", "A subagent cannot be asked that by itself: ask the session that called it."),
    "version": QT_TRANSLATE_NOOP(
        "Errors", "{server} speaks another version of the protocol. Update the older program."),
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
    params = error.params | {name: remark_words(why) for name, why in error.params.items()
                             if name == "why" and isinstance(why, str)}
    try:
        return translate(_T, known).format(**params).strip()
    except (KeyError, IndexError):
        return error.sentence
