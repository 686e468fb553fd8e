"""Carrying a command out: its effect, its events and its stored answer in one transaction."""

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from core.domain import events as e
from core.domain.bounds import INT32
from core.domain.errors import Conflict, InvalidInput, NotFound, ReportableError, error_kind
from core.domain.ids import is_id, is_label
from core.domain.verdict import Author
from core.protocol import operations
from core.protocol.codec import UnreadableOp, bad_op, check_event
from core.protocol.messages import Ack, Command, Nak
from core.protocol.scopes import SCOPE_OF_OP, scope_of
from core.server import (
    branching,
    called,
    continuation,
    deletion,
    guidance,
    lifecycle,
    opinions,
    queues,
    takeover,
)
from core.server.guidance import MAX_REASON, check_length
from core.server.lookups import Lookups
from core.server.record import person, require_live, write
from core.store import commands, early_opinions, log
from core.store.accounts import Principal
from core.store.attribution import attribute
from core.store.sqlite import Connection, driver

_log = logging.getLogger("wire")
MAX_TIMED, MAX_TIMED_S = 1_000, 86_400.0
"""So many steps in one telling of time, and so many seconds for each."""
LAST_STEP = INT32
"""The newest step of which may be spoken before it is here."""
_OnStep = operations.GiveVerdict | operations.AddNote | operations.SetTag
_Opinion = _OnStep | operations.TellTime
_Spoken = _Opinion | operations.Guide | operations.SetThresholds
_REPLY: msgspec.json.Decoder[Ack | Nak] = msgspec.json.Decoder(Ack | Nak)


def answer_command(conn: Connection, client: str, principal: Principal, command: Command, lookups: Lookups
                   ) -> Ack | Nak:
    """The answer to a command, stored with its effect; a repeat gets the stored one.

    Raises Conflict (cseq_gap, cseq_taken) for a command that is not the client's next; then nothing is stored.
    """
    body = msgspec.json.encode([command.session, command.op])
    try:
        stored = commands.known(conn, client, command.id, command.cseq, body)
    except Conflict as error:
        if error.code != "command_reused":
            raise
        return _nak(command, error)
    if stored is not None:
        return msgspec.structs.replace(_REPLY.decode(stored), cseq=command.cseq)
    reply = _attempt(conn, principal, command, lookups)
    commands.remember(conn, client, command.id, command.cseq, body, msgspec.json.encode(reply))
    return reply


def apply_command(conn: Connection, principal: Principal, command: Command, lookups: Lookups) -> dict[str, Any]:
    """The effect of a command and its result; the caller's transaction holds both. Raises ReportableError."""
    if isinstance(command.op, UnreadableOp):
        raise bad_op(command.op.why)
    scope = scope_of(command.op, command.session)
    principal.require("admin" if scope.startswith("agent:") and principal.allows("admin") else scope)
    session = command.session
    deletion.refuse_late(conn, command)
    if command.again and isinstance(command.op, _Spoken) and not lifecycle.is_here(conn, session):
        if not principal.allows(SCOPE_OF_OP[operations.CreateSession]):
            return _hold_early(conn, principal, command)
        lifecycle.await_session(conn, session)
    before = log.head(conn, session)
    result = _apply(conn, principal, command, lookups)
    attribute(conn, session, before + 1, log.head(conn, session), principal.name)
    if command.again or isinstance(
            command.op, operations.CreateSession | operations.BranchSession | operations.ImportSession):
        lifecycle.take_early(conn, session)
    return result


def _hold_early(conn: Connection, principal: Principal, command: Command) -> dict[str, Any]:
    """Who may not make sessions makes none by speaking of one: what they said waits until it is here."""
    if not isinstance(command.op, _Opinion):
        raise NotFound("no_session", f"There is no session {command.session}.", session=command.session)
    fact, author = _opinion(command.op, principal, command.session, LAST_STEP)
    body = check_event(e.encode_event(e.make_event(fact, author)))
    early_opinions.hold(conn, command.session, principal.name, body)
    return {"seq": 0}


def _apply(conn: Connection, principal: Principal, command: Command, lookups: Lookups) -> dict[str, Any]:
    session = command.session
    if isinstance(command.op, (operations.GiveVerdict, operations.AddNote, operations.SetTag)):
        _check_judged(conn, session, command.op, command.again)
    match command.op:
        case operations.CreateSession() as op:
            return lifecycle.create(conn, principal, session, op, lookups)
        case operations.ImportSession() as op:
            return lifecycle.open_import(conn, session, op)
        case operations.Control() as op:
            return lifecycle.control(conn, principal, session, op, lookups, command.id)
        case operations.TakeOver() | operations.Act() | operations.HandBack() as op:
            return takeover.take(conn, principal, session, op, command.id)
        case operations.ContinueSession() as op:
            return continuation.continue_session(conn, principal, session, op, command.id)
        case operations.CallSubagent() as op:
            return called.call_subagent(conn, session, op)
        case operations.BranchSession() as op:
            return branching.branch(conn, principal, session, op, lookups)
        case operations.RestoreSession() as op:
            return continuation.restore(conn, session, op, lookups)
        case operations.MergeOpinions() as op:
            return opinions.merge(conn, session, op)
        case operations.Rescore() as op:
            _check_handed_in(conn, session, op.score.ordinal)
            return write(conn, session, op.score, person(principal))
        case operations.DeleteSession() as op:
            return deletion.delete(conn, principal.name, command, op, lookups)
        case operations.Guide() as op:
            return guidance.guide(conn, principal, session, op)
        case operations.ChangeGuidance() as op:
            return guidance.change(conn, principal, session, op, command.id)
        case operations.QueueOp() as op:
            return queues.apply(conn, principal, command, op, lookups)
        case op:
            return _review(conn, principal, session, op, LAST_STEP if command.again else None)


def _attempt(conn: Connection, principal: Principal, command: Command, lookups: Lookups) -> Ack | Nak:
    """What fails leaves no trace but its answer."""
    conn.execute("SAVEPOINT command")
    try:
        result = apply_command(conn, principal, command, lookups)
        reply: Ack | Nak = Ack(id=command.id, cseq=command.cseq, result=result)
    except ReportableError as error:
        conn.execute("ROLLBACK TO command")
        reply = _nak(command, error)
    except driver.Error:
        raise  # the disk, not the command: it is neither done nor refused, and the client will ask again
    except Exception as error:  # noqa: BLE001 - a defect of ours must not block the commands behind this one
        conn.execute("ROLLBACK TO command")
        _log.exception("Command %s failed: %r", command.id, error)
        reply = Nak(id=command.id, cseq=command.cseq, kind="ReportableError", code="internal",
                    sentence="The server could not carry this out because of a defect; its log says more.")
    conn.execute("RELEASE command")
    return reply


def _review(conn: Connection, principal: Principal, session: str,
            op: _Opinion | operations.ClearAttention | operations.SetThresholds, last: int | None) -> dict[str, Any]:
    """`last` is the newest step of which may be spoken, None: that which is here."""
    row = log.row(conn, session)
    author = person(principal)
    match op:
        case operations.ClearAttention():
            if op.kind not in row.attention:
                raise Conflict("no_attention", f"Session {session} does not ask for attention: {op.kind}.")
            return write(conn, session, e.AttentionCleared(kind=op.kind), author)
        case operations.SetThresholds():
            require_live(row)
            op.thresholds.check()
            return write(conn, session, e.ThresholdsSet(thresholds=op.thresholds), author)
        case _:
            return write(conn, session, *_opinion(op, principal, session, row.steps if last is None else last))


def _opinion(op: _Opinion, principal: Principal, session: str, last: int) -> tuple[e.Fact, Author]:
    """What is said of steps up to `last`, and by whom. Raises NotFound, InvalidInput."""
    author = person(principal)
    match op:
        case operations.GiveVerdict():
            _check_step(session, op.step, 1, last)
            check_length(op.reason, MAX_REASON)
            fact = e.VerdictGiven(step=op.step, value=op.value, reason=op.reason, action=op.action)
            return fact, _judge(op.author) or author
        case operations.AddNote():
            _check_step(session, op.step, 0, last)
            guidance.check_text(op.text)
            return e.NoteAdded(step=op.step, text=op.text, anchor=op.anchor), author
        case operations.SetTag():
            _check_step(session, op.step, 0, last)
            _check_tag(op.tag)
            return e.TagSet(step=op.step, tag=op.tag, on=op.on), author
        case operations.TellTime():
            _check_time(session, op.seconds, last)
            return e.TimeSpent(seconds=op.seconds), author


def _judge(author: Author | None) -> Author | None:
    if author is not None and (author.kind not in ("rule", "judge") or not is_label(author.name)):
        raise InvalidInput("bad_author", f"A verdict cannot be given as {author.kind} {author.name[:80]!r}.")
    if author is not None and author.version and not is_label(author.version):
        raise InvalidInput("bad_author", f"{author.version[:80]!r} cannot be the version of {author.kind} "
                           f"{author.name}.")
    return author


def _check_time(session: str, seconds: dict[int, float], last: int) -> None:
    if not seconds or len(seconds) > MAX_TIMED or not all(0 < s <= MAX_TIMED_S for s in seconds.values()):
        raise InvalidInput("bad_time", f"Time is told for 1–{MAX_TIMED} steps, at most {MAX_TIMED_S:g} s for each.")
    for step in seconds:
        _check_step(session, step, 1, last)


def _check_step(session: str, step: int, first: int, last: int) -> None:
    if not first <= step <= last:
        raise NotFound("no_step", f"Session {session} has no step {step}.", step=step)


def _check_handed_in(conn: Connection, session: str, ordinal: int) -> None:
    if ordinal not in log.submissions(conn, session):
        raise NotFound("no_submission", f"Session {session} has no submission {ordinal}.", ordinal=ordinal)


def _check_judged(conn: Connection, session: str, op: _OnStep, again: bool) -> None:
    """An opinion is on what the person saw. A step that is still to come again is asked for nothing: a verdict on an
    action that it lacks has no effect, and words on a text that it has no more are void."""
    action = op.action if isinstance(op, operations.GiveVerdict) and op.author is None else 0
    if not op.step or not (op.content or action):
        return
    tellings = log.tellings(conn, session, op.step)
    if op.content and _says_else(tellings, op.content, again):
        raise Conflict("step_changed", f"Step {op.step} of session {session} has changed since it was judged: look at "
                       "it again.", step=op.step)
    if tellings and action > len(tellings[-1].head.tools):
        raise NotFound("no_action", f"Step {op.step} of session {session} has no action {action}.", step=op.step,
                       action=action)


def _says_else(tellings: Sequence[e.StepAdded], content: str, again: bool) -> bool:
    """Whether the agent's words are others than in the telling with that body; what came back may have grown. One that
    a restored log lacks may come again."""
    after = [t.is_rewritten for t in tellings]
    held = [place for place, t in enumerate(tellings, 1) if t.body == content]
    return any(after[held[-1]:]) if held else bool(tellings) and not again


def _check_tag(tag: str) -> None:
    if not is_id(tag) and not (0 < len(tag) <= 40 and tag.isprintable()):
        raise InvalidInput("bad_tag", "A tag has 1 to 40 printable characters.")


def _nak(command: Command, error: ReportableError) -> Nak:
    return Nak(id=command.id, cseq=command.cseq, kind=error_kind(error), code=error.code, sentence=error.sentence,
               params=_plain(error.params))


def _plain(params: dict[str, object]) -> dict[str, Any]:
    return {k: v for k, v in params.items() if isinstance(v, (str, int, float, bool, list, type(None)))}
