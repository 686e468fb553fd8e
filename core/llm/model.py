"""The one interface to a language model; `core/llm/kinds.py` chooses among its implementations. And to a policy: a
model that answers many sessions at once, and says its answers in its own tokens.

Every implementation is used from asyncio, keeps no memory between calls (so that a restarted runner can
ask the same step again) and reports expected trouble as `EndpointError`, never as a bare library error.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

import msgspec

from core.domain.errors import Unavailable
from core.domain.message import Message, encode_message
from core.domain.sampled import Sampled
from core.domain.step import Usage

Purpose = Literal["act", "summarize"]
_ASCII = bytes(range(128))
OnText = Callable[[str], None]
"""Called with the whole text made so far, for live display; calls may be dropped, newest wins."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as the model is told of it; `parameters` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})


class PastTokens(msgspec.Struct, frozen=True):
    """The tokens of the row so far, up to the end of the answer before; they stand for the first `messages` messages of
    a request, of which that answer is the last."""

    ids: Sequence[int]
    messages: int


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model. `step` is the step it is for; a summary is asked for before its step. `temperature`
    None: as the model's own settings have it. `past`: what need not be tokenized again, and should not. `seed` makes
    what is sampled repeatable, where the model can."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 8192
    step: int = 0
    purpose: Purpose = "act"
    temperature: float | None = None
    past: PastTokens | None = None
    seed: int | None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer: the assistant message, what it used, and which model says it answered (times UTC).

    `sampled` is the answer in the model's own tokens, where it says them; `unsampled` why it does not although it was
    asked to.
    """

    message: Message
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    started_at: datetime
    ended_at: datetime
    sampled: Sampled | None = None
    unsampled: str = ""


class EndpointError(Unavailable):
    """A model gave no usable answer. `retry_after` is in seconds where the endpoint names it.

    Codes: endpoint_unreachable, endpoint_timeout, endpoint_busy (429), endpoint_failed (5xx),
    endpoint_nonsense (a cut or unreadable answer), endpoint_refused (other 4xx), context_too_long.
    """

    def __init__(self, code: str, sentence: str, *, retry_after: float | None = None, **params: object) -> None:
        super().__init__(code, sentence, **params)
        self.retry_after = retry_after


class LanguageModel(Protocol):
    """What answers. `name` is shown to people; a scripted one says "scripted"."""

    name: str

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer to a request; one attempt, the caller retries. Raises EndpointError."""

    def count(self, message: Message) -> tuple[int, bool]:
        """How many of the model's tokens a message takes, and whether that is an estimate: it is one unless a tokenizer
        is at hand."""
        return estimate_tokens(message)

    async def close(self) -> None:
        """Let go of connections and memory, where there are some."""
        return


class Policy(Protocol):
    """What answers roll-outs. `name` is shown to people, and written beside sampled tokens. `version` is the number of
    the update that made its weights; it is read when a batch is answered, so whoever changes the weights changes it
    between two batches."""

    name: str

    @property
    def version(self) -> int:
        """The number of the update that made the weights."""

    async def answer(self, requests: Sequence[Request]) -> list[Completion | EndpointError]:
        """An answer, or why there is none, for each request, in their order."""

    def count(self, message: Message) -> tuple[int, bool]:
        """How many of the policy's tokens a message takes, and whether that is an estimate."""

    async def close(self) -> None:
        """Let go of connections and memory."""


def estimate_tokens(message: Message) -> tuple[int, bool]:
    """An estimate where no tokenizer is at hand: a token per 3.5 bytes of ASCII, per 1.6 bytes otherwise.

    Both ratios lie on the high side for common tokenizers on code, logs and Chinese, so that a context
    is summarised rather early than late.
    """
    data = encode_message(message)
    wide = len(data.translate(None, _ASCII))
    return int((len(data) - wide) / 3.5 + wide / 1.6) + 4, True
