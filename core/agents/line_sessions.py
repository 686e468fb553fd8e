"""Whose session a request of an external agent belongs to: the main line's, or a subagent's, which is one of its own.

Each line has a book, a journal and a log: what a subagent was asked and did is read, steered and judged as any other
session, below the step that called it. A death between two journals leaves what the next request takes up.
"""

from collections.abc import Callable

import msgspec

from core.agents.exchanges import Sending
from core.agents.line_session import LineSession
from core.agents.progress import AgentProgress, with_usage
from core.agents.subagent import SubagentCall, SubagentSession
from core.domain.events import SessionState
from core.domain.ids import new_id, subagent_id
from core.gateway.lines import AgentLine, AgentLines, LinePlacement
from core.gateway.recipe import Recipe
from core.gateway.request import AgentRequest

TITLE = 120
"""Characters of what a subagent was asked that serve as its title."""
ASKED = 32_000


class LineSessions:
    """All lines of one external agent."""

    def __init__(self, main: LineSession, begin: Callable[[SubagentCall], SubagentSession], recipe: Recipe, *,
                 has_samples: bool = False) -> None:
        """`begin` opens a subagent's session, that of a call before too. `has_samples`: what begins anew is no
        subagent of the main line, but a sample beside it."""
        self.main, self._begin, self._recipe = main, begin, recipe
        self._calls = {c.session: c for c in main.journal.slot("subagents", tuple[SubagentCall, ...]) or ()}
        self._subagents = {call.line: begin(call) for call in self._calls.values() if not call.is_sent}
        books = [main.book, *(one.own.book for one in self._subagents.values())]
        self._has_samples = has_samples
        self.lines = AgentLines([book.line for book in books if book.line is not None], has_samples=has_samples)

    @property
    def counted(self) -> AgentProgress:
        """The counters of the main line, with what all subagents used."""
        live = [one.spent for one in self._subagents.values()]
        done = [call.spent for call in self._calls.values() if call.is_sent]
        progress = self.main.steps.counted
        for spent in (*live, *done):
            progress = with_usage(progress, spent)
        return progress

    def find(self, request: AgentRequest) -> SubagentSession | None:
        """The subagent that a request belongs to as it is now; None: the main line, or one that is not known yet."""
        return self._subagents.get(self.lines.place(request.asked).line.name)

    def counting(self, request: AgentRequest) -> bytes:
        """The body of a request that only counts tokens, with the guidance that would stand in it."""
        subagent = self.find(request)
        return (subagent.own if subagent else self.main).book.counted(request)

    def arrive(self, request: AgentRequest, held_s: float = 0.0) -> tuple[SubagentSession | None, Sending]:
        """Where a request belongs and what is put into it: see `ExchangeBook.arrive`."""
        placement = self.lines.place(request.asked)
        subagent = self._subagents.get(placement.line.name)
        if placement.line.kind == "subagent" and (subagent is None or subagent.is_over):
            placement, subagent = self._call(placement, request)
        if placement.line.kind == "main" and placement.relation != "retry" and not self._has_samples:
            self._end_resting()
        book = (subagent.own if subagent else self.main).book
        sending = book.arrive(request, placement, held_s)
        self.lines.advance(placement, request.asked)
        return subagent, sending

    def _call(self, placement: LinePlacement, request: AgentRequest) -> tuple[LinePlacement, SubagentSession]:
        """A subagent that is new, or goes on after its end: a session of its own, made when its journal holds anything.
        """
        self.lines.forget(placement.line)
        number = len(self._calls) + 1
        caller, step = self._caller()
        asked = _words(request)
        call = SubagentCall(session=subagent_id(self.main.journal.session, number), line=f"subagent-{number}",
                            caller=caller, step=step, title=" ".join(asked.split())[:TITLE], asked=asked[:ASKED],
                            command=new_id())
        self._calls[call.session] = call
        self._write()
        self._subagents[call.line] = subagent = self._begin(call)
        return LinePlacement(AgentLine(name=call.line, kind="subagent"), "new"), subagent

    def _caller(self) -> tuple[str, int]:
        """Which step calls now: the newest answer that calls for a subagent, else the main line's last one."""
        able = [(one.call.session, one.own.steps) for one in self._subagents.values() if not one.is_over]
        made = [(steps.calling.at, session, steps.calling.step) for session, steps in
                ((self.main.journal.session, self.main.steps), *able) if steps.calling is not None]
        if made:
            _, session, step = max(made)
            return session, step
        opened = self.main.steps.open
        return self.main.journal.session, opened.number if opened else self.main.steps.counted.steps

    # ---- ends

    def _end_resting(self) -> None:
        """The main line goes on: whichever subagent has handed in is over."""
        for one in self._subagents.values():
            if not one.is_over and one.has_handed_in(self._recipe.hand_in):
                one.end("finished", "finished")

    def end_all(self, state: SessionState, reason: str) -> None:
        """The agent's program is gone, and its subagents with it."""
        for one in self._subagents.values():
            one.end(state, reason)

    async def sent(self, seconds: float) -> None:
        """Wait until the server holds what the subagents that are over did; they are opened no more."""
        for one in self._subagents.values():
            if one.is_over and await one.flushed(seconds):
                self._calls[one.call.session] = msgspec.structs.replace(one.call, is_sent=True, spent=one.spent)
        self._write()

    async def close(self) -> None:
        """Let go of the subagents' journals and links."""
        for one in self._subagents.values():
            await one.close()

    def _write(self) -> None:
        self.main.journal.put_slot("subagents", [*self._calls.values()])


def _words(request: AgentRequest) -> str:
    """What a subagent is asked: the last thing that its first request says to it."""
    for item in reversed(request.items):
        for message in reversed(request.dialect.messages(msgspec.json.decode(item))):
            if message.role == "user" and message.content.strip():
                return message.content
    return ""
