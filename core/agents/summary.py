"""Keeping the context below η·L: the model writes a summary of the older half (APOLLO §3.1.3, algorithm 1).

The request is appended to the running context, so that it shares its whole prefix with the step before it.
Where the model will not write one, a mechanical list stands in: a long context never ends a run.
"""

import re
from collections.abc import Sequence

import msgspec

from core.agents import prompts
from core.agents.asking import Asker
from core.agents.context import (
    Cut,
    WorkingLine,
    after_cut,
    choose_cut,
    count_tokens,
    is_summary,
    mechanical_summary,
    summary_message,
)
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.progress import with_usage
from core.agents.steps import StepJournal
from core.domain.bounds import event_text
from core.domain.context import ContextDelta, MessageRef, delta_between
from core.domain.events import StepAdded, SummaryAdded
from core.domain.ids import new_id
from core.domain.message import Message
from core.domain.task import AgentSettings
from core.llm.model import Completion, Request, ToolSpec

ATTEMPTS = 3
_ADVICE_CHARS = 8000
_OBSERVATION_CHARS = 12_000
_SNAPSHOT = re.compile(r"<state_snapshot>\s*(.*?)\s*(?:</state_snapshot>|\Z)", re.DOTALL)


def read_summary(completion: Completion) -> str:
    """The text of an answer to a summary request; "" where it is malformed (a call instead of a summary)."""
    text = completion.message.content.strip()
    found = _SNAPSHOT.search(text)
    if found:
        return found[1].strip()
    return "" if completion.message.tool_calls else text


class Summarizer:
    """Makes room in the working context before a step begins."""

    def __init__(self, journal: Journal, inbox: Inbox, steps: StepJournal, asker: Asker, settings: AgentSettings,
                 tools: Sequence[ToolSpec]) -> None:
        self._journal, self._inbox, self._steps, self._asker = journal, inbox, steps, asker
        self._limit = settings.context_tokens
        self._max_tokens = settings.model.max_output_tokens
        self._tools = tuple(tools)

    async def make_room(self) -> bool:
        """Summarise the older half if the context has outgrown η·L; whether it was done. Raises Halted."""
        if self._steps.size(self._steps.working) <= self._limit:
            return False
        return await self.summarise()

    async def summarise(self, *, ask: bool = True, everything: bool = False) -> bool:
        """Summarise the older half, or all, in any case; False where nothing can be replaced. Raises Halted."""
        lines = self._steps.working
        cut = choose_cut(lines, everything=everything)
        if cut is None:
            return False
        asked: tuple[WorkingLine, ...] = ()
        text, completion = "", None
        if ask:
            request = Message(role="user", content=prompts.summary_request(cut.first, cut.last))
            asked = (*lines, self._steps.line(request, "note", 0))
            text, completion = await self._write(asked)
        self._keep(lines, asked, cut, text, completion)
        return True

    async def _write(self, asked: tuple[WorkingLine, ...]) -> tuple[str, Completion | None]:
        request = Request(messages=self._steps.messages(asked), tools=self._tools, max_tokens=self._max_tokens,
                          step=self._steps.progress.steps + 1, purpose="summarize", past=self._steps.past(asked))
        for _ in range(ATTEMPTS):
            completion = await self._asker.try_some(request, ATTEMPTS)
            if completion is None:
                break
            text = read_summary(completion)
            if text:
                return text, completion
            self._pay(completion)
        return "", None

    def _keep(self, lines: tuple[WorkingLine, ...], asked: tuple[WorkingLine, ...], cut: Cut, text: str,
              completion: Completion | None) -> None:
        summary = new_id()
        with self._journal.transaction("summary"):
            text = text or mechanical_summary(self._titles(cut))
            before = self._journal.slot("context", tuple[MessageRef, ...]) or ()
            answer = self._steps.line(completion.message, f"summary:{summary}", 0).ref if completion else None
            delta = delta_between(before, [line.ref for line in asked]) if completion else ContextDelta()
            sampled = self._steps.hold_tokens(completion, asked, answer) if completion and answer else ""
            self._journal.add(SummaryAdded(id=summary, first=cut.first, last=cut.last, text=event_text(text),
                                           context=delta, completion=answer, sampled=sampled))
            message = summary_message(cut.first, cut.last, text, self._last_observations(lines, cut), self._advice(cut))
            line = self._steps.line(message, f"summary:{summary}", cut.last)
            self._journal.put_slot("working", after_cut(lines, cut, line.ref))
            if completion:
                self._pay(completion)

    def _pay(self, completion: Completion) -> None:
        self._steps.save(with_usage(self._steps.progress, completion.usage))

    def _last_observations(self, lines: Sequence[WorkingLine], cut: Cut) -> list[str]:
        """oₖ as text."""
        found = [line for line in lines if line.turn == cut.last and line.ref.role in ("tool", "user")
                 and line.ref.source == f"step:{cut.last}" and not is_summary(line)]
        return [self._journal.message(line.ref).content[:_OBSERVATION_CHARS] for line in found]

    def _advice(self, cut: Cut) -> list[str]:
        """The newest advice of the replaced steps, word for word, within bounds; older first."""
        texts: list[str] = []
        room = _ADVICE_CHARS
        for held in reversed(self._inbox.delivered(cut.last)):
            text = prompts.guidance_text(held.text)
            room -= len(text)
            if room < 0:
                break
            texts.insert(0, text)
        return texts

    def _titles(self, cut: Cut) -> list[tuple[int, str, bool]]:
        heads = [f.head for f in self._journal.facts() if isinstance(f, StepAdded)]
        return [(h.number, h.title, h.is_error) for h in heads if h.number <= cut.last][-200:]

    async def shrink(self) -> bool:
        """Make the working context shorter without asking the model, by the mildest way left; False when none is."""
        return (await self.summarise(ask=False) or self._shorten() or await self.summarise(ask=False, everything=True))

    def _shorten(self) -> bool:
        """Cut the longest message that is not the agent's own down."""
        lines = self._steps.working
        longest = max((line for line in lines if line.turn and line.ref.role != "assistant"),
                      key=lambda line: line.ref.tokens, default=None)
        if longest is None or count_tokens([longest]) < 200:
            return False
        message = self._journal.message(longest.ref)
        keep = len(message.content) // 4
        content = f"{message.content[:keep]}\n[… cut: the context was too long …]\n{message.content[-keep:]}"
        with self._journal.transaction("shorten"):
            line = self._steps.line(msgspec.structs.replace(message, content=content), longest.ref.source, longest.turn)
            self._journal.put_slot("working", [line if one == longest else one for one in lines])
        return True
