"""The head of a step: what a row shows of it, made once from its body and the table of its program's tools."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from math import isfinite

import msgspec

from core.domain.bounds import MOST_COST, MOST_ITEMS, NAME, WHOLE, clamp
from core.domain.deed import Deed, deed_of
from core.domain.step import ActionError, Observation, StepBody, StepHead, Usage
from core.domain.tools import OWN, ToolTable

TITLE = 200
"""Characters of a title."""

_NAMES = 200_000
"""Characters that the names of all tools, and of all hosts, of one step share."""

MOST_JSON = 100_000
"""Characters of an answer that is looked at as JSON."""


class _Keys(msgspec.Struct):
    keystrokes: str = ""


class _Typed(msgspec.Struct):
    commands: list[_Keys] = []
    analysis: str = ""


def make_head(body: StepBody, *, usage: Usage = Usage(), started_at: datetime | None = None,
              ended_at: datetime | None = None, tools: ToolTable = OWN, path: str = "",
              refused: Collection[str] = ()) -> StepHead:
    """The head of a body. The worst observation gives the status; `tools` says what the actions are for.

    `path` is the file that an editor had open, for calls that do not name it; `refused` are the calls that an editor
    says in words alone it did not carry out: they changed no line.
    """
    wrong = [o for o in body.observations if o.is_error]
    worst = _worst(wrong or body.observations)
    error = worst.error if worst else None
    deeds = [deed_of(action, tools) for action in body.actions]
    failed = {*refused, *[o.call_id for o in wrong]}
    status = worst.status if worst else "finished"
    if refused and status == "finished" and error is None:
        status, error = "refused", ActionError(kind="refused", message="")
    made = [deed for deed, action in zip(deeds, body.actions, strict=True) if action.call_id not in failed]
    return StepHead(
        number=body.number,
        title=_title(body, deeds, path),
        tools=_names(tuple([a.tool for a in body.actions])),  # a model may name what there is not, at any length
        family=body.actions[0].family if body.actions else "other",
        status=status,
        is_error=error is not None or bool(wrong),
        error_kind=error.kind if error else "",
        is_waiting=bool(deeds) and all(deed.kind == "wait" for deed in deeds),
        kind=_kind(deeds),
        exit_code=worst.exit_code if worst else None,
        added=clamp(sum([d.lines.added for d in made])),
        removed=clamp(sum([d.lines.removed for d in made])),
        hosts=_names(tuple(dict.fromkeys([str(h) for a in body.actions if (h := a.arguments.get("computer_ip"))]))),
        thought_chars=len(body.thought),
        output_chars=clamp(sum([o.output.total_chars or len(o.output.text) for o in body.observations]), WHOLE),
        usage=_within_bounds(usage),
        started_at=started_at,
        ended_at=ended_at,
    )


def _worst(observations: Sequence[Observation]) -> Observation | None:
    """One that still runs, else the first; None where there is none."""
    return next((o for o in observations if o.status == "running"), observations[0] if observations else None)


_UNKNOWN = Usage()


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that have room in one event, as many and as long as they may be."""
    if not names:
        return names
    room = min(NAME, _NAMES // max(1, len(names)))
    return tuple(name[:room] for name in names[:MOST_ITEMS])


def _kind(deeds: list[Deed]) -> str:
    """What the first action is for, but a change of a file before anything else: it is what is looked for."""
    return next((d.kind for d in deeds if d.is_change), deeds[0].kind if deeds else "message")


def _within_bounds(usage: Usage) -> Usage:
    """What an endpoint or a foreign file says was used; a number that is none is taken for the nearest."""
    if usage == _UNKNOWN:
        return usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    within = [count if count is None else clamp(int(count)) for count in counts]
    cost = usage.cost_usd if usage.cost_usd is None or isfinite(usage.cost_usd) else None
    return Usage(input_tokens=within[0], output_tokens=within[1], cached_tokens=within[2],
                 cost_usd=cost if cost is None else max(0.0, min(MOST_COST, cost)))


def _title(body: StepBody, deeds: list[Deed], path: str) -> str:
    """One line for a step: its first action with what it did, else its thought, else what came back."""
    if not body.actions:
        return _words(body.thought) or _answer(body.observations)
    tool, did = body.actions[0].tool, deeds[0].title
    if (not did or did.isdigit()) and (deeds[0].is_change or deeds[0].kind == "read"):
        did = next((str(p) for o in body.observations if (p := o.data.get("open_file"))), path) or did
    did = did or _words(body.thought) or _answer(body.observations)
    more = f" (+{len(deeds) - 1})" if len(deeds) > 1 else ""
    return _one_line(f"{tool} {did}")[: TITLE - len(more)] + more


def _words(thought: str) -> str:
    """What an answer says; of one that is an object of keys to type (Terminus), these or why."""
    text = thought.strip()
    if text.startswith("{") and len(text) < MOST_JSON:
        with suppress(msgspec.DecodeError, msgspec.ValidationError, RecursionError):
            typed = msgspec.json.decode(text, type=_Typed)
            keys = " ".join(command.keystrokes for command in typed.commands)
            return _one_line(keys) or _one_line(typed.analysis) or _one_line(text)
    return _one_line(text)


def _answer(observations: tuple[Observation, ...]) -> str:
    return next((text for o in observations if (text := _one_line(o.output.text))), "")


def _one_line(text: str) -> str:
    line = " ".join(text[: 2 * TITLE].split())
    return (line if len(line) >= TITLE else " ".join(text[:2000].split()))[:TITLE]
