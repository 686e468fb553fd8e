"""A sample as text, where no tokenizer is at hand: its messages, and which of them train."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from core.domain.message import Message
from core.export.rows import SampleRow
from core.export.sample import SamplePart
from core.workers.export import Preview, TokenPart


def as_text(row: SampleRow, page: Preview, count: int) -> Preview:
    """The page, filled from its start on: a message's heading, its text and the gap after it stand for a token each.
    How a model's template writes them is not known here, nor how long they are to it."""
    pieces = list(_pieces(row))
    parts = tuple(TokenPart(start=at, end=at + 1, role=part.message.role, step=part.step, state=part.state)
                  for at, (_, _, part) in enumerate(pieces) if part is not None and part.message.role == "assistant")
    return msgspec.structs.replace(
        page, total=len(pieces), trained=sum(mask for _, mask, _ in pieces), parts=parts,
        tokens=tuple((text, mask) for text, mask, _ in pieces[page.start : page.start + count]))


def _pieces(row: SampleRow) -> Iterator[tuple[str, int, SamplePart | None]]:
    for part, trained in zip(row.sample.parts, row.trained, strict=True):
        yield f"[{part.message.role}]\n", 0, None
        yield _text(part.message), int(trained), part
        yield "\n\n", 0, None


def _text(message: Message) -> str:
    calls = (f"{call.name}({call.arguments})" for call in message.tool_calls)
    return "\n".join(filter(None, (message.content, *calls))) or " "
