"""What a gateway has to know of a dialect: where its context lies, what answers what, where one more text may stand."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message, ToolCall
from core.domain.step import Usage
from core.formats.values import int_of, text_of

Purpose = Literal["complete", "count"]
Json = dict[str, Any]


class CallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came back for a call. `failed`: the agent itself says that it is an error. `name` is the called tool's,
    where the dialect tells it beside the id, which the agent may have made up."""

    call: str
    text: str
    name: str = ""
    failed: bool = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered. `is_whole` is False where it broke off; `problem` is an error that it ended with."""

    message: Message
    usage: Usage = Usage()
    model: str = ""
    finish: str = ""
    is_whole: bool = True
    problem: str = ""


class AnswerStream(Protocol):
    """Puts a streamed answer together from its events."""

    def take(self, name: str, data: Json) -> None:
        """The next event; `name` is "" where the dialect gives none."""

    @property
    def is_over(self) -> bool:
        """Whether its end came: the agent may act on it."""

    @property
    def text(self) -> str:
        """The words so far, for live display."""

    def answer(self) -> Answer:
        """The answer so far."""


class Body:
    """A request's body: its fields as they were written, decoded only where somebody looks."""

    def __init__(self, raw: bytes) -> None:
        """Raises InvalidInput where it is no JSON object."""
        try:
            self.fields: dict[str, msgspec.Raw] = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidInput("bad_request_body", f"The agent's request is no JSON object: {error}") from error

    def get(self, name: str) -> Any:
        """A field's value, None without one. Raises InvalidInput."""
        return decode_raw(self.fields[name]) if name in self.fields else None

    def bytes_of(self, *names: str) -> bytes:
        """Some fields as they were written, in one piece: equal bytes mean equal fields."""
        return b"\0".join(bytes(self.fields[name]) if name in self.fields else b"" for name in names)

    def items(self, name: str) -> list[bytes]:
        """The entries of a list as they were written. Raises InvalidInput where it is no list."""
        try:
            return [bytes(one) for one in msgspec.json.decode(self.fields[name], type=list[msgspec.Raw])]
        except (ValueError, RecursionError) as error:
            raise InvalidInput("bad_request_body", f"{name} of the agent's request is no list.") from error

    def with_items(self, name: str, items: Sequence[bytes]) -> bytes:
        """The body with other entries in a list; every other byte of a value is as it was."""
        return msgspec.json.encode({**self.fields, name: [msgspec.Raw(one) for one in items]})


def decode_raw(raw: msgspec.Raw | bytes) -> Any:
    """The value of JSON bytes. Raises InvalidInput."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_request_body", f"A part of the agent's request is no JSON: {error}") from error


class Dialect(Protocol):
    """One dialect. `items` is the field that holds the conversation; what has a body here is what most of them do."""

    name: str
    path: re.Pattern[str]
    items: str
    stored_state: tuple[str, ...]
    """Fields that refer to what the provider has stored: with one, the request is not the whole context."""
    ping: bytes
    """What keeps the agent's patience while a streamed answer is held back."""
    key_field: str
    """The header that carries the key, and `key_prefix` what stands before it there."""
    key_prefix: str
    keeps_version: bool
    """Whether the base address of an endpoint already ends with the version that requests begin with."""

    def purpose(self, path: str) -> Purpose:
        """What a request of this dialect asks for."""
        return "complete"

    def is_stream(self, path: str, body: Body) -> bool:
        """Whether the answer comes in events."""
        return body.get("stream") is True

    def model(self, path: str, body: Body) -> str:
        """The model that is asked for."""
        return text_of(body.get("model"))

    def opening(self, body: Body) -> list[Message]:
        """The messages that stand before the items (the system prompt, where it has a field of its own)."""

    def tools(self, body: Body) -> list[Json]:
        """What the model may call: name, description, parameters."""

    def messages(self, item: Json) -> list[Message]:
        """An item in our vocabulary."""

    def is_answer(self, item: Json) -> bool:
        """Whether the model made the item."""
        return item.get("role") == "assistant"

    def outcomes(self, item: Json) -> list[CallOutcome]:
        """What an item says of calls."""

    def put(self, item: Json, text: str) -> list[Json]:
        """An item, which the agent said last, with one more text of a person behind it."""

    def whole(self, body: Json) -> Answer:
        """The answer of a body that came in one piece."""

    def stream(self) -> AnswerStream:
        """What puts a streamed answer together."""

    def late_error(self, status: int, body: bytes) -> bytes:
        """An error as an event, for an answer that has begun; b"" where the dialect has none."""
        return b""


def call_of(id: object, name: object, arguments: str, ordinal: int) -> ToolCall:
    """A call of an answer; one without an id is named by its place."""
    return ToolCall(id=id if isinstance(id, str) and id else str(ordinal), name=str(name or "unknown"),
                    arguments=arguments or "{}")


def spend(usage: Mapping[str, Any], total: int | None, made: Any, cached: Any) -> Usage:
    """A usage from counts that may be anything."""
    if not usage:
        return Usage()
    return Usage(input_tokens=int_of(total), output_tokens=int_of(made), cached_tokens=int_of(cached))
