"""Sessions as the list shows them: one row, folded from the log, and the states' allowed order."""

from typing import Annotated

import msgspec

from core.domain import bounds
from core.domain import events as e
from core.domain.attention import Thresholds
from core.domain.errors import InvalidInput
from core.domain.events.takeover import DROPS
from core.domain.progress import Progress
from core.domain.step import Usage
from core.domain.task import Budget, Limits, extended

EX_TEMPFAIL = 75
"""Exit status of a runner that cannot work now, by no fault of its session (EX_TEMPFAIL of sysexits.h)."""

CONTINUED = "continued_by_person"
"""The reason of a session's state from where a person had it go on after its end."""

FINAL_STATES: frozenset[str] = frozenset({"finished", "failed", "stopped"})

ALLOWED: dict[str, frozenset[str]] = {
    "queued": frozenset({"running", "paused", "stopped", "failed"}),
    "running": frozenset({"paused", "waiting", "finished", "failed", "stopped"}),
    "paused": frozenset({"running", "stopped", "failed"}),
    "waiting": frozenset({"running", "paused", "stopped", "failed", "finished"}),
    "finished": frozenset(),
    "failed": frozenset({"queued", "running"}),
    "stopped": frozenset({"queued", "running"}),
}

AWAITED = 2**53
"""A session that is `hidden_until` then: others speak of it, and who made it has yet to say so (again)."""


class SessionRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the list of sessions shows. None and "" mean that the log does not say.

    `origin` is the log's, except that an imported archive of a live session is no live session.
    """

    session: bounds.Name
    title: bounds.Title = ""
    task: bounds.Id = ""
    model: bounds.Name = ""
    origin: bounds.Name = "live"
    state: e.SessionState = "queued"
    reason: bounds.Code = ""
    seq: bounds.Sequence = 0
    steps: bounds.StepPlace = 0
    errors: bounds.Count = 0
    reports: bounds.Count = 0
    """Steps that did not fail and tell a person something: `StepHead.is_report`."""
    score: bounds.Points | None = None
    tokens: bounds.Total | None = None
    cost_usd: bounds.TotalCost | None = None
    guidance_waiting: bounds.Balance = 0
    """Below zero only while a restored log knows of a delivery and not yet of the text."""
    attention: Annotated[tuple[bounds.Code, ...], bounds.Few] = ()
    thresholds: Thresholds | None = None
    """From where on it asks for a look; None: as every session does."""
    limits: Limits | None = None
    """When a live session ends by itself; None where the log does not say, as of an import."""
    created_at: bounds.Moment | None = None
    updated_at: bounds.Moment | None = None
    began_at: bounds.Moment | None = None
    ended_at: bounds.Moment | None = None
    """When the agent's first step began and its last one ended, whenever that was logged or read by people."""
    parent: bounds.Id = ""
    parent_step: bounds.StepPlace = 0
    """The session that this one branched from, and after which of its steps."""
    group: bounds.Id = ""
    arm: bounds.Name = ""
    """The question that it answers together with others, and which side of it: see `Branched`."""
    queue_place: bounds.Count = 0
    """How many sessions wait for hosts up to this one; 0 where it waits for none."""
    caller: bounds.Id = ""
    caller_step: bounds.StepPlace = 0
    """The session and its step (0: it is not known) that called this one as a subagent."""
    held_by: bounds.Name = ""
    """The person who has taken over, or asked to: the next actions are theirs."""
    is_outside: bool = False
    """The server starts no runner for it: one of somebody else's making comes."""
    unreadable: bounds.Reason = ""
    """Why the log, or this row, cannot be read from some place on; "" for every log that can."""
    judged: Annotated[dict[bounds.Name, Progress], bounds.Few] = {}
    """How far people judged it: each by the author's key, and all together under ""; the server counts."""
    hidden_until: bounds.Sequence = 0
    """An import of so many events is under way; before they are here, no list shows the session."""

    @property
    def is_hidden(self) -> bool:
        """Whether the session is an import of which a part is still missing."""
        return self.seq < self.hidden_until

    @property
    def is_awaited(self) -> bool:
        """Whether people spoke of a session that nobody has made here, or (after a restore) made again."""
        return self.hidden_until == AWAITED

    @property
    def is_ours(self) -> bool:
        """Whether it was made by itself on a server of ours: neither imported, nor the subagent of another session."""
        return self.origin == "live" and not self.caller

    @property
    def is_rolled_out(self) -> bool:
        """Whether a roll-out runs it in its own process, so that no runner is started."""
        return bool(self.group and not self.parent)

    @property
    def worked_s(self) -> float | None:
        """Seconds from the agent's first step to the end of its last; None where the log has no times, or one only."""
        took = (self.ended_at - self.began_at).total_seconds() if self.began_at and self.ended_at else 0.0
        return took or None

    @property
    def started_at(self) -> bounds.Moment | None:
        """When the agent began, or a live session was made; None where a foreign file has no times: when it was read
        here is not when it ran."""
        return self.began_at or (self.created_at if self.origin == "live" else None)


_ROW = msgspec.json.Decoder(SessionRow)


class _Named(msgspec.Struct):
    session: str
    title: str = ""
    seq: int = 0
    hidden_until: int = 0


def decode_row(data: bytes | str | msgspec.Raw, session: str = "") -> SessionRow:
    """The row of stored bytes, or of the wire; of a row that cannot be read its session and why, as `unreadable`.

    Raises InvalidInput (bad_row) where not even the session can be made out, and none is given.
    """
    try:
        return _ROW.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        try:
            named = msgspec.json.decode(data, type=_Named)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as deeper:
            if session:
                return SessionRow(session=session, unreadable=f"{error}"[:500])
            raise InvalidInput("bad_row", f"A session's row cannot be read: {deeper}") from deeper
        return SessionRow(session=named.session[:200], title=named.title[:200], unreadable=f"{error}"[:500],
                          seq=bounds.clamp(named.seq, bounds.INT64),
                          hidden_until=bounds.clamp(named.hidden_until, bounds.INT64))


def advance(row: SessionRow, seq: int, event: e.Event) -> SessionRow:
    """The row after one more event."""
    changes = {"seq": seq, "updated_at": event.at, **_changes(row, event)}
    return msgspec.structs.replace(row, **changes)


def _changes(row: SessionRow, event: e.Event) -> dict[str, object]:
    match event.fact:
        case e.SessionCreated() as f:
            return {"title": f.task.title, "task": f.task.id, "model": f.agent.model.name,
                    "is_outside": f.agent.kind == "outside",
                    "origin": row.origin if row.origin != "live" else f.origin, "created_at": event.at,
                    "limits": f.task.limits if row.origin == f.origin == "live" else None,
                    **({"group": f.group} if f.group else {})}
        case e.Branched(is_call=True) as f:
            return {"caller": f.parent, "caller_step": f.step}
        case e.Branched() as f if f.group:
            return {"parent": f.parent, "parent_step": f.step, "group": f.group, "arm": f.arm}
        case e.SessionStateChanged() as f:
            held = {"held_by": ""} if f.state in FINAL_STATES else {}
            return {"state": f.state, "reason": f.reason, "queue_place": f.queue_place, **held}
        case e.TakeoverAsked():
            return {"held_by": event.author.name}
        case e.TakenOver() as f:
            return {"held_by": f.person}
        case e.HandedBack(reason=reason) if reason not in DROPS:
            return {"held_by": ""}
        case e.SessionContinued() as f:
            return {"state": "queued", "reason": CONTINUED, "limits": _extended(row, f.more)}
        case e.StepAdded() as f:
            return _step_changes(row, f)
        case e.ExchangeMade(step=0) as f:
            return _used(row, f.usage)
        case e.ScoreGiven() as f if f.total is not None:
            return {"score": f.total}
        case e.GuidanceQueued():
            return {"guidance_waiting": row.guidance_waiting + 1}
        case e.GuidanceDelivered() | e.GuidanceWithdrawn():
            return {"guidance_waiting": row.guidance_waiting - 1}
        case e.AttentionRaised() as f:
            return {"attention": tuple(dict.fromkeys((*row.attention, f.kind)))}
        case e.ThresholdsSet() as f:
            return {"thresholds": f.thresholds}
        case e.AttentionCleared() as f:
            return {"attention": tuple(k for k in row.attention if k != f.kind)}
    return {}


def _extended(row: SessionRow, more: Budget) -> Limits | None:
    """The limits as the row can know them; the runner, which counts pauses and summaries too, has the last word."""
    if row.limits is None:
        return None
    used = Budget(steps=row.steps, wall_s=row.worked_s or 0.0, tokens=row.tokens or 0, cost_usd=row.cost_usd or 0.0)
    return extended(row.limits, used, more)


def _used(row: SessionRow, usage: Usage, before: Usage = Usage()) -> dict[str, object]:
    """Tokens and money with what one more answer used, where an earlier telling counted `before`."""
    used = [n for n in (usage.input_tokens, usage.output_tokens) if n is not None]
    counted = (before.input_tokens or 0) + (before.output_tokens or 0)
    cost = None if usage.cost_usd is None else usage.cost_usd - (before.cost_usd or 0.0)
    return {"tokens": bounds.clamp((row.tokens or 0) + sum(used) - counted, bounds.WHOLE) if used else row.tokens,
            "cost_usd": max(0.0, (row.cost_usd or 0.0) + cost) if cost is not None else row.cost_usd}


def _step_changes(row: SessionRow, fact: e.StepAdded) -> dict[str, object]:
    times = [at for at in (fact.head.started_at, fact.head.ended_at) if at is not None]
    return {
        "began_at": min([*times[:1], *filter(None, (row.began_at,))], default=None),
        "ended_at": max([*times[-1:], *filter(None, (row.ended_at,))], default=None),
        "steps": max(row.steps, fact.head.number),
        "errors": bounds.clamp(row.errors + (fact.head.is_error and not fact.is_error_counted)),
        "reports": bounds.clamp(row.reports + fact.head.is_report - fact.is_report_counted),
        **_used(row, fact.head.usage, fact.counted),
    }
