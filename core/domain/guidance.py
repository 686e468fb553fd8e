"""Guidance: advice from an annotator to a working agent, and its fate."""

from datetime import datetime
from typing import Literal

import msgspec

GuidanceMode = Literal["note", "interrupt"]
"""A note waits for the next step; an interrupt also ends the action that is running."""

GuidanceState = Literal["queued", "delivered", "answered", "withdrawn"]

FOREIGN_PERSON = "person"
"""As whom importers name the people whose turns a file holds."""

SIMULATED_USER = "simulated user"
"""As whom they name a model that plays a person."""

UNKNOWN_USER = "user"
"""As whom they name a user where the file does not tell a person's words from what an environment gave."""


class Guidance(msgspec.Struct, kw_only=True):
    """One guidance text as the log tells it so far. `delivered_step` is the first step whose context held it.

    `change` is an edit or withdrawal that was asked for and not yet decided; `refused` is the sentence of the
    last refusal. `asked` is the text of an edit that is not decided yet or was refused: nobody's words are lost.
    `by_person` is False for the turns of a user in a foreign run of whom the file does not say that it is a person:
    they are shown at their place, and are nobody's advice.
    `repeated_steps` are those at which it was put in once more, after a compaction by the agent.
    """

    id: str
    text: str
    author: str
    by_person: bool = True
    mode: GuidanceMode = "note"
    state: GuidanceState = "queued"
    queued_at: datetime | None = None
    delivered_step: int | None = None
    answered_step: int | None = None
    change: str = ""
    refused: str = ""
    asked: str = ""
    repeated_steps: list[int] = []
