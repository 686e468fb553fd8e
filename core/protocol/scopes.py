"""Which scope each operation and each message needs: one table, enumerated by a test."""

from collections.abc import Iterable

from core.domain.ids import root_session
from core.protocol import messages, operations

_OPS: dict[str, tuple[type[operations.Op], ...]] = {
    "guide": (operations.CreateSession, operations.Guide, operations.ChangeGuidance, operations.Control,
              operations.TakeOver, operations.Act, operations.HandBack, operations.ContinueSession,
              operations.BranchSession, operations.RestoreSession, operations.ClearAttention,
              operations.SetThresholds),
    "admin": (operations.ImportSession, operations.MergeOpinions, operations.Rescore, operations.DeleteSession),
    "agent": (operations.CallSubagent,),
    "review": (operations.GiveVerdict, operations.AddNote, operations.SetTag, operations.TellTime,
               operations.MakeQueue, operations.ChangeQueue, operations.TakeFromQueue, operations.GiveBack,
               operations.FinishInQueue),
}
SCOPE_OF_OP = {op: scope for scope, ops in _OPS.items() for op in ops}
"""What a command's sender must hold. CreateSession with a task of the sender's own making needs admin, and a verdict
in the name of a rule or judge needs PROPOSE instead; `agent` is as below."""

PROPOSE = "propose"

_MESSAGES: dict[str, tuple[type[messages.Wire], ...]] = {
    "": (messages.Hello, messages.Command, messages.Seen, messages.Unsubscribe),
    "view": (messages.WatchSessions, messages.Search, messages.WatchQueues),
    "review": (messages.Reading,),
    "guide": (messages.ListTasks,),
    "view|agent": (messages.Subscribe, messages.WantBlobs),
    "agent|run": (messages.Lease, messages.Append, messages.Live),
}
SCOPE_OF_MESSAGE = {message: scope for scope, some in _MESSAGES.items() for message in some}
"""What a message's sender must hold; `agent` is `agent:<the session>`, for a subagent's session that of the session
whose runner writes it, or admin; `run` holds for sessions that wait for a runner from outside, which the server looks
up. A command is judged by its op."""


def scope_of(op: operations.Op, session: str = "") -> str:
    """What the sender of an operation must hold: a person's token does not speak for rules, nor a rule's for people."""
    scope = PROPOSE if isinstance(op, operations.GiveVerdict) and op.author is not None else SCOPE_OF_OP[type(op)]
    return agent_scope(session) if scope == "agent" else scope


def agent_scope(session: str) -> str:
    """What the runner of a session holds."""
    return f"agent:{root_session(session)}"


def may_send(scopes: Iterable[str], message: messages.Wire) -> bool:
    """Whether the holder of `scopes` may send a message (a command's operation aside)."""
    needed = SCOPE_OF_MESSAGE[type(message)]
    return not needed or any(_holds(frozenset(scopes), one, message) for one in needed.split("|"))


def _holds(scopes: frozenset[str], needed: str, message: messages.Wire) -> bool:
    if "admin" in scopes:
        return True
    if needed != "agent":
        return needed in scopes
    session = getattr(message, "session", None)
    if session is None:
        return any(s.startswith("agent:") for s in scopes)
    return agent_scope(session) in scopes
