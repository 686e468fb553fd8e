"""A message of a context as parts of a text view: what the model was given, hidden characters shown."""

from __future__ import annotations

import msgspec

from app.kit.i18n import translate
from app.kit.long_text import Part
from app.kit.markdown import markdown_parts
from app.kit.safe_text import one_line
from core.domain.message import Message, ToolCall


def parts_of_message(message: Message, *, name: str = "", raw: bool = False) -> list[Part]:
    """What it is, reasoning, content, calls. What people and models wrote is drawn as Markdown, `raw` as it was
    written; the head is `name`, or, raw or without one, the role and the call that the message answers."""
    parts = [Part(text=(name if name and not raw else _head(message)) + "\n", style="heading")]
    if message.reasoning:
        parts.append(Part(text=translate("EyeView", "Reasoning (never sent back to the model)") + "\n", style="meta"))
        parts.append(Part(text=message.reasoning.rstrip("\n") + "\n\n", meaning="muted", escapes=True))
    if message.content:
        parts += _content(message.content, is_drawn=not raw and message.role != "tool")
    for call in message.tool_calls:
        parts += _call_parts(call)
    return parts


def _head(message: Message) -> str:
    head: str = message.role
    if message.name:
        head += f"  {one_line(message.name, 80)}"
    if message.tool_call_id:
        head += "  " + translate("EyeView", "answers {id}").format(id=one_line(message.tool_call_id, 60))
    return head


def _content(text: str, *, is_drawn: bool) -> list[Part]:
    if is_drawn:
        return [msgspec.structs.replace(part, escapes=True) for part in markdown_parts(text.strip("\n"))]
    return [Part(text=text.rstrip("\n") + "\n", style="mono", escapes=True)]


def _call_parts(call: ToolCall) -> list[Part]:
    word = translate("EyeView", "Call")
    return [
        Part(text=f"\n{word}  {one_line(call.name, 80)}  {one_line(call.id, 60)}\n", style="meta", meaning="person"),
        Part(text=_pretty(call.arguments) + "\n", style="mono", lexer="json", escapes=True),
    ]


def _pretty(arguments: str) -> str:
    try:
        return msgspec.json.format(arguments, indent=2)
    except (ValueError, RecursionError):
        return arguments
