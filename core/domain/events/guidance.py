"""Facts about guidance: from the box of an annotator to the agent's answer."""

from __future__ import annotations

from core.domain.events.fact import Fact
from core.domain.guidance import GuidanceMode


class GuidanceFact(Fact, frozen=True, kw_only=True):
    """Something about one guidance text, by its id."""

    guidance: str


class GuidanceQueued(GuidanceFact, frozen=True, kw_only=True, tag="guidance_queued"):
    """An annotator's advice entered the log."""

    text: str
    mode: GuidanceMode = "note"


class GuidanceChangeAsked(GuidanceFact, frozen=True, kw_only=True, tag="guidance_change_asked"):
    """An annotator asks to edit (new `text`) or withdraw (`text` is None) what may be delivered already."""

    request: str
    text: str | None = None


class GuidanceEdited(GuidanceFact, frozen=True, kw_only=True, tag="guidance_edited"):
    """The text changed before delivery."""

    text: str
    request: str = ""


class GuidanceWithdrawn(GuidanceFact, frozen=True, kw_only=True, tag="guidance_withdrawn"):
    """Taken back before delivery."""

    request: str = ""


class GuidanceChangeRefused(GuidanceFact, frozen=True, kw_only=True, tag="guidance_change_refused"):
    """The change came too late: delivered at step `step` already (None: withdrawn, or never known)."""

    request: str
    step: int | None = None


class GuidanceDelivered(GuidanceFact, frozen=True, kw_only=True, tag="guidance_delivered"):
    """The context of step `step` is the first that holds the text."""

    step: int


class GuidanceAnswered(GuidanceFact, frozen=True, kw_only=True, tag="guidance_answered"):
    """Step `step` is the agent's first whole step after delivery."""

    step: int
