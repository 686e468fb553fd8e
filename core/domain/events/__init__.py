"""The events of a session's log: one module per subject of facts, `event` around them, `blobs` for what they name."""

from core.domain.events.annotation import AnnotationFact, NoteAdded, OpinionFact, TagSet, TimeSpent, VerdictGiven
from core.domain.events.attention import AttentionCleared, AttentionKind, AttentionRaised, ThresholdsSet
from core.domain.events.blobs import blobs_of
from core.domain.events.effect import FileChanged, SearchMade, SearchResult, TerminalOutput
from core.domain.events.event import (
    FACT_KINDS,
    Event,
    Placed,
    decode_event,
    decode_stored,
    encode_event,
    kinds_of,
    make_event,
)
from core.domain.events.exchange import ExchangeMade, ExchangeRelation
from core.domain.events.fact import Fact, UnknownFact
from core.domain.events.guidance import (
    GuidanceAnswered,
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceFact,
    GuidanceQueued,
    GuidanceWithdrawn,
)
from core.domain.events.score import ScoreGiven, SubmissionMade, SubmissionRescored
from core.domain.events.session import (
    Branched,
    ControlAsked,
    HostPlaceChanged,
    NotSaved,
    SessionContinued,
    SessionCreated,
    SessionState,
    SessionStateChanged,
    SnapshotFailed,
    SnapshotTaken,
)
from core.domain.events.step import StepAdded, StepStarted, SummaryAdded
from core.domain.events.takeover import ActionAsked, HandBackAsked, HandedBack, TakenOver, TakeoverAsked

__all__ = [
    "FACT_KINDS", "ActionAsked", "AnnotationFact", "AttentionCleared", "AttentionKind", "AttentionRaised", "Branched",
    "ControlAsked", "Event", "ExchangeMade", "ExchangeRelation", "Fact", "FileChanged", "GuidanceAnswered",
    "GuidanceChangeAsked", "GuidanceChangeRefused", "GuidanceDelivered", "GuidanceEdited", "GuidanceFact",
    "GuidanceQueued", "GuidanceWithdrawn", "HandBackAsked", "HandedBack", "HostPlaceChanged", "NotSaved", "NoteAdded",
    "OpinionFact", "Placed", "ScoreGiven", "SearchMade", "SearchResult", "SessionContinued", "SessionCreated",
    "SessionState", "SessionStateChanged", "SnapshotFailed", "SnapshotTaken", "StepAdded", "StepStarted",
    "SubmissionMade", "SubmissionRescored", "SummaryAdded", "TagSet", "TakenOver", "TakeoverAsked", "TerminalOutput",
    "ThresholdsSet", "TimeSpent", "UnknownFact", "VerdictGiven", "blobs_of", "decode_event", "decode_stored",
    "encode_event", "kinds_of", "make_event",
]
