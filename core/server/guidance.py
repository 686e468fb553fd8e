"""Guidance as the server sees it: queue it, and edit or withdraw it where nobody else can decide any more."""

from core.domain import events as e
from core.domain.errors import Conflict, InvalidInput, NotFound
from core.domain.ids import is_id
from core.domain.session import FINAL_STATES
from core.protocol.operations import MAX_WORDS, ChangeGuidance, Guide
from core.server.record import SERVER, person, write
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection, scalar

_DECIDED = (e.GuidanceEdited, e.GuidanceWithdrawn, e.GuidanceChangeRefused)

MAX_REASON = 8 * 1024
"""Longest reason of a verdict, in characters."""


def guide(conn: Connection, principal: Principal, session: str, op: Guide) -> dict[str, object]:
    """Queue guidance under the client's id. Raises NotFound, InvalidInput, Conflict.

    In a log that was restored from a backup the runner may have told of the delivery already: then the text follows.
    """
    row = log.row(conn, session)
    check_text(op.text)
    if not is_id(op.guidance):
        raise InvalidInput("bad_id", f"{op.guidance[:80]!r} cannot name guidance.")
    facts = facts_of(conn, session, op.guidance)
    if row.origin != "live" or (row.state == "finished" and not facts):
        raise Conflict("session_over", f"Session {session} is {row.state}: no agent will read this.", state=row.state)
    if any(isinstance(f, e.GuidanceQueued) for f in facts):
        raise Conflict("guidance_exists", f"There is guidance {op.guidance} already.", guidance=op.guidance)
    fact = e.GuidanceQueued(guidance=op.guidance, text=op.text, mode=op.mode)
    return write(conn, session, fact, person(principal))


def change(conn: Connection, principal: Principal, session: str, op: ChangeGuidance, command: str) -> dict[str, object]:
    """Edit or withdraw: refused when it was delivered, decided here when the runner told its end, else asked.

    Raises NotFound, InvalidInput, Conflict (already_delivered with `step`, already_withdrawn).
    """
    row = log.row(conn, session)
    if op.text is not None:
        check_text(op.text)
    facts = facts_of(conn, session, op.guidance)
    if not facts:
        raise NotFound("no_guidance", f"Session {session} has no guidance {op.guidance}.", guidance=op.guidance)
    if any(isinstance(f, _DECIDED) and f.request == command for f in facts):
        return {"seq": log.head(conn, session)}  # a restored log learned the runner's decision before the question
    _check_open(op.guidance, facts)
    if row.state not in FINAL_STATES or _may_know_more(conn, session):
        asked = e.GuidanceChangeAsked(guidance=op.guidance, request=command, text=op.text)
        return write(conn, session, asked, person(principal))
    return write(conn, session, _changed(op.guidance, command, op.text), SERVER)


def decide_open_changes(conn: Connection, session: str) -> None:
    """The runner ended with changes still asked for: nobody but the server decides them now."""
    changes = [e.decode_stored(body).fact for body in log.guidance_changes(conn, session)]
    for asked in [change for change in changes if isinstance(change, e.GuidanceChangeAsked)]:
        facts = facts_of(conn, session, asked.guidance)
        if not any(isinstance(f, _DECIDED) and f.request == asked.request for f in facts):
            write(conn, session, _decision(asked, facts), SERVER)


def _decision(asked: e.GuidanceChangeAsked, facts: list[e.Fact]) -> e.Fact:
    """Refused for a guidance that was delivered or withdrawn, as these facts about it say, else what was asked."""
    step = next((f.step for f in reversed(facts) if isinstance(f, e.GuidanceDelivered)), None)
    if step is not None or any(isinstance(f, e.GuidanceWithdrawn) for f in facts):
        return e.GuidanceChangeRefused(guidance=asked.guidance, request=asked.request, step=step)
    return _changed(asked.guidance, asked.request, asked.text)


def _changed(guidance: str, request: str, text: str | None) -> e.Fact:
    if text is None:
        return e.GuidanceWithdrawn(guidance=guidance, request=request)
    return e.GuidanceEdited(guidance=guidance, text=text, request=request)


def _may_know_more(conn: Connection, session: str) -> bool:
    """Whether a journal may hold deliveries that it could not send: a runner came, and its end was told by others."""
    if scalar(conn, "SELECT fence FROM session WHERE id = ?", session) == 0:
        return False
    return log.last_state(conn, session).author.kind != "agent"


def facts_of(conn: Connection, session: str, guidance: str) -> list[e.Fact]:
    """Everything that the log says about one guidance, in order."""
    return [e.decode_stored(body).fact for body in log.about_guidance(conn, session, guidance)]


def check_text(text: str) -> None:
    """Raise InvalidInput unless a text is worth sending and short enough."""
    if not text.strip():
        raise InvalidInput("empty_text", "There is no text.")
    check_length(text, MAX_WORDS)


def check_length(text: str, limit: int) -> None:
    """Raise InvalidInput for a text of more characters than `limit`."""
    if len(text) > limit:
        raise InvalidInput("text_too_long", f"A text of {len(text)} characters is too long; {limit} are allowed.",
                           limit=limit)


def _check_open(guidance: str, facts: list[e.Fact]) -> None:
    for fact in facts:
        if isinstance(fact, e.GuidanceDelivered):
            raise Conflict("already_delivered", f"Guidance {guidance} was delivered at step {fact.step} already.",
                           guidance=guidance, step=fact.step)
        if isinstance(fact, e.GuidanceWithdrawn):
            raise Conflict("already_withdrawn", f"Guidance {guidance} was withdrawn already.", guidance=guidance)
