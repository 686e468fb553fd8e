"""One line of an external agent's conversation, with all that its session's journal needs; and that conversation as it
is told to an agent whose own record of it is lost."""

from collections.abc import Callable, Iterable, Mapping, Sequence

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

MOST, MOST_EACH = 60_000, 4_000
"""Characters of all of it, of which the newest are told, and of one thing that was said or came back."""

_CUT_OFF = ("You worked on this before and were cut off, and you have no record of it. What you did is done, and was "
            "seen from outside:")
_GO_ON = "Go on from there."
_LEFT_OUT = "[what came before is left out]"


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

    def retold(self) -> str:
        """The conversation of now: the last request's messages, then the answer to it."""
        opened = self.steps.open
        context = self.steps.last_context if opened is None else opened.context
        reply = (opened.reply,) if opened is not None and opened.reply is not None else ()
        return retold(map(self.journal.message, (*context, *reply)))


def retold(messages: Iterable[Message]) -> str:
    """The words that follow the task: what an agent said and did and what came back, in order; "" where it did nothing
    yet. Of `messages` only those count that it wrote itself, or that answer a call."""
    parts = [text for message in messages if (text := _words(message))]
    room, first = MOST, len(parts)
    while first and len(parts[first - 1]) <= room:
        first -= 1
        room -= len(parts[first])
    return "\n\n".join(["", _CUT_OFF, *([_LEFT_OUT] if first else []), *parts[first:], _GO_ON]) if parts else ""


def _words(message: Message) -> str:
    if message.role == "assistant":
        calls = [f"You called {call.name} with {_short(call.arguments)}" for call in message.tool_calls]
        return "\n".join([*([f"You said: {_short(message.content)}"] if message.content.strip() else []), *calls])
    return f"What came back: {_short(message.content)}" if message.role == "tool" else ""


def _short(text: str) -> str:
    return text if len(text) <= MOST_EACH else f"{text[: MOST_EACH // 2]}\n[…]\n{text[-MOST_EACH // 2 :]}"
