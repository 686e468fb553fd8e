"""A model of a test behind the real endpoint's dialect, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from core.llm.model import LanguageModel
from core.llm.serve_local import ModelEndpoint


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
    assert ready.wait(10)
    try:
        yield held["url"]
    finally:
        held["loop"].call_soon_threadsafe(held["end"].set)
        thread.join(10)
