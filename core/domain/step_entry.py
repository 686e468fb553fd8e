"""One step with all that was said about it: its verdicts, remarks and tags."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.domain.anchor import TextAnchor
from core.domain.context import ContextDelta, MessageRef
from core.domain.step import StepHead
from core.domain.verdict import Author, StepOutcome, Verdict, masked_actions, step_outcome


class Note(msgspec.Struct, frozen=True, array_like=True):
    """A remark, and the words of the step on which it stands (None: on the whole)."""

    author: Author
    at: datetime
    text: str
    anchor: TextAnchor | None = None


class Opinions(msgspec.Struct, kw_only=True):
    """What was said about one step. `verdicts` holds the standing opinion per author and action (`Verdict.key`), latest
    last."""

    verdicts: dict[str, Verdict] = {}
    notes: list[Note] = []
    tags: set[str] = set()


class StepEntry(msgspec.Struct, kw_only=True):
    """A step with all that was said about it. `verdicts` holds the standing opinion per author and action, latest
    last."""

    head: StepHead
    body: str
    context: ContextDelta
    completion: MessageRef | None = None
    terminals: dict[str, int] = {}
    tools: str = ""
    sampled: str = ""
    seq: int = 0
    verdicts: dict[str, Verdict] = {}
    notes: list[Note] = []
    tags: set[str] = set()

    @property
    def outcome(self) -> StepOutcome:
        """What was decided of the step."""
        return step_outcome(self.verdicts.values(), len(self.head.tools))

    @property
    def masked_actions(self) -> tuple[int, ...]:
        """The actions of the step that are masked one by one, counted from 1; () where it is masked as a whole."""
        return masked_actions(self.verdicts.values(), len(self.head.tools))
