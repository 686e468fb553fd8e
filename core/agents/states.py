"""The session's state as the journal holds it, and what entering a state tells the log."""

import asyncio
import logging

import msgspec

from core.agents import attention
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.progress import AgentProgress
from core.domain.events import SessionState, SessionStateChanged
from core.domain.session import FINAL_STATES

log = logging.getLogger("agent")

STALL_CHECK_S = 10.0
"""How often a runner looks whether its step has ended."""


def read_progress(journal: Journal) -> AgentProgress:
    """The counters."""
    return journal.slot("progress", AgentProgress) or AgentProgress()


def save_progress(journal: Journal, progress: AgentProgress) -> None:
    """Keep the counters; inside the transaction of what changed them."""
    journal.put_slot("progress", progress)


def enter(journal: Journal, state: SessionState, reason: str = "", detail: str = "", question: str = "") -> None:
    """Enter a state, unless it stands: the event, the attention that it raises or clears, in one transaction. What a
    person is asked by a `question` is there as a whole."""
    before = read_progress(journal)
    if before.state == state:
        return
    with journal.transaction(f"state {state}"):
        journal.add(SessionStateChanged(state=state, reason=reason, detail=detail if question else detail[:500],
                                        question=question))
        progress = msgspec.structs.replace(before, state=state)
        waits = state == "waiting" or reason == "asks_for_leave"
        progress, facts = attention.mark(progress, "waiting", (detail[:500] or reason or state) if waits else "")
        ended = state in ("finished", "failed")
        progress, more = attention.mark(progress, "finished", (reason or state) if ended else "")
        for fact in (*facts, *more):
            journal.add(fact)
        save_progress(journal, progress)
    log.info("session %s is %s %s", journal.session, state, reason)


async def watch_stall(journal: Journal, inbox: Inbox, every_s: float = STALL_CHECK_S) -> None:
    """Raise a stall when no step has ended for as long as the thresholds say; runs until cancelled."""
    loop = asyncio.get_running_loop()
    last, since = read_progress(journal).steps, loop.time()
    while True:
        await asyncio.sleep(every_s)
        progress = read_progress(journal)
        if progress.steps != last or progress.state != "running" or inbox.takeover is not None:
            last, since = progress.steps, loop.time()
            continue
        raised, facts = attention.stalled(progress, loop.time() - since, inbox.thresholds)
        if facts:
            with journal.transaction("stall"):
                for fact in facts:
                    journal.add(fact)
                save_progress(journal, raised)


def is_over(journal: Journal, inbox: Inbox) -> bool:
    """Whether a final state stands; what the server decided while no runner was there counts."""
    with journal.transaction("take over"):
        from_server = inbox.server_state()
        progress = read_progress(journal)
        state = from_server if from_server is not None and progress.state != "finished" else progress.state
        over = state in FINAL_STATES and (state == "finished" or inbox.wish != "resume") and inbox.continued is None
        ending = progress.ending if over or state not in FINAL_STATES | {"queued"} else ""
        save_progress(journal, msgspec.structs.replace(progress, state=state, ending=ending))
    return over
