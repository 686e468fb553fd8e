"""Facts from annotators, rules and judges about a session's steps."""

from __future__ import annotations

from typing import Annotated

from core.domain.anchor import TextAnchor
from core.domain.bounds import Count, Many, Reason, Seconds, StepNumber, StepPlace, Tag, Text
from core.domain.events.fact import Fact
from core.domain.verdict import VerdictValue


class AnnotationFact(Fact, frozen=True, kw_only=True):
    """What its author did for the session's steps; it may be taken over from another server's log."""


class OpinionFact(AnnotationFact, frozen=True, kw_only=True):
    """An opinion on one step, by number; 0 is the session."""

    step: StepPlace


class VerdictGiven(OpinionFact, frozen=True, kw_only=True, tag="verdict_given"):
    """The event's author judges one step, or its `action`-th action (counted from 1; 0: the whole step)."""

    value: VerdictValue
    reason: Reason = ""
    action: Count = 0


class NoteAdded(OpinionFact, frozen=True, kw_only=True, tag="note_added"):
    """A remark on a step, on words of it (`anchor`), or on the session (step 0)."""

    text: Text
    anchor: TextAnchor | None = None


class TagSet(OpinionFact, frozen=True, kw_only=True, tag="tag_set"):
    """A tag was put on a step (or session: 0), or taken off."""

    tag: Tag
    on: bool = True


class TimeSpent(AnnotationFact, frozen=True, kw_only=True, tag="time_spent"):
    """How long the event's author was at work on steps: seconds by step number, since the last such event.

    Active time only: the window in front, and a key or the mouse used within the last while.
    """

    seconds: Annotated[dict[StepNumber, Seconds], Many]
