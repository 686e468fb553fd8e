"""OpenHands before its SDK: a JSON list of events, or a file per event; and the rows of `output.jsonl`.

A row's `history` holds such events. A step is an agent's action with the observation whose `cause` it is; actions of
one answer (`model_response.id`) are one step. Old files have no ids: there an observation follows its action. Ids have
gaps and observations may be missing. What the model was given is not in the file, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from core.domain.step import Action, ActionError, Usage
from core.formats.chat import action_of, read_calls, usage_in
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.edits import of_openhands
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.pictures import pictures_in
from core.formats.records import gathered, records
from core.formats.rows import canonical
from core.formats.source import Source, is_plain
from core.formats.tools import family_of
from core.formats.values import (
    as_json,
    code_of,
    dict_of,
    dicts_of,
    exit_error,
    float_of,
    int_of,
    text_of,
    time_of,
    usage_of,
)

NAME = "openhands"
FOLDER = "events"
_MAX_EVENTS = 200_000
_KNOWN = frozenset({"message", "run", "run_ipython", "edit", "read", "write", "browse", "browse_interactive", "finish",
                    "think", "recall", "delegate", "reject", "null", "error", "system", "condensation", "call_tool_mcp",
                    "change_agent_state", "agent_state_changed", "task_tracking", "mcp", "initialize", "success"})
_SILENT = frozenset({"null", "agent_state_changed", "change_agent_state", "recall", "system", "initialize",
                     "condensation", "condensation_request", "pause", "resume", "stop", "start", "loop_recovery",
                     "user_rejected"})


def _siblings(path: Path) -> list[Path]:
    """The files of a session with a file per event, events/0.json and so on; of any other file, none."""
    if path.parent.name != FOLDER or not path.stem.isdecimal() or path.suffix != ".json":
        return []
    found = [p for p in path.parent.glob("*.json") if p.stem.isdecimal() and is_plain(p)]
    return sorted(found, key=lambda p: (len(p.stem), p.stem))[:_MAX_EVENTS]


def companions(files: Sequence[Path]) -> list[Path]:
    """The other events of a folder: the first stands for all."""
    events = next((together for path in files if (together := _siblings(path))), [])
    return events[1:] if events and recognises(Source(events[0])) else []


def recognises(source: Source) -> bool:
    """Whether the file is a list or lines of events, an object that holds such a list, or one event of a folder."""
    if _siblings(source.path):
        return are_events([source.object])
    return len(source.samples) > 0 and (are_events(list(source.samples)) or are_events(source.object.get("trajectory")))


def are_events(value: Any) -> bool:
    """Whether most of a list's first values are such events."""
    events = dicts_of(value)[:20]
    fits = [e for e in events if text_of(e.get("action")) in _KNOWN or text_of(e.get("observation")) in _KNOWN]
    shaped = [e for e in fits if e.keys() & {"args", "extras", "content", "source", "thought", "outputs", "cause"}]
    return bool(events) and len(shaped) * 2 > len(events)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a list of events."""
    parts = _siblings(source.path)
    found = gathered(source, parts) if parts else records(source)
    inner = dicts_of(source.object.get("trajectory"))
    events = inner or found.items
    first = next((e for e in events if e.get("action") == "message"), events[0])
    names = [first.get(k) for k in ("id", "timestamp", "source")] + [words(first)]
    builder = SessionBuilder(NAME, source.name, canonical(names if first.get("timestamp") else list(events)),
                             found.warnings)
    create(builder, events, words(first)[:400], "", "")
    add_events(builder, events, {})
    if not builder.steps:
        raise source.without_steps("action of the agent", found.warnings)
    end(builder, events)
    yield builder.build()


def words(event: dict[str, Any]) -> str:
    """A message's or action's own words, in the new form and the old."""
    args = dict_of(event.get("args")) or event
    return text_of(args.get("content")) or text_of(args.get("thought"))


def create(builder: SessionBuilder, events: Sequence[dict[str, Any]], title: str, task: str, model: str,
           asked: str = "") -> None:
    """The session's first facts; what is "" is taken from the events."""
    model = model or next((m for e in events if (m := text_of(_response(e).get("model")))), "")
    first = next((words(e) for e in events if e.get("action") == "message" and not _by_agent(e)), "")
    builder.create(title or first[:400], asked or first, task=task, model=model)


def _by_agent(event: dict[str, Any]) -> bool:
    return event.get("source") == "agent"


def _response(event: dict[str, Any]) -> dict[str, Any]:
    """The model's answer that an action came from."""
    return dict_of(dict_of(event.get("tool_call_metadata")).get("model_response"))


def add_events(builder: SessionBuilder, events: Sequence[dict[str, Any]], metrics: dict[str, Any]) -> None:
    """The steps of the events; `metrics` has the run's costs and tokens, where they are recorded."""
    conversation = Conversation(builder)
    caused: dict[int, list[int]] = {}
    for place, event in enumerate(events):
        if "observation" in event and isinstance(event.get("cause"), int):
            caused.setdefault(event["cause"], []).append(place)
    costs = _costs(metrics, sum(isinstance(g, list) for g in _groups(events))) if metrics.get("costs") else []
    paid = 0
    for group in _groups(events):
        if isinstance(group, list):
            usage = _usage(group[0], metrics, costs[paid] if costs else None)
            paid += 1
            conversation.add_step(_step(group, lambda cause: [events[n] for n in caused.get(cause, ())], usage))
        elif group.get("action") == "condensation":
            conversation.add_summary(
                text_of(dict_of(group.get("args")).get("summary")) or "Earlier events were left out.")
        elif group.get("action") == "message" and (text := words(group)):
            conversation.add_pictures(_image_addresses(dict_of(group.get("args"))))
            conversation.add_person_turn(text, time_of(group.get("timestamp")))


def _groups(events: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]] | dict[str, Any]]:
    """The agent's actions by answer, each followed by its observation where there are no ids; other events alone."""
    group: list[dict[str, Any]] = []
    old = not any("id" in e for e in events)
    for number, event in enumerate(events):
        kind = text_of(event.get("action"))
        agent = kind not in _SILENT and (_by_agent(event) or (old and number > 0 and "source" not in event))
        if old and group and "observation" in event:
            group.append(event)
        elif kind and agent and not (old and kind == "message" and "thought" not in event and number == 0):
            answer = text_of(_response(event).get("id"))
            if group and not (answer and answer == _response(group[0]).get("id")):
                yield group
                group = []
            group.append(event)
        elif kind and kind not in _SILENT - {"condensation"}:
            if group:
                yield group
                group = []
            yield event
    if group:
        yield group


def _step(group: Sequence[dict[str, Any]], caused: Callable[[int], list[dict[str, Any]]], usage: Usage) -> ForeignStep:
    acts = [e for e in group if "action" in e]
    first = acts[0]
    response = _response(first)
    message = dict_of(dict_of(next(iter(dicts_of(response.get("choices"))), {})).get("message"))
    thought = next((t for e in acts if (t := text_of((dict_of(e.get("args")) or e).get("thought")))), "")
    if first.get("action") == "message" and not thought:
        thought = words(first)
    actions: list[Action] = []
    results: list[CallResult] = []
    for place, event in enumerate(acts, 1):
        action = _action(event, place, read_calls(message))
        if action is not None:
            actions.append(action)
        name = int_of(event.get("id"))
        seen = [] if name is None else caused(name)
        results.extend(_result(o, action.call_id if action else "") for o in seen
                       if text_of(o.get("observation")) not in _SILENT)
    last = actions[-1].call_id if actions else ""
    results.extend(_result(o, last) for o in group if "observation" in o)
    return ForeignStep(thought=thought, reasoning=text_of(message.get("reasoning_content")), actions=tuple(actions),
                       calls=tuple(c for c in read_calls(message) if c.id in {a.call_id for a in actions}),
                       results=results, usage=usage, started_at=time_of(first.get("timestamp")),
                       ended_at=max((a.ended_at for a in results if a.ended_at), default=None),
                       model=text_of(response.get("model")))


def _action(event: dict[str, Any], place: int, calls: Sequence[Any]) -> Action | None:
    """The action as the model called it, or as the event has it; words alone are no action."""
    metadata = dict_of(event.get("tool_call_metadata"))
    call = next((c for c in calls if c.id == metadata.get("tool_call_id")), None)
    kind = text_of(event.get("action"))
    if call is not None:
        return action_of(call, family_of(kind))
    if kind == "message":
        return None
    args = dict_of(event.get("args")) or {k: v for k, v in event.items() if k != "action"}
    arguments = {k: v for k, v in args.items() if k != "thought" and v is not None}
    return Action(call_id=text_of(metadata.get("tool_call_id")) or str(event.get("id", place)),
                  tool=text_of(metadata.get("function_name")) or kind, arguments=arguments, family=family_of(kind))


def _result(event: dict[str, Any], call: str) -> CallResult:
    extras = dict_of(event.get("extras")) or event
    metadata = dict_of(extras.get("metadata"))
    code = code_of(metadata.get("exit_code", extras.get("exit_code")))
    text = as_json(event.get("content") or "")
    error = exit_error(code)
    if code == -1:
        error = ActionError(kind="not_finished", message="The command had not ended when its output was read.")
    if event.get("observation") == "error":
        error = ActionError(kind=text_of(extras.get("error_id")) or "error", message=text[:2000])
    if error is None and (event.get("success") is False or extras.get("error") is True):
        error = ActionError(kind="failed", message=text[:500])
    data = {k: extras[k] for k in ("path", "url") if isinstance(extras.get(k), str)}
    return CallResult(text=text, call=call, error=error, exit_code=code, data=data,
                      ended_at=time_of(event.get("timestamp")), edit=of_openhands(extras) if error is None else None,
                      pictures=pictures_in([extras.get("screenshot"), *_image_addresses(extras)]))


def _image_addresses(given: dict[str, Any]) -> list[Any]:
    found = given.get("image_urls")
    return found if isinstance(found, list) else []


def _costs(metrics: dict[str, Any], steps: int) -> list[float | None]:
    """The costs of the answers, where the run holds exactly one for each."""
    costs_ = metrics.get("costs")
    if not isinstance(costs_, list):
        return []
    costs = [float_of(c.get("cost")) if isinstance(c, dict) else float_of(c) for c in costs_]
    return costs if len(costs) == steps else []


def _usage(event: dict[str, Any], metrics: dict[str, Any], cost: float | None) -> Usage:
    response = _response(event)
    if dict_of(response.get("usage")):
        return usage_in(response, cost)
    used = next((u for u in dicts_of(metrics.get("token_usages"))
                 if u.get("response_id") and u.get("response_id") == response.get("id")), {})
    return usage_of(used.get("prompt_tokens"), used.get("completion_tokens"), used.get("cache_read_tokens"), cost)


def end(builder: SessionBuilder, events: Sequence[dict[str, Any]]) -> None:
    """How the session ended, by the last events."""
    states = [text_of(dict_of(e.get("extras")).get("agent_state")) for e in events
              if e.get("observation") == "agent_state_changed"]
    last = states[-1] if states else ""
    if last == "error":
        builder.end("failed", "agent_error")
    elif any(e.get("action") == "finish" for e in events[-5:]) or last == "finished":
        builder.end("finished", "finished")
    else:
        builder.end("stopped", last or "end_not_recorded")


FORMAT = Format(name=NAME, title="OpenHands events", recognises=recognises, read=read,
                rank=1, companions=companions,
                parts_of=lambda path: [path.parent] if path.parent.name == FOLDER else [])
