"""What the journal holds of a person's words: guidance, who acts in the agent's place, and what they want done."""

import msgspec

from core.domain import events as e
from core.domain.guidance import GuidanceMode


class HeldGuidance(msgspec.Struct, frozen=True):
    """Guidance that the journal holds."""

    id: str
    text: str
    mode: GuidanceMode
    step: int | None = None


class LeaveAsked(msgspec.Struct, frozen=True):
    """What leave is asked for and not answered, how much advice waited when it was, and the question's name."""

    what: str
    waiting: int
    question: str = ""


class HeldTakeover(msgspec.Struct, frozen=True):
    """Who acts in the agent's place; `asked` is the event in which they last said so. `is_logged`: the log knows that
    they have it. `ends`: they asked for the agent to go on."""

    person: str
    idle_s: float
    asked: str
    is_logged: bool = False
    ends: bool = False


class HeldAction(msgspec.Struct, frozen=True):
    """What a person wants the next step to be; `id` is the event's."""

    id: str
    person: str
    fact: e.ActionAsked
