"""A session's gateway in this process, with its journal, before an endpoint of a test's."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from core.agents.agent_words import AgentWords
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.line_session import LineSession
from core.agents.line_sessions import LineSessions
from core.agents.seam import Seam
from core.agents.signals import Signals
from core.agents.steps import StepJournal
from core.agents.subagent import SubagentCall, SubagentSession
from core.aio import TaskScope
from core.domain.events import ExchangeMade, encode_event, make_event
from core.domain.task import AgentSettings, ModelSettings, Task
from core.domain.verdict import Author
from core.gateway.inlet import Inlet, Streams
from core.gateway.recipe import Recipe
from core.gateway.request import RequestReader
from core.gateway.upstream import Upstream as Endpoint
from core.llm.model import estimate_tokens

TOKEN = "session-token"
PERSON = Author(kind="person", name="p")


class Bench:
    """A gateway in this process, on a port."""

    def __init__(self, folder: Path, url: str) -> None:
        self.journal = Journal(folder / "journal.db", "s1")
        self.inbox = Inbox(self.journal)
        self.signals = Signals(self.inbox)
        steps = StepJournal(self.journal, self.inbox, Task(id="t", title="T", description="D"), estimate_tokens)
        settings = AgentSettings(model=ModelSettings(kind="endpoint", input_price=1.0, output_price=2.0))
        recipe = Recipe(title="small", dialect="chat")
        main = LineSession(self.journal, self.inbox, steps, settings, recipe, dict)
        words = AgentWords(main, self.inbox, self.signals, host="main", is_attached=False, speaks_acp=False,
                           stays=False, is_over=lambda: False, on_leave=lambda what: None,
                           on_waits=lambda waits: None, on_ended=lambda status: None)
        self.seam = Seam(LineSessions(main, self.call, recipe), self.inbox, self.signals, RequestReader(),
                         Endpoint(url), token=TOKEN, key="real-key", words=words,
                         is_over=lambda: False, on_paused=lambda paused: None, on_text=lambda text: None,
                         on_step=lambda step: None, on_failures=lambda count, sentence: None)
        self.port = 0

    @staticmethod
    def call(call: SubagentCall) -> SubagentSession:
        raise AssertionError(call)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Bench]:
        waiting: asyncio.Queue[Streams] = asyncio.Queue()
        server = await asyncio.start_server(lambda r, w: waiting.put_nowait((r, w)), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with TaskScope("bench") as scope:
            scope.spawn(Inlet(waiting.get, self.seam.handle).run(), name="gateway")
            try:
                yield self
            finally:
                server.close()
        self.seam.close()
        await asyncio.sleep(0)  # what was closed is gone with the loop's next turn
        self.journal.close()

    def take(self, *facts: object) -> None:
        """What the log brings."""
        first = self.inbox.cursor + 1
        self.inbox.take(first, [encode_event(make_event(f, PERSON)) for f in facts])  # type: ignore[arg-type]
        self.signals.ring()

    def exchanges(self) -> list[ExchangeMade]:
        return [f for f in self.journal.facts() if isinstance(f, ExchangeMade)]


def ask(port: int, path: str, body: Any, *, method: str = "POST", headers: dict[str, str] | None = None,
        token: str = TOKEN) -> tuple[int, dict[str, str], bytes]:
    """One request over a socket; blocking."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    raw = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ": ")).encode()
    with closing(connection):
        connection.request(method, path, raw, {"Authorization": f"Bearer {token}", "X-Custom": "a b; c",
                                               "Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
