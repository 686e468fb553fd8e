"""Facts about what an external agent asked of its model through the gateway of its session."""

from __future__ import annotations

from typing import Literal

from core.domain.blob import BlobRef
from core.domain.bounds import Code, Count, Moment, Name, Reason, Seconds, StepPlace
from core.domain.context import ContextDelta
from core.domain.events.fact import Fact
from core.domain.step import Usage

ExchangeRelation = Literal["new", "extends", "retry", "rewound", "compacted", "summary", "side"]
"""How a request stands to the one before it on its line: it begins a line, extends it, is the same again, goes on from
an earlier place, begins anew with what a summary left; it asks for a summary, or is any other call beside the line."""


class ExchangeMade(Fact, frozen=True, kw_only=True, tag="exchange_made"):
    """One request of an external agent and what came back, exactly as they went over the wire.

    `pieces` are the request's body as it was sent to the endpoint, cut into payloads of which each is stored once, as
    a delta to the body of exchange `since` (0: to nothing); joined they are its bytes. `answer` is the whole answer,
    "" where none came. `line` is whose request it was (main, subagent-2, …), `step` the step of the main line, else 0.
    `guided` counts the guidance texts that stand in it; which they are, the step's context says: what a session was
    given in all its days is in no event. `is_discarded`: the answer broke off, or the agent hung up before its end.
    `usage` counts where `step` is 0.
    """

    number: Count
    line: Name
    relation: ExchangeRelation
    dialect: Code
    model: Name = ""
    step: StepPlace = 0
    status: Count = 0
    pieces: ContextDelta = ContextDelta()
    since: Count = 0
    answer: BlobRef = ""
    guided: Count = 0
    is_discarded: bool = False
    problem: Reason = ""
    usage: Usage = Usage()
    started_at: Moment | None = None
    first_byte_s: Seconds | None = None
    held_s: Seconds = 0.0
