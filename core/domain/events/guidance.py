"""Facts about guidance: from the box of an annotator to the agent's answer."""

from __future__ import annotations

from core.domain.bounds import Id, StepPlace, Text
from core.domain.events.fact import Fact
from core.domain.guidance import GuidanceMode


class GuidanceFact(Fact, frozen=True, kw_only=True):
    """Something about one guidance text, by its id."""

    guidance: Id


class GuidanceQueued(GuidanceFact, frozen=True, kw_only=True, tag="guidance_queued"):
    """An annotator's advice entered the log."""

    text: Text
    mode: GuidanceMode = "note"


class GuidanceChangeAsked(GuidanceFact, frozen=True, kw_only=True, tag="guidance_change_asked"):
    """An annotator asks to edit (new `text`) or withdraw (`text` is None) what may be delivered already."""

    request: Id
    text: Text | None = None


class GuidanceEdited(GuidanceFact, frozen=True, kw_only=True, tag="guidance_edited"):
    """The text changed before delivery."""

    text: Text
    request: Id = ""


class GuidanceWithdrawn(GuidanceFact, frozen=True, kw_only=True, tag="guidance_withdrawn"):
    """Taken back before delivery."""

    request: Id = ""


class GuidanceChangeRefused(GuidanceFact, frozen=True, kw_only=True, tag="guidance_change_refused"):
    """The change came too late: delivered at step `step` already (None: withdrawn, or never known)."""

    request: Id
    step: StepPlace | None = None


class GuidanceDelivered(GuidanceFact, frozen=True, kw_only=True, tag="guidance_delivered"):
    """The context of step `step` is the first that holds the text."""

    step: StepPlace


class GuidanceAnswered(GuidanceFact, frozen=True, kw_only=True, tag="guidance_answered"):
    """Step `step` is the agent's first whole step after delivery."""

    step: StepPlace
