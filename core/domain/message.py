"""Messages of a context: the very values that a language model is given."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.errors import InvalidInput

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call inside an assistant message; `arguments` is JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a context, in the vocabulary of the OpenAI chat API.

    `reasoning` is kept for the reader and never sent back to the model.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    reasoning: str = ""


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Message)


def encode_message(message: Message) -> bytes:
    """The canonical bytes of a message: equal messages give equal bytes, so they are stored once."""
    return _ENCODER.encode(message)


def decode_message(data: bytes) -> Message:
    """The message of canonical bytes. Raises InvalidInput for anything else."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_message", f"A message of a context cannot be read: {error}") from error
