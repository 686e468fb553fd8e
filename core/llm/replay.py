"""A model that gives a session's recorded answers again: the same at the same step, from the log it was kept in.

The log is a server's database, a desktop's replica or a runner's journal; `settings.script` names it as
`FILE` (a journal) or `FILE#SESSION`.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from core.domain.context import MessageRef
from core.domain.errors import InvalidInput, NotFound
from core.domain.events import StepAdded, SummaryAdded, decode_event
from core.domain.message import Message, decode_message
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.model import Completion, EndpointError, LanguageModel, OnText, Request
from core.store import blobs
from core.store.sqlite import Connection, connect, scalar


class ReplayModel(LanguageModel):
    """Answers from a record. After its last step it has no answer, and says so for ever."""

    def __init__(self, steps: dict[int, tuple[Message, Usage]], summaries: dict[int, Message], name: str) -> None:
        """`steps` by number; `summaries` by the step that followed them."""
        self._steps, self._summaries = steps, summaries
        self.name = f"replay of {name}"

    @classmethod
    def open(cls, settings: ModelSettings) -> ReplayModel:
        """The record that the settings name. Raises InvalidInput, NotFound."""
        path, _, session = settings.script.partition("#")
        with closing(connect(Path(path), readonly=True)) as conn:
            return cls(*_read(conn, session), settings.name or "recorded")

    @classmethod
    def of_log(cls, path: Path, session: str) -> ReplayModel:
        """The answers of a session in a log. Raises InvalidInput, NotFound."""
        return cls.open(ModelSettings(kind="replay", script=f"{path}#{session}"))

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The recorded answer. Raises EndpointError where there is none."""
        await asyncio.sleep(0)
        started = datetime.now(UTC)
        message, usage = self._recorded(request)
        if on_text is not None:
            on_text(message.content)
        return Completion(message=message, usage=usage, model=self.name, finish_reason="stop", started_at=started,
                          ended_at=datetime.now(UTC))

    def _recorded(self, request: Request) -> tuple[Message, Usage]:
        if request.purpose == "summarize" and request.step in self._summaries:
            return self._summaries[request.step], Usage()
        if request.purpose == "act" and request.step in self._steps:
            return self._steps[request.step]
        raise EndpointError("endpoint_refused", f"The record holds no answer for step {request.step}.")


def _read(conn: Connection, session: str) -> tuple[dict[int, tuple[Message, Usage]], dict[int, Message]]:
    steps: dict[int, tuple[Message, Usage]] = {}
    summaries: dict[int, Message] = {}
    last = 0
    for body in _bodies(conn, session):
        match decode_event(body).fact:
            case StepAdded(completion=MessageRef() as ref, head=head):
                steps[head.number] = (_message(conn, ref), head.usage)
                last = head.number
            case SummaryAdded(completion=MessageRef() as ref):
                summaries[last + 1] = _message(conn, ref)
    if not steps:
        raise InvalidInput("empty_record", "The record holds no answers of a model.")
    return steps, summaries


def _bodies(conn: Connection, session: str) -> list[bytes]:
    if session:
        rows = conn.execute("SELECT body FROM event WHERE session = ? ORDER BY seq", (session,))
    else:
        rows = conn.execute("SELECT body FROM entry ORDER BY n")
    return [row[0] for row in rows]


def _message(conn: Connection, ref: MessageRef) -> Message:
    """A journal names blobs by their hexadecimal hash, a log by its bytes."""
    data = scalar(conn, "SELECT data FROM blob WHERE hash IN (?, ?)", ref.hash, bytes.fromhex(ref.hash))
    if data is None:
        raise NotFound("no_blob", f"The record lacks the message {ref.hash[:12]}.", hash=ref.hash)
    return decode_message(blobs.decompress(data))
