"""A conversation as its session knows it, told to an agent whose own record of it is lost."""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.message import Message

MOST, MOST_EACH = 60_000, 4_000
"""Characters of all of it, of which the newest are told, and of one thing that was said or came back."""

_CUT_OFF = ("You worked on this before and were cut off, and you have no record of it. What you did is done, and was "
            "seen from outside:")
_GO_ON = "Go on from there."
_LEFT_OUT = "[what came before is left out]"


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
