"""One step with all that was said about it: its verdicts, remarks and tags."""

from datetime import datetime

import msgspec

from core.domain.anchor import TextAnchor
from core.domain.context import ContextDelta, MessageRef
from core.domain.step import StepHead
from core.domain.verdict import Author, StepOutcome, Verdict, masked_actions, step_outcome


class Note(msgspec.Struct, frozen=True, array_like=True):
    """A remark, and the words of the step on which it stands (None: on the whole). `repeats`: it cites what people said
    of a step before an import changed it."""

    author: Author
    at: datetime
    text: str
    anchor: TextAnchor | None = None
    repeats: bool = False


VOID = "-void-"
"""In the name of the event of a remark that repeats."""

Tags = dict[str, tuple[str, ...]]
"""The tags of a step, each with the keys of those who put it on."""


def set_tag(tags: Tags, tag: str, author: str, on: bool) -> None:
    """Put a tag on, or take it off: who put it on takes that back alone, anybody else takes it off for all."""
    by = tags.pop(tag, ())
    others = tuple(one for one in by if one != author)
    if on or (author in by and others):
        tags[tag] = (*others, author) if on else others


class Opinions(msgspec.Struct, kw_only=True):
    """What was said about one step. `verdicts` holds the standing opinion per author and action (`Verdict.key`), latest
    last."""

    verdicts: dict[str, Verdict] = {}
    notes: list[Note] = []
    tags: Tags = {}


class StepEntry(Opinions, kw_only=True):
    """A step with all that was said about it."""

    head: StepHead
    body: str
    context: ContextDelta
    completion: MessageRef | None = None
    terminals: dict[str, int] = {}
    tools: str = ""
    sampled: str = ""
    seq: int = 0

    @property
    def outcome(self) -> StepOutcome:
        """What was decided of the step."""
        return step_outcome(self.verdicts.values(), len(self.head.tools))

    @property
    def masked_actions(self) -> tuple[int, ...]:
        """The actions of the step that are masked one by one, counted from 1; () where it is masked as a whole."""
        return masked_actions(self.verdicts.values(), len(self.head.tools))
