"""A message of a context at a glance: whose it is, its first words, the step that brought it. Fit for a thread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing

import msgspec

from app.step.context_search import StepsInLog, given_in_log
from core.domain.context import MessageRef
from core.domain.deed import deed_of
from core.domain.errors import InvalidInput, NotFound
from core.domain.message import Message, decode_message
from core.domain.request import requested
from core.domain.step import Action
from core.domain.tools import OWN, ToolTable
from core.store import blobs
from core.store.sqlite import Connection, connect

WORDS = 300
"""Characters of a message's first words."""


class MessageLook(msgspec.Struct, frozen=True):
    """`kind` is a role (system, user), result, or what the first call is for; `tool` names the call, also the one that
    a result answers; `step` is the one that brought the message, 0 for none."""

    kind: str
    words: str = ""
    tool: str = ""
    step: int = 0


def looks_in_log(steps: StepsInLog, refs: Sequence[MessageRef], tools: ToolTable = OWN) -> dict[str, MessageLook]:
    """The looks of some messages by their hash; of one that is not here only its step is known."""
    with closing(connect(steps.path, readonly=True)) as conn:
        brought, called = _brought(conn, steps), dict[str, str]()
        return {ref.hash: msgspec.structs.replace(_read(conn, ref, tools, called), step=brought.get(ref.hash, 0))
                for ref in refs}


def _brought(conn: Connection, steps: StepsInLog) -> dict[str, int]:
    """For each message the step after which it was there: the one before the first context that holds it."""
    found: dict[str, int] = {}
    before = 0
    for number, delta in given_in_log(conn, steps):
        for part in delta.parts:
            if isinstance(part, MessageRef):
                found.setdefault(part.hash, before)
        before = number
    return found


def _read(conn: Connection, ref: MessageRef, tools: ToolTable, called: dict[str, str]) -> MessageLook:
    """The look of a message; `called` has the names of the calls before it, and takes its own."""
    try:
        message = decode_message(blobs.get(conn, ref.hash))
    except (InvalidInput, NotFound):
        return MessageLook(kind=ref.role if ref.role in ("system", "user") else "result")
    called.update((call.id, call.name) for call in message.tool_calls)
    look = look_of(message, tools)
    return msgspec.structs.replace(look, tool=called.get(message.tool_call_id, "")) if look.kind == "result" else look


def look_of(message: Message, tools: ToolTable = OWN) -> MessageLook:
    """A message at a glance."""
    if message.role == "tool":
        return MessageLook(kind="result", words=_flat(message.content))
    if message.tool_calls:
        call = message.tool_calls[0]
        action = Action(call_id=call.id, tool=call.name, arguments=_arguments(call.arguments))
        deed = deed_of(action, tools)
        more = f" (+{len(message.tool_calls) - 1})" if len(message.tool_calls) > 1 else ""
        return MessageLook(kind=deed.kind, tool=call.name, words=(deed.title or _flat(message.content))[:WORDS] + more)
    if message.role == "assistant":
        return MessageLook(kind="message", words=_flat(message.content or message.reasoning))
    return MessageLook(kind=message.role, words=_flat(requested(message.content) or message.content))


def _arguments(text: str) -> dict[str, object]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}


def _flat(text: str) -> str:
    return " ".join(text[: 8 * WORDS].split())[:WORDS]
