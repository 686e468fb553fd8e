"""A model of a test behind the real endpoint's dialect, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

from core.domain.message import Message
from core.llm.model import Completion, LanguageModel, Request, estimate_tokens
from core.llm.serve_local import ModelEndpoint


class Reader:
    """Answers what it is shown at second place, behind its instructions; `shown` is all of that."""

    name = "reader"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def answer(self) -> str:
        """What it says to what was shown last."""
        raise NotImplementedError

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        self.shown.append(request.messages[1].content)
        now = datetime.now(UTC)
        return Completion(message=Message(role="assistant", content=self.answer()), model=self.name,
                          finish_reason="stop", started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        return


@contextlib.contextmanager
def served(model: LanguageModel) -> Iterator[str]:
    """The URL at which the model answers."""
    ready, held = threading.Event(), {}

    async def serve() -> None:
        endpoint = ModelEndpoint(model)
        held["url"], held["loop"], held["end"] = await endpoint.start(), asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await held["end"].wait()
        await endpoint.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(60)
    try:
        yield held["url"]
    finally:
        held["loop"].call_soon_threadsafe(held["end"].set)
        thread.join(10)
