"""A session's tool calls in the plain-text action format, for a model whose chat template has no tool calls.

This is the text that such a model is served when the agent runs it with plain-text actions: the tools stand in
the system message, a call is an `<action>` block of the answer, and results come back as `<result>` in the
user's message. Arguments are the JSON text that was written; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from core.domain.message import Message, ToolCall
from core.export.pieces import Masked
from core.export.sample import Sample, SamplePart
from core.llm.model import ToolSpec
from core.llm.text_actions import describe_tools
from core.store.home import resources


def uses_calls(sample: Sample) -> bool:
    """Whether a sample holds tools, calls or their results."""
    return bool(sample.tools) or any(p.message.tool_calls or p.message.role == "tool" for p in sample.parts)


def in_text_form(sample: Sample) -> Sample:
    """The same sample without tool calls; what is trained stays what it was."""
    parts = tuple(_parts(sample))
    return msgspec.structs.replace(sample, parts=_with_tools(parts, sample.tools) if sample.tools else parts, tools=())


def _parts(sample: Sample) -> Iterator[SamplePart]:
    results: list[Message] = []
    names = {c.id: c.name for p in sample.parts for c in p.message.tool_calls}
    for part in sample.parts:
        if part.message.role == "tool":
            results.append(part.message)
            continue
        if results:
            yield SamplePart(message=_results(results, names))
            results = []
        message = part.message
        if message.tool_calls:
            pieces = [message.content.strip(), *map(_block, message.tool_calls)]
            content = "\n\n".join(filter(None, pieces))
            written = Message(role=message.role, content=content, reasoning=message.reasoning)
            part = msgspec.structs.replace(part, message=written, masked=_placed(part.masked, pieces))
        yield part
    if results:
        yield SamplePart(message=_results(results, names))


def _placed(masked: Masked | None, pieces: Sequence[str]) -> Masked | None:
    """Which calls carry no loss, with the places at which all of them begin."""
    ends = accumulate(len(piece) + len("\n\n") * bool(piece) for piece in pieces)
    return None if masked is None else msgspec.structs.replace(masked, places=tuple(ends)[:-1])


def _block(call: ToolCall) -> str:
    name = msgspec.json.encode(call.name).decode()
    return f'<action>\n{{"tool": {name}, "arguments": {call.arguments or "{}"}}}\n</action>'


def _results(results: Sequence[Message], names: dict[str, str]) -> Message:
    blocks = [f'<result tool="{m.name or names.get(m.tool_call_id, "")}">\n{m.content}\n</result>' for m in results]
    return Message(role="user", content="\n".join(blocks))


def _with_tools(parts: tuple[SamplePart, ...], tools: Sequence[ToolSpec]) -> tuple[SamplePart, ...]:
    """The tools' description at the end of the system message, or as one of its own."""
    # The agent's own words for the format: its code lies above this layer, so its file is read.
    words = (resources() / "prompts" / "text_actions.md").read_text(encoding="utf-8")
    prompt = words.replace("{{tools}}", describe_tools(tools)).rstrip()
    first = parts[0].message if parts else None
    if first is None or first.role != "system":
        return (SamplePart(message=Message(role="system", content=prompt.strip())), *parts)
    system = Message(role="system", content=f"{first.content}\n{prompt}")
    return (msgspec.structs.replace(parts[0], message=system), *parts[1:])
