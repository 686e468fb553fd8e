"""Facts about the agent's work: steps, and the summaries that stand for them in later contexts."""

from __future__ import annotations

from typing import Annotated

from core.domain.blob import BlobName, BlobRef
from core.domain.bounds import Few, Id, Many, StepNumber, StepPlace, Text, Title, Total
from core.domain.context import ContextDelta, MessageRef
from core.domain.events.fact import Fact
from core.domain.picture import Picture
from core.domain.step import StepHead, Usage


class StepStarted(Fact, frozen=True, kw_only=True, tag="step_started"):
    """The runner fixed the context of step `number`; `guidance` names what it holds for the first time, `again` what it
    holds once more because a compaction of an external agent had thrown it away; where that is much, several of these
    name it."""

    number: StepNumber
    guidance: Annotated[tuple[Id, ...], Many] = ()
    again: Annotated[tuple[Id, ...], Many] = ()


class StepAdded(Fact, frozen=True, kw_only=True, tag="step_added"):
    """A whole step. `body` is the hash of its StepBody; `completion` the assistant message as later contexts hold it.

    `terminals` maps "host/terminal" to the length in bytes of its stream when the step ended. `tools` is the hash
    of the JSON list of tools (name, description, parameters) given beside the context; "" where none were.
    A number that was there before is told again by an import whose file has grown; then `counted` is the usage, and
    `is_error_counted` the error, `is_report_counted` the report, that the tellings before have added to the session's
    sums; `is_rewritten` says that
    the agent's own words or actions are others than in the telling before, so that opinions on that one are void.
    `item` is the id that the source gives the step's message, "" where it gives none. `pictures` are all of the body.
    `sampled` names the answer in the policy's own tokens (`domain/sampled.py`), where its model says them.
    `asked` is the event in which a person asked for it (`ActionAsked`); "" for the agent's own steps.
    """

    head: StepHead
    body: BlobName
    context: ContextDelta = ContextDelta()
    completion: MessageRef | None = None
    terminals: Annotated[dict[Title, Total], Many] = {}
    tools: BlobRef = ""
    counted: Usage = Usage()
    is_error_counted: bool = False
    is_report_counted: bool = False
    is_rewritten: bool = False
    item: Id = ""
    pictures: Annotated[tuple[Picture, ...], Few] = ()
    sampled: BlobRef = ""
    asked: Id = ""


class SummaryAdded(Fact, frozen=True, kw_only=True, tag="summary_added"):
    """A summary stands for steps first..last in later contexts.

    `context` is the context in which it was written, as a delta to the last step's; `completion` the
    assistant message that the model answered there; `sampled` as in StepAdded.
    """

    id: Id
    first: StepPlace
    last: StepPlace
    text: Text
    context: ContextDelta = ContextDelta()
    completion: MessageRef | None = None
    sampled: BlobRef = ""
