"""One line of an external agent's conversation, with all that its session's journal needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from core.agents.delivery import Inbox
from core.agents.exchange_context import ContextWriter
from core.agents.exchange_steps import ExchangeSteps
from core.agents.exchanges import ExchangeBook
from core.agents.journal import Journal
from core.agents.steps import StepJournal
from core.domain.message import Message
from core.domain.task import AgentSettings
from core.formats.tools import table_of
from core.gateway.anchor import GuidancePlace
from core.gateway.lines import MAIN
from core.gateway.recipe import Recipe


class LineSession:
    """One line's journal with the book of its exchanges."""

    def __init__(self, journal: Journal, inbox: Inbox, steps: StepJournal, settings: AgentSettings, recipe: Recipe,
                 terminals: Callable[[], Mapping[str, int]], line: str = MAIN,
                 inherited: Callable[[], Sequence[GuidancePlace]] = tuple) -> None:
        writer = ContextWriter(journal)
        self.journal, self.inbox = journal, inbox
        self.steps = ExchangeSteps(journal, inbox, steps, writer, settings.model, table_of(settings.recipe),
                                   recipe.exit_code)
        self.book = ExchangeBook(journal, inbox, self.steps, writer, terminals, line, inherited)

    def messages(self) -> Iterator[Message]:
        """The conversation of now: the last request's messages, then the answer to it."""
        opened = self.steps.open
        context = self.steps.last_context if opened is None else opened.context
        reply = (opened.reply,) if opened is not None and opened.reply is not None else ()
        return map(self.journal.message, (*context, *reply))
