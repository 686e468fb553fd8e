"""OpenHands' SDK (V1): events as JSON Lines, or a conversation folder (`base_state.json` and one file per event).

A step is the ActionEvents of one answer (`llm_response_id`) with their observations. An observation whose action is
not in the file becomes a step of its own whose arguments are unknown. Token counts are those of the statistics that
stand before the step, and only where they agree with the count of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.domain.events import NoteAdded
from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import bare_action, parts_text, tool_definitions
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.edits import of_openhands
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_items import only
from core.formats.pictures import pictures_in
from core.formats.records import Records, gathered, records
from core.formats.rows import canonical, canonical_parts
from core.formats.source import Source, is_plain
from core.formats.values import as_json, code_of, dict_of, exit_error, float_of, int_of, text_of, time_of, usage_of

NAME = "openhands-sdk"
FOLDER_STATE = "base_state.json"
"""The file that stands for a conversation folder; its events lie beside it in `FOLDER`."""
FOLDER = "events"
_MAX_EVENTS = 200_000
_STATISTICS = ("kind", "key", "value")
_RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")


def recognises(source: Source) -> bool:
    """Whether the file holds events of the SDK, or is the state of a folder of them."""
    if source.name == FOLDER_STATE and "agent" in source.object:
        return bool(_event_files(source.path))
    objects = [v for v in source.samples if isinstance(v, dict)]
    fits = [v for v in objects
            if text_of(v.get("kind")).endswith(("Event", "Observation", "Condensation")) and "id" in v]
    return bool(objects) and len(fits) * 2 > len(objects)


def companions(files: Sequence[Path]) -> list[Path]:
    """The folder of a conversation's events."""
    return [path.parent / FOLDER for path in files if path.name == FOLDER_STATE and recognises(Source(path))]


def _event_files(state: Path) -> list[Path]:
    folder = state.parent / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = [p for p in folder.glob("*.json") if is_plain(p)]
    return sorted(found)[:_MAX_EVENTS]


def _records(source: Source) -> Records:
    if source.name != FOLDER_STATE:
        return records(source)
    return gathered(source, _event_files(source.path))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a conversation."""
    found = _records(source)
    events = found.items
    name = next((text_of(e.get("id")) for e in events if e.get("id")), "")
    builder = SessionBuilder(NAME, source.name, canonical_parts([name] if name else events), found.warnings)
    asked = next((_words(e) for e in events if e.get("kind") == "MessageEvent" and e.get("source") == "user"), "")
    builder.create(asked[:400] or source.name, asked, model=_model(events))
    _ConversationReader(builder, events).read()
    if not builder.steps:
        raise source.without_steps("action of the agent", found.warnings)
    _end(builder, events)
    yield builder.build()


def _statistics(event: dict[str, Any]) -> dict[str, Any]:
    if event.get("kind") != "ConversationStateUpdateEvent" or event.get("key") != "stats":
        return {}
    return dict_of(dict_of(dict_of(event.get("value")).get("usage_to_metrics")).get("default"))


def _model(events: Sequence[dict[str, Any]]) -> str:
    return next((m for e in only(events, *_STATISTICS) if (m := text_of(_statistics(e).get("model_name")))), "")


def _words(event: dict[str, Any]) -> str:
    return parts_text(dict_of(event.get("llm_message")).get("content"))


class _ConversationReader:
    def __init__(self, builder: SessionBuilder, events: Sequence[dict[str, Any]]) -> None:
        self._builder = builder
        self._events = events
        self._conversation = Conversation(builder)
        self._results: dict[str, list[int]] = {}
        self._tools = ""
        self._usage = Usage()
        self._before = (0, 0, 0.0)
        ids: set[str] = set()
        calls: set[str] = set()
        answers: list[tuple[int, str, str]] = []
        for place, event in enumerate(only(events, "kind", "id", "tool_call_id", "action_id")):
            call = text_of(event.get("tool_call_id"))
            if event.get("kind") == "ActionEvent":
                ids.add(text_of(event.get("id")))
                calls.add(call)
            elif event.get("kind") in _RESULTS:
                answers.append((place, text_of(event.get("action_id")), call))
                self._results.setdefault(call, []).append(place)
        self._orphans = {place for place, action, call in answers if action not in ids and call not in calls}
        self._with_actions = {place for place, _, _ in answers} - self._orphans
        """Results, which are looked at with their actions."""

    def read(self) -> None:
        """All events in order."""
        group: list[dict[str, Any]] = []
        for place in range(len(self._events)):
            if place in self._with_actions:
                continue
            event = self._events[place]
            kind = event.get("kind")
            if kind == "ActionEvent":
                if group and event.get("llm_response_id") != group[0].get("llm_response_id"):
                    group = self._close(group)
                group.append(event)
                continue
            if kind in ("MessageEvent", "Condensation", "SystemPromptEvent") or place in self._orphans:
                group = self._close(group)
            elif _statistics(event):
                group = self._close(group)
                self._count(_statistics(event))
            self._other(event, text_of(kind), place in self._orphans)
        self._close(group)

    def _close(self, group: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if group:
            results = [_result(self._events[place]) for e in group
                       for place in self._results.get(text_of(e.get("tool_call_id")), [])]
            first = group[0]
            self._conversation.add_step(ForeignStep(
                thought="\n".join(t for e in group if (t := parts_text(e.get("thought")))),
                reasoning=text_of(first.get("reasoning_content")), calls=tuple(_call(e) for e in group),
                results=results, started_at=time_of(first.get("timestamp")), usage=self._used(), tools=self._tools,
                ended_at=max((a.ended_at for a in results if a.ended_at), default=None)))
        return []

    def _other(self, event: dict[str, Any], kind: str, is_orphan: bool) -> None:
        at = time_of(event.get("timestamp"))
        if kind == "SystemPromptEvent":
            self._conversation.add_message(
                Message(role="system", content=parts_text([dict_of(event.get("system_prompt"))])))
            definitions = tool_definitions(event.get("tools"))
            self._tools = self._builder.blob(canonical(definitions)) if event.get("tools") else ""
        elif kind == "MessageEvent" and event.get("source") == "agent":
            message = dict_of(event.get("llm_message"))
            self._conversation.add_step(ForeignStep(thought=_words(event),
                                                    reasoning=text_of(message.get("reasoning_content")), started_at=at,
                                                    usage=self._used(), tools=self._tools))
        elif kind == "MessageEvent":
            self._conversation.add_pictures(dict_of(event.get("llm_message")).get("content"))
            self._conversation.add_person_turn(_words(event), at)
        elif kind == "Condensation":
            self._conversation.add_summary(text_of(event.get("summary")) or "Earlier events were left out.")
        elif kind in ("PauseEvent", "InterruptEvent"):
            text = "A person paused the agent." if kind == "PauseEvent" else "A person interrupted the agent."
            self._builder.fact(NoteAdded(step=self._builder.steps, text=text), at=at)
        elif is_orphan:
            name = text_of(event.get("id"))[:8]
            self._builder.warnings.append(f"The action of observation {name} is not in the file.")
            action = bare_action(event.get("tool_call_id"), event.get("tool_name"))
            self._conversation.add_step(ForeignStep(actions=(action,), results=[_result(event)], ended_at=at,
                                                    usage=self._used(), tools=self._tools))

    def _count(self, statistics: dict[str, Any]) -> None:
        """What the last answer used: the growth of the run's counts, if the count of the turn agrees."""
        used = dict_of(statistics.get("accumulated_token_usage"))
        now = (int_of(used.get("prompt_tokens")) or 0, int_of(used.get("completion_tokens")) or 0,
               float_of(statistics.get("accumulated_cost")) or 0.0)
        used_now = (now[0] - self._before[0], now[1] - self._before[1])
        paid, self._before = now[2] - self._before[2], now
        if used_now[0] + used_now[1] == used.get("per_turn_token"):
            self._usage = usage_of(used_now[0], used_now[1], None, paid if now[2] else None)
        else:
            self._usage = Usage()

    def _used(self) -> Usage:
        usage, self._usage = self._usage, Usage()
        return usage


def _call(event: dict[str, Any]) -> ToolCall:
    call = dict_of(event.get("tool_call"))
    function = dict_of(call.get("function")) or call
    action = {k: v for k, v in dict_of(event.get("action")).items() if k != "kind"}
    return ToolCall(id=text_of(event.get("tool_call_id")) or text_of(call.get("id")),
                    name=text_of(event.get("tool_name")) or text_of(function.get("name")) or "unknown",
                    arguments=as_json(function.get("arguments") or action))


def _result(event: dict[str, Any]) -> CallResult:
    call, at = text_of(event.get("tool_call_id")), time_of(event.get("timestamp"))
    if event.get("kind") == "AgentErrorEvent":
        text = as_json(event.get("error") or "")
        return CallResult(text=text, call=call, error=ActionError(kind="agent_error", message=text[:2000]), ended_at=at)
    if event.get("kind") == "UserRejectObservation":
        text = as_json(event.get("rejection_reason") or "")
        return CallResult(text=text, call=call, status="refused", ended_at=at,
                          error=ActionError(kind="refused", message=text[:2000] or "A person refused the action."))
    seen = dict_of(event.get("observation"))
    code = code_of(seen.get("exit_code"))
    text = parts_text(seen.get("content")) or as_json(seen.get("output") or "")
    error = exit_error(code)
    if seen.get("is_error") is True and error is None:
        error = ActionError(kind="tool_error", message=text[:500])
    timeout = seen.get("timeout") is True
    return CallResult(text=text, call=call, exit_code=code, status="timeout" if timeout else "finished", ended_at=at,
                      error=error, edit=of_openhands(seen) if error is None else None,
                      pictures=pictures_in(seen.get("content")))


def _end(builder: SessionBuilder, events: Sequence[dict[str, Any]]) -> None:
    stats: dict[str, Any] = {}
    failed: dict[str, Any] | None = None
    states: list[str] = []
    for event in only(events, *_STATISTICS, "code", "detail"):
        stats = _statistics(event) or stats
        if event.get("kind") == "ConversationErrorEvent":
            failed = event
        if event.get("key") == "execution_status":
            states.append(text_of(event.get("value")))
    if stats:
        used = dict_of(stats.get("accumulated_token_usage"))
        names = ("prompt_tokens", "completion_tokens", "cache_read_tokens")
        builder.totals({name: int_of(used.get(name)) for name in names})
    if failed is not None:
        builder.end("failed", text_of(failed.get("code")) or "error", text_of(failed.get("detail"))[:2000])
    elif states and states[-1] == "finished":
        builder.end("finished", "finished")
    else:
        builder.end("stopped", states[-1] if states else "end_not_recorded")


FORMAT = Format(name=NAME, title="OpenHands SDK conversation", recognises=recognises, read=read,
                companions=companions, parts_of=lambda path: [path.parent / FOLDER])
