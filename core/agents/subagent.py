"""A subagent of an external agent: a session with a journal and a link of its own, beside its caller's."""

import logging
from collections.abc import Callable

import msgspec

from core.agents.delivery import Inbox, News
from core.agents.journal import Journal
from core.agents.line_session import LineSession
from core.agents.spool import Spool
from core.agents.states import read_progress, save_progress
from core.aio import TaskScope
from core.domain.errors import Conflict
from core.domain.events import SessionState, SessionStateChanged
from core.domain.session import FINAL_STATES
from core.domain.step import Usage
from core.protocol.messages import Command
from core.protocol.operations import CallSubagent

log = logging.getLogger("agent")

SUBAGENTS = "subagents"
"""The folder beside a session's journal with those of its subagents."""

MakeSpool = Callable[[Journal, Inbox, Callable[[News], None], Command], Spool]


class SubagentCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A subagent as its caller's journal knows it. `spent` counts once all of it is sent."""

    session: str
    line: str
    caller: str
    step: int
    title: str
    asked: str
    command: str
    is_sent: bool = False
    spent: Usage = Usage()

    @property
    def op(self) -> CallSubagent:
        """What makes its session."""
        return CallSubagent(caller=self.caller, step=self.step, title=self.title, description=self.asked)

    @property
    def message(self) -> Command:
        """What asks the server for its session, the same whenever it is asked again."""
        return Command(id=self.command, cseq=1, session=self.session, op=self.op)


class SubagentSession:
    """One subagent at work, or one that is over and not all sent yet."""

    def __init__(self, call: SubagentCall, own: LineSession, spool: Callable[[], Spool]) -> None:
        """`spool` makes the link; it is asked once there is anything to send."""
        self.call, self.own = call, own
        self._make_spool = spool
        self._spool: Spool | None = None
        self._scope = TaskScope(call.line)
        if own.journal.head:
            self._link()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return read_progress(self.own.journal).state in FINAL_STATES

    @property
    def spent(self) -> Usage:
        """What it used by now, as one sum."""
        progress = self.own.steps.counted
        return Usage(input_tokens=progress.tokens, output_tokens=0, cost_usd=progress.cost_usd)

    def has_handed_in(self, tool: str) -> bool:
        """Whether its last answer asks for nothing more: it has no calls, or one of `tool`, which hands a result in."""
        opened = self.own.steps.open
        if opened is None or opened.answer is None:
            return False
        calls = opened.answer.message.tool_calls
        return not calls or any(call.name == tool for call in calls)

    def begun(self) -> None:
        """A request of it is journalled: it is at work, and the server is told."""
        self._enter("running")
        self._link()

    def show_pause(self, is_paused: bool) -> None:
        """A person has its next request held, or goes on."""
        if not is_paused:
            self.own.inbox.done("resume")
        self._enter("paused" if is_paused else "running", "paused_by_person" if is_paused else "")

    def end(self, state: SessionState, reason: str) -> None:
        """It is over; its last answer is a step."""
        if not self.is_over and self.own.journal.head:
            self.own.book.finish(is_end=state == "finished")
            self._enter(state, reason)

    def tell_text(self, text: str) -> None:
        """Show what its model is writing."""
        if self._spool is not None:
            self._spool.tell_live("thought", self.own.journal.clean_text(text))

    async def flushed(self, seconds: float) -> bool:
        """Wait until the server holds all of it; False when the time is over first."""
        return self._spool is None or await self._spool.flushed(seconds)

    async def close(self) -> None:
        """Let go of journal and link."""
        await self._scope.close()
        self.own.journal.close()

    def _enter(self, state: SessionState, reason: str = "") -> None:
        journal = self.own.journal
        progress = read_progress(journal)
        if progress.state == state or progress.state in FINAL_STATES:
            return
        with journal.transaction(f"state {state}"):
            journal.add(SessionStateChanged(state=state, reason=reason))
            save_progress(journal, msgspec.structs.replace(progress, state=state))

    def _link(self) -> None:
        if self._spool is None:
            self._spool = self._make_spool()
            self._scope.spawn(self._linked(self._spool), name="link")
            self._scope.spawn(self._spool.run_live(), name="live")

    async def _linked(self, spool: Spool) -> None:
        try:
            await spool.run()
        except Conflict as error:
            log.error("%s", error.sentence)
