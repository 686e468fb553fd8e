"""Steps: thought, actions, observations. The head is what a list row needs, the body is everything."""

from typing import Annotated, Any, Literal

import msgspec

from core.domain import bounds
from core.domain.action_kinds import Family
from core.domain.blob import BlobRef
from core.domain.errors import InvalidInput
from core.domain.picture import Picture

Status = Literal["finished", "running", "timeout", "killed", "refused", "failed"]
"""How an action ended. `finished` says only that it ran to its end; see `exit_code` and `error` for success."""

class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One structured request of the agent. `malformed` holds the reason where the call could not be read."""

    call_id: str
    tool: str
    arguments: dict[str, Any] = {}
    family: Family = "other"
    malformed: str = ""


class Output(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an action printed, as the model saw it.

    `total_chars` counts before truncation; `blob` names the whole text where it was cut;
    `terminal` with `start` and `end` (byte offsets) names the range of that terminal's stream.
    """

    text: str = ""
    truncated: bool = False
    total_chars: bounds.Total = 0
    blob: BlobRef = ""
    terminal: str = ""
    start: bounds.Total = 0
    end: bounds.Total = 0


class ActionError(msgspec.Struct, frozen=True, kw_only=True):
    """Why an action failed: a stable lower_snake kind (not_found, interrupted, exit_code, …) and a sentence."""

    kind: str
    message: str


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one envelope of every action's result. `data` holds the fields that only this tool has.

    `reward` is what an environment gives for the action, in its own unit, and `done` says that its episode is over.
    """

    call_id: str
    status: Status = "finished"
    exit_code: bounds.ExitCode | None = None
    output: Output = Output()
    job: str = ""
    error: ActionError | None = None
    data: dict[str, Any] = {}
    started_at: bounds.Moment | None = None
    ended_at: bounds.Moment | None = None
    pictures: tuple[Picture, ...] = ()
    reward: bounds.Points | None = None
    done: bool = False

    @property
    def is_error(self) -> bool:
        """Whether the action failed: a fact of the envelope, never guessed from the text."""
        return self.error is not None or self.status in ("timeout", "killed", "refused", "failed")


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one completion used. None means that the source does not say."""

    input_tokens: bounds.Tokens | None = None
    output_tokens: bounds.Tokens | None = None
    cached_tokens: bounds.Tokens | None = None
    cost_usd: bounds.Cost | None = None


class StepHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a row of the step list shows; small by construction (title at most 200 characters).

    `kind` is what the first action is for (`domain/tools.py`; "" in a log of before it was written); `added` and
    `removed` are lines of files, as far as the calls say; `exit_code` is that of the observation that tells the status.
    `author` is the person who wrote it in the agent's place; "" for the agent's own.
    """

    number: bounds.StepNumber
    title: bounds.Title = ""
    tools: Annotated[tuple[bounds.Name, ...], bounds.Many] = ()
    family: Family = "other"
    status: Status = "finished"
    is_error: bool = False
    error_kind: bounds.Code = ""
    is_waiting: bool = False
    kind: bounds.Code = ""
    exit_code: bounds.ExitCode | None = None
    added: bounds.Count = 0
    removed: bounds.Count = 0
    hosts: Annotated[tuple[bounds.Name, ...], bounds.Many] = ()
    thought_chars: bounds.Count = 0
    output_chars: bounds.Total = 0
    usage: Usage = Usage()
    started_at: bounds.Moment | None = None
    ended_at: bounds.Moment | None = None
    author: bounds.Name = ""

    @property
    def is_report(self) -> bool:
        """Whether the step did not fail and tells a person something: an answer in words alone, a report, what is
        handed in."""
        return not self.is_error and (not self.tools or self.kind in ("message", "submit"))


class StepBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole step, stored as one blob and fetched when looked at. `pictures` came with people's words that it was
    the first to see. `unsampled` says why the answer has no sampled tokens although its model was asked for them."""

    number: bounds.StepNumber
    thought: str = ""
    actions: tuple[Action, ...] = ()
    observations: tuple[Observation, ...] = ()
    model: str = ""
    finish_reason: str = ""
    pictures: tuple[Picture, ...] = ()
    unsampled: bounds.Reason = ""

    @property
    def all_pictures(self) -> tuple[Picture, ...]:
        """Those that people sent, and those that came back for actions."""
        return (*self.pictures, *(picture for one in self.observations for picture in one.pictures))


def refusal(kind: str, message: str, status: Status = "refused") -> Observation:
    """What comes back for an action that did not do what it was asked; whose call it was for, its caller says."""
    return Observation(call_id="", status=status, error=ActionError(kind=kind, message=message))


_BODY = msgspec.json.Decoder(StepBody)


def encode_body(body: StepBody) -> bytes:
    """The bytes under which a body is stored as a blob."""
    return msgspec.json.encode(body)


def decode_body(data: bytes) -> StepBody:
    """The body of stored bytes. Raises InvalidInput for anything else: whoever wrote the log chose these bytes."""
    try:
        return _BODY.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_body", f"The body of a step cannot be read: {error}") from error
