"""Which scope each operation and each message needs: one table, enumerated by a test."""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.ids import root_session
from core.protocol.messages import (
    Append,
    Command,
    Hello,
    Lease,
    ListTasks,
    Live,
    Reading,
    Search,
    Seen,
    Subscribe,
    Unsubscribe,
    WantBlobs,
    WatchQueues,
    WatchSessions,
    Wire,
)
from core.protocol.operations import (
    Act,
    AddNote,
    BranchSession,
    CallSubagent,
    ChangeGuidance,
    ChangeQueue,
    ClearAttention,
    ContinueSession,
    Control,
    CreateSession,
    DeleteSession,
    FinishInQueue,
    GiveBack,
    GiveVerdict,
    Guide,
    HandBack,
    ImportSession,
    MakeQueue,
    MergeOpinions,
    Op,
    Rescore,
    RestoreSession,
    SetTag,
    SetThresholds,
    TakeFromQueue,
    TakeOver,
    TellTime,
)

SCOPE_OF_OP: dict[type[Op], str] = {
    CreateSession: "guide",
    ImportSession: "admin",
    MergeOpinions: "admin",
    Rescore: "admin",
    DeleteSession: "admin",
    Guide: "guide",
    ChangeGuidance: "guide",
    Control: "guide",
    TakeOver: "guide",
    Act: "guide",
    HandBack: "guide",
    ContinueSession: "guide",
    BranchSession: "guide",
    RestoreSession: "guide",
    CallSubagent: "agent",
    ClearAttention: "guide",
    SetThresholds: "guide",
    GiveVerdict: "review",
    AddNote: "review",
    SetTag: "review",
    TellTime: "review",
    MakeQueue: "review",
    ChangeQueue: "review",
    TakeFromQueue: "review",
    GiveBack: "review",
    FinishInQueue: "review",
}
"""What a command's sender must hold. CreateSession with a task of the sender's own making needs admin, and a verdict
in the name of a rule or judge needs PROPOSE instead; `agent` is as below."""

PROPOSE = "propose"

SCOPE_OF_MESSAGE: dict[type[Wire], str] = {
    Hello: "",
    Command: "",
    Seen: "",
    Unsubscribe: "",
    WatchSessions: "view",
    Search: "view",
    WatchQueues: "view",
    Reading: "review",
    ListTasks: "guide",
    Subscribe: "view|agent",
    WantBlobs: "view|agent",
    Lease: "agent|run",
    Append: "agent|run",
    Live: "agent|run",
}
"""What a message's sender must hold; `agent` is `agent:<the session>`, for a subagent's session that of the session
whose runner writes it, or admin; `run` holds for sessions that wait for a runner from outside, which the server looks
up. A command is judged by its op."""


def scope_of(op: Op, session: str = "") -> str:
    """What the sender of an operation must hold: a person's token does not speak for rules, nor a rule's for people."""
    scope = PROPOSE if isinstance(op, GiveVerdict) and op.author is not None else SCOPE_OF_OP[type(op)]
    return agent_scope(session) if scope == "agent" else scope


def agent_scope(session: str) -> str:
    """What the runner of a session holds."""
    return f"agent:{root_session(session)}"


def may_send(scopes: Iterable[str], message: Wire) -> bool:
    """Whether the holder of `scopes` may send a message (a command's operation aside)."""
    needed = SCOPE_OF_MESSAGE[type(message)]
    return not needed or any(_holds(frozenset(scopes), one, message) for one in needed.split("|"))


def _holds(scopes: frozenset[str], needed: str, message: Wire) -> bool:
    if "admin" in scopes:
        return True
    if needed != "agent":
        return needed in scopes
    session = getattr(message, "session", None)
    if session is None:
        return any(s.startswith("agent:") for s in scopes)
    return agent_scope(session) in scopes
