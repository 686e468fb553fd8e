"""Samples for templates that demand a person's and the model's messages by turns: as `core.llm.turns` serves them."""

from __future__ import annotations

from operator import is_

import msgspec

from core.export.sample import Sample, SamplePart
from core.llm.turns import in_turn


def with_alternating_roles(sample: Sample) -> Sample:
    """The sample with neighbouring messages of a person joined; the same one where there are none."""
    parts: list[SamplePart] = []
    for part in sample.parts:
        message, stands_for_both = in_turn(parts[-1].message if parts else None, part.message)
        part = part if message is part.message else SamplePart(message=message)
        parts[len(parts) - stands_for_both :] = [part]
    same = len(parts) == len(sample.parts) and all(map(is_, parts, sample.parts))
    return sample if same else msgspec.structs.replace(sample, parts=tuple(parts))
