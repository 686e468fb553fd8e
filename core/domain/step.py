"""Steps: thought, actions, observations. The head is what a list row needs, the body is everything."""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec

from core.domain.action_kinds import WAITING, Family
from core.domain.blob import BlobRef
from core.domain.bounds import (
    MOST_COST,
    NAME,
    WHOLE,
    Code,
    Cost,
    Count,
    ExitCode,
    Many,
    Moment,
    Name,
    StepNumber,
    Title,
    Tokens,
    Total,
    clamp,
)
from core.domain.errors import InvalidInput

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
    total_chars: Total = 0
    blob: BlobRef = ""
    terminal: str = ""
    start: Total = 0
    end: Total = 0


class ActionError(msgspec.Struct, frozen=True, kw_only=True):
    """Why an action failed: a stable lower_snake kind (not_found, interrupted, exit_code, …) and a sentence."""

    kind: str
    message: str


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The one envelope of every action's result. `data` holds the fields that only this tool has."""

    call_id: str
    status: Status = "finished"
    exit_code: ExitCode | None = None
    output: Output = Output()
    job: str = ""
    error: ActionError | None = None
    data: dict[str, Any] = {}
    started_at: Moment | None = None
    ended_at: Moment | None = None

    @property
    def is_error(self) -> bool:
        """Whether the action failed: a fact of the envelope, never guessed from the text."""
        return self.error is not None or self.status in ("timeout", "killed", "refused", "failed")


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one completion used. None means that the source does not say."""

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cached_tokens: Tokens | None = None
    cost_usd: Cost | None = None


class StepHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a row of the step list shows; small by construction (title at most 200 characters)."""

    number: StepNumber
    title: Title = ""
    tools: Annotated[tuple[Name, ...], Many] = ()
    family: Family = "other"
    status: Status = "finished"
    is_error: bool = False
    error_kind: Code = ""
    is_waiting: bool = False
    hosts: Annotated[tuple[Name, ...], Many] = ()
    thought_chars: Count = 0
    output_chars: Total = 0
    usage: Usage = Usage()
    started_at: Moment | None = None
    ended_at: Moment | None = None


class StepBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole step, stored as one blob and fetched when looked at."""

    number: StepNumber
    thought: str = ""
    actions: tuple[Action, ...] = ()
    observations: tuple[Observation, ...] = ()
    model: str = ""
    finish_reason: str = ""


_TITLE_KEYS = ("command", "path", "filename", "file_path", "query", "url", "keyword", "search_term", "file_name",
               "input_text", "sleep_time", "thought", "session_id", "cmd", "keystrokes", "code", "pattern", "prompt",
               "question", "skill", "result", "text", "input", "description")

_EDITS = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"})
"""Commands of editors, which say nothing without the path."""


def make_head(
    body: StepBody, *, usage: Usage = Usage(), started_at: datetime | None = None, ended_at: datetime | None = None
) -> StepHead:
    """The head of a body. The worst observation gives the status."""
    worst = max(body.observations, key=lambda o: (o.is_error, o.status == "running"), default=None)
    error = worst.error if worst else None
    tools = tuple(a.tool[:NAME] for a in body.actions)  # a model may name what there is not, at any length
    return StepHead(
        number=body.number,
        title=step_title(body),
        tools=tools,
        family=body.actions[0].family if body.actions else "other",
        status=worst.status if worst else "finished",
        is_error=bool(worst and worst.is_error),
        error_kind=error.kind if error else "",
        is_waiting=bool(tools) and all(t in WAITING for t in tools),
        hosts=tuple(dict.fromkeys(h[:NAME] for a in body.actions if (h := str(a.arguments.get("computer_ip") or "")))),
        thought_chars=len(body.thought),
        output_chars=clamp(sum(o.output.total_chars or len(o.output.text) for o in body.observations), WHOLE),
        usage=_within_bounds(usage),
        started_at=started_at,
        ended_at=ended_at,
    )


def _within_bounds(usage: Usage) -> Usage:
    """What an endpoint or a foreign file says was used; a number that is none is taken for the nearest."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    within = [count if count is None else clamp(int(count)) for count in counts]
    cost = usage.cost_usd if usage.cost_usd is None or isfinite(usage.cost_usd) else None
    return Usage(input_tokens=within[0], output_tokens=within[1], cached_tokens=within[2],
                 cost_usd=cost if cost is None else max(0.0, min(MOST_COST, cost)))


def step_title(body: StepBody) -> str:
    """One line for a step: its first action with the argument that tells most, else its thought."""
    if not body.actions:
        return _one_line(body.thought)
    action = body.actions[0]
    found = [str(action.arguments[k]) for k in _TITLE_KEYS if action.arguments.get(k) not in (None, "")]
    arguments = " ".join(found[:2] if found and found[0] in _EDITS else found[:1])
    more = f" (+{len(body.actions) - 1})" if len(body.actions) > 1 else ""
    return _one_line(f"{action.tool} {arguments}")[: 200 - len(more)] + more


def _one_line(text: str) -> str:
    return " ".join(text[:2000].split())[:200]


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
