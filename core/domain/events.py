"""The events of a session's log, one tagged union; and their canonical bytes.

An event's body (`id, at, author, fact`) is encoded once, by the party that made it, and those very bytes
travel and rest everywhere: so a replica equals the log byte for byte. The server adds `session` and `seq`.
A fact of a kind that this version does not know is kept as `UnknownFact` and shown as unsupported.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from core.domain.attention import Thresholds
from core.domain.context import ContextDelta, MessageRef
from core.domain.errors import InvalidInput
from core.domain.guidance import GuidanceMode
from core.domain.ids import new_id
from core.domain.step import StepHead, Usage
from core.domain.task import AgentSettings, Task
from core.domain.verdict import Author, VerdictValue

SessionState = Literal["queued", "running", "paused", "waiting", "finished", "failed", "stopped"]
AttentionKind = Literal["error_burst", "loop", "stall", "waiting", "budget", "finished"]


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What happened. Each subclass is one kind of event."""


class SessionCreated(Fact, frozen=True, kw_only=True, tag="session_created"):
    """The first event of a log. `origin` is live, or the name of the foreign format it was imported from."""

    task: Task
    agent: AgentSettings = AgentSettings()
    origin: str = "live"
    source: str = ""


class SessionStateChanged(Fact, frozen=True, kw_only=True, tag="session_state"):
    """The session entered a state; `reason` is a stable code such as finished, limit_steps, stopped_by_person."""

    state: SessionState
    reason: str = ""
    detail: str = ""


class StepStarted(Fact, frozen=True, kw_only=True, tag="step_started"):
    """The runner fixed the context of step `number`; `guidance` names what it holds for the first time."""

    number: int
    guidance: tuple[str, ...] = ()


class StepAdded(Fact, frozen=True, kw_only=True, tag="step_added"):
    """A whole step. `body` is the hash of its StepBody; `completion` the assistant message as later contexts hold it.

    `terminals` maps "host/terminal" to the length in bytes of its stream when the step ended. `tools` is the hash
    of the JSON list of tools (name, description, parameters) given beside the context; "" where none were.
    A number that was there before is told again by an import whose file has grown; then `counted` is the usage, and
    `is_error_counted` the error, that the tellings before have added to the session's sums.
    """

    head: StepHead
    body: str
    context: ContextDelta = ContextDelta()
    completion: MessageRef | None = None
    terminals: dict[str, int] = {}
    tools: str = ""
    counted: Usage = Usage()
    is_error_counted: bool = False


class TerminalOutput(Fact, frozen=True, kw_only=True, tag="terminal_output"):
    """`size` bytes at `offset` of one terminal's stream: inline in `data` when small, else in blob `blob`.

    The first output tells how many `columns` and `rows` the terminal has, where that is known.
    """

    host: str
    terminal: str
    offset: int
    size: int
    data: bytes = b""
    blob: str = ""
    columns: int = 0
    rows: int = 0


class FileChanged(Fact, frozen=True, kw_only=True, tag="file_changed"):
    """A file's content before and after, as blob hashes; empty for absent, `too_large` where it was not kept."""

    host: str
    path: str
    before: str = ""
    after: str = ""
    size: int = 0
    step: int = 0
    too_large: bool = False


class SearchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One result of a search, as the engine gave it."""

    title: str
    link: str
    snippet: str = ""
    position: int = 0


class SearchMade(Fact, frozen=True, kw_only=True, tag="search_made"):
    """The agent searched, or visited a page (`engine` is then "page" and `query` its address)."""

    query: str
    engine: str
    step: int
    results: tuple[SearchResult, ...] = ()


class SummaryAdded(Fact, frozen=True, kw_only=True, tag="summary_added"):
    """A summary stands for steps first..last in later contexts.

    `context` is the context in which it was written, as a delta to the last step's; `completion` the
    assistant message that the model answered there.
    """

    id: str
    first: int
    last: int
    text: str
    context: ContextDelta = ContextDelta()
    completion: MessageRef | None = None


class GuidanceQueued(Fact, frozen=True, kw_only=True, tag="guidance_queued"):
    """An annotator's advice entered the log."""

    guidance: str
    text: str
    mode: GuidanceMode = "note"


class GuidanceChangeAsked(Fact, frozen=True, kw_only=True, tag="guidance_change_asked"):
    """An annotator asks to edit (new `text`) or withdraw (`text` is None) what may be delivered already."""

    guidance: str
    request: str
    text: str | None = None


class GuidanceEdited(Fact, frozen=True, kw_only=True, tag="guidance_edited"):
    """The text changed before delivery."""

    guidance: str
    text: str
    request: str = ""


class GuidanceWithdrawn(Fact, frozen=True, kw_only=True, tag="guidance_withdrawn"):
    """Taken back before delivery."""

    guidance: str
    request: str = ""


class GuidanceChangeRefused(Fact, frozen=True, kw_only=True, tag="guidance_change_refused"):
    """The change came too late: delivered at step `step` already (None: withdrawn, or never known)."""

    guidance: str
    request: str
    step: int | None = None


class GuidanceDelivered(Fact, frozen=True, kw_only=True, tag="guidance_delivered"):
    """The context of step `step` is the first that holds the text."""

    guidance: str
    step: int


class GuidanceAnswered(Fact, frozen=True, kw_only=True, tag="guidance_answered"):
    """Step `step` is the agent's first whole step after delivery."""

    guidance: str
    step: int


class ControlAsked(Fact, frozen=True, kw_only=True, tag="control_asked"):
    """A person asks the runner to pause, resume, stop, or interrupt the running action."""

    control: Literal["pause", "resume", "stop", "interrupt"]


class SubmissionMade(Fact, frozen=True, kw_only=True, tag="submission_made"):
    """The agent handed in its `ordinal`-th submission, at a step."""

    ordinal: int
    step: int
    blob: str = ""


class ScoreGiven(Fact, frozen=True, kw_only=True, tag="score_given"):
    """An evaluator's outcome, 0–100; `failed` when the evaluator itself broke (then `total` is None)."""

    ordinal: int
    step: int
    total: float | None
    parts: dict[str, float] = {}
    message: str = ""
    failed: bool = False


class SnapshotTaken(Fact, frozen=True, kw_only=True, tag="snapshot_taken"):
    """Saved state of the sandboxes at a step: image reference per host."""

    step: int
    images: dict[str, str] = {}


class Branched(Fact, frozen=True, kw_only=True, tag="branched"):
    """This session continues from a snapshot of another."""

    parent: str
    step: int


class AttentionRaised(Fact, frozen=True, kw_only=True, tag="attention_raised"):
    """Something wants a person's look; `evidence` is a short text, `step` where."""

    kind: AttentionKind
    evidence: str = ""
    step: int = 0


class AttentionCleared(Fact, frozen=True, kw_only=True, tag="attention_cleared"):
    """What raised the attention is over."""

    kind: AttentionKind


class ThresholdsSet(Fact, frozen=True, kw_only=True, tag="thresholds_set"):
    """From now on the session asks for a look by these."""

    thresholds: Thresholds


class VerdictGiven(Fact, frozen=True, kw_only=True, tag="verdict_given"):
    """The event's author judges one step."""

    step: int
    value: VerdictValue
    reason: str = ""


class NoteAdded(Fact, frozen=True, kw_only=True, tag="note_added"):
    """A remark on a step, or on the session (step 0)."""

    step: int
    text: str


class TagSet(Fact, frozen=True, kw_only=True, tag="tag_set"):
    """A tag was put on a step (or session: 0), or taken off."""

    step: int
    tag: str
    on: bool = True


class TimeSpent(Fact, frozen=True, kw_only=True, tag="time_spent"):
    """How long the event's author was at work on steps: seconds by step number, since the last such event.

    Active time only: the window in front, and a key or the mouse used within the last while.
    """

    seconds: dict[int, float]


class UnknownFact(Fact, frozen=True, kw_only=True, tag="unknown"):
    """A fact of a newer version; `raw` is its JSON as it came. Never encoded."""

    kind: str
    raw: bytes


AnyFact = (
    SessionCreated | SessionStateChanged | StepStarted | StepAdded | TerminalOutput | FileChanged | SearchMade
    | SummaryAdded | GuidanceQueued | GuidanceChangeAsked | GuidanceEdited | GuidanceWithdrawn
    | GuidanceChangeRefused | GuidanceDelivered | GuidanceAnswered | ControlAsked | SubmissionMade | ScoreGiven
    | SnapshotTaken | Branched | AttentionRaised | AttentionCleared | ThresholdsSet | VerdictGiven | NoteAdded | TagSet
    | TimeSpent
)
FACT_KINDS: dict[str, type[Fact]] = {
    str(t.__struct_config__.tag): t for t in AnyFact.__args__
}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One immutable fact with its identity, time (UTC) and author."""

    id: str
    at: datetime
    author: Author
    fact: Fact


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """An event in its place: the `seq`-th of its session, counted from 1 without gaps; `body` its bytes."""

    session: str
    seq: int
    body: bytes

    @property
    def event(self) -> Event:
        """The decoded event."""
        return decode_event(self.body)


def make_event(fact: Fact, author: Author, *, at: datetime | None = None, id: str = "") -> Event:
    """A new event, now, with a new identity unless one is given."""
    return Event(id=id or new_id(), at=at or datetime.now(UTC), author=author, fact=fact)


class _Envelope(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: datetime
    author: Author
    fact: msgspec.Raw


class _Kind(msgspec.Struct, frozen=True):
    type: str


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: datetime
    author: Author
    fact: AnyFact


_KNOWN: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Known)
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_KIND = msgspec.json.Decoder(_Kind)


def encode_event(event: Event) -> bytes:
    """The bytes of an event, made once by its author.

    Raises InvalidInput for what could not be read again: an unknown fact, a number that is not finite where JSON
    must have one.
    """
    if isinstance(event.fact, UnknownFact):
        raise InvalidInput("unknown_fact", f"An event of the unknown kind {event.fact.kind} cannot be made here.")
    body = msgspec.json.encode(event)
    decode_event(body)
    return body


def decode_event(body: bytes) -> Event:
    """The event of its bytes. Raises InvalidInput where they are no event at all."""
    try:
        known = _KNOWN.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _decode_unknown(body, error)
    return Event(id=known.id, at=known.at, author=known.author, fact=known.fact)


def _decode_unknown(body: bytes, error: Exception) -> Event:
    """The event around a fact of a newer kind; `error` is why it is none of ours."""
    try:
        envelope = _ENVELOPE.decode(body)
        kind = _KIND.decode(envelope.fact).type
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as deeper:
        raise InvalidInput("bad_event", f"An event cannot be read: {deeper}") from deeper
    if kind in FACT_KINDS:
        raise InvalidInput("bad_event", f"An event cannot be read: {error}") from error
    fact = UnknownFact(kind=kind, raw=bytes(envelope.fact))
    return Event(id=envelope.id, at=envelope.at, author=envelope.author, fact=fact)


def blobs_of(fact: Fact) -> tuple[str, ...]:
    """The content addresses that a fact refers to; whoever stores the event must hold these first."""
    match fact:
        case StepAdded():
            return (fact.body, *([fact.tools] if fact.tools else []), *_context_blobs(fact.context, fact.completion))
        case SummaryAdded():
            return _context_blobs(fact.context, fact.completion)
        case TerminalOutput() | SubmissionMade():
            return (fact.blob,) if fact.blob else ()
        case FileChanged():
            return tuple(h for h in (fact.before, fact.after) if h)
    return ()


def _context_blobs(context: ContextDelta, completion: MessageRef | None) -> tuple[str, ...]:
    entered = [p for p in context.parts if isinstance(p, MessageRef)]
    return tuple(r.hash for r in [*entered, *([completion] if completion else [])])
