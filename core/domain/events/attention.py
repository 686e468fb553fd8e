"""Facts about what wants a person's look."""

from __future__ import annotations

from typing import Literal

from core.domain.attention import Thresholds
from core.domain.bounds import Reason, StepPlace
from core.domain.events.fact import Fact

AttentionKind = Literal["error_burst", "loop", "stall", "waiting", "budget", "finished"]


class AttentionRaised(Fact, frozen=True, kw_only=True, tag="attention_raised"):
    """Something wants a person's look; `evidence` is a short text, `step` where."""

    kind: AttentionKind
    evidence: Reason = ""
    step: StepPlace = 0


class AttentionCleared(Fact, frozen=True, kw_only=True, tag="attention_cleared"):
    """What raised the attention is over."""

    kind: AttentionKind


class ThresholdsSet(Fact, frozen=True, kw_only=True, tag="thresholds_set"):
    """From now on the session asks for a look by these."""

    thresholds: Thresholds
