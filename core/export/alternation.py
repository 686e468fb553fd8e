"""Samples for templates that demand a person's and the model's messages by turns (Gemma 3, Cohere).

A person's message can be followed by another one: guidance behind a result, a summary behind the task. Such a template
refuses them, so neighbours become one message with their texts in order, an empty line between them. Nothing that the
model wrote is touched.
"""

from __future__ import annotations

import msgspec

from core.domain.message import Message
from core.export.sample import Sample, SamplePart


def with_alternating_roles(sample: Sample) -> Sample:
    """The sample with neighbouring messages of a person joined; the same one where there are none."""
    parts: list[SamplePart] = []
    for part in sample.parts:
        before = parts[-1].message if parts else None
        if before is not None and before.role == part.message.role == "user":
            parts[-1] = SamplePart(message=_joined(before, part.message))
        else:
            parts.append(part)
    return sample if len(parts) == len(sample.parts) else msgspec.structs.replace(sample, parts=tuple(parts))


def _joined(first: Message, second: Message) -> Message:
    return Message(role="user", content="\n\n".join(text for text in (first.content, second.content) if text))
