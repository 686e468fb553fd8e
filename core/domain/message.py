"""Messages of a context: the very values that a language model is given; and the wire shape of the OpenAI chat API, in
which an endpoint is sent them, and a reader may copy them."""

import json
import re
from typing import Any, Literal

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


_NAME = re.compile(r"[^A-Za-z0-9_-]")
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


def payload(message: Message) -> dict[str, Any]:
    """A message as the chat API takes it. Arguments that are no JSON object are wrapped: servers refuse them."""
    as_json: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        as_json["content"] = message.content or None
        as_json["tool_calls"] = [
            {"id": c.id, "type": "function",
             "function": {"name": _NAME.sub("_", c.name)[:64] or "unknown", "arguments": _arguments(c.arguments)}}
            for c in message.tool_calls
        ]
    if message.role == "tool":
        as_json["tool_call_id"] = message.tool_call_id
    return as_json


def tool_payload(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A tool as the chat API takes it; `parameters` is a JSON schema."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _arguments(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return text if isinstance(value, dict) else json.dumps({"malformed": text})
