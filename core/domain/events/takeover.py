"""Facts about a person who acts in the agent's place for a while."""

from __future__ import annotations

from typing import Annotated

from core.domain.blob import BlobRef
from core.domain.bounds import Code, Id, Many, Name, Seconds, StepPlace, Text
from core.domain.events.fact import Fact

DROPS = ("not_taken_over", "too_many")
"""Reasons of `HandedBack` that are about actions alone: who has the session has it still."""


class TakeoverAsked(Fact, frozen=True, kw_only=True, tag="takeover_asked"):
    """The event's author wants to write the next actions. Said again it is a sign of life. Where none comes for
    `idle_s` seconds, the agent has the session back."""

    idle_s: Seconds = 900.0


class HandBackAsked(Fact, frozen=True, kw_only=True, tag="hand_back_asked"):
    """A person wants the agent to go on, after what was asked before has been carried out."""


class ActionAsked(Fact, frozen=True, kw_only=True, tag="action_asked"):
    """The event's author, who has taken over, wants this to be the next step: a call of `tool` with `arguments` (JSON
    of an object), and why."""

    tool: Name
    arguments: Text = "{}"
    thought: Text = ""


class TakenOver(Fact, frozen=True, kw_only=True, tag="taken_over"):
    """From step `step` on the agent asks no model and waits for what `person` wants. `tools` is the JSON list of what
    there is to call, as in `StepAdded`; `seen` is the text that the agent would have read last."""

    person: Name
    step: StepPlace
    tools: BlobRef = ""
    seen: BlobRef = ""


class HandedBack(Fact, frozen=True, kw_only=True, tag="handed_back"):
    """The agent goes on from step `step`: asked to, idle (nobody came) or over (the session ended). Where the reason is
    one of DROPS, nothing is handed back. What was asked in the events `dropped` was not carried out."""

    step: StepPlace
    reason: Code
    dropped: Annotated[tuple[Id, ...], Many] = ()
