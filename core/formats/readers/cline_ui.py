"""Cline's and Roo Code's `ui_messages.json`: what their window showed, `{ts, type: ask|say, …}` in a list.

Beside an `api_conversation_history.json` it gives that file's answers their times, tokens and costs. Alone it is a
session: a step from each request, its words, calls and outputs; what a person wrote back is guidance. What the model
was given is not in it, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import ReportableError
from core.domain.message import ToolCall
from core.domain.step import ActionError, Usage
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.rows import canonical
from core.formats.source import Source, is_plain
from core.formats.values import as_json, dict_of, dicts_of, paragraphs, sum_of, text_of, time_of, usage_of

NAME = "cline"
BESIDE = "ui_messages.json"
_CALLS = ("tool", "command", "use_mcp_server", "browser_action", "browser_action_launch", "mcp_server_request_started",
          "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "new_task")
_OUTPUTS = ("command_output", "mcp_server_response", "browser_action_result", "codebase_search_result",
            "subtask_result")
_ERRORS = ("error", "diff_error", "api_req_failed", "clineignore_error", "rooignore_error", "mistake_limit_reached",
           "command_permission_denied")


class ModelRequest(msgspec.Struct, frozen=True):
    """One request to the model: when it began, what it used, and which model was asked."""

    at: datetime | None
    usage: Usage
    model: str


def recognises(source: Source) -> bool:
    """Whether the file is a list of such messages."""
    messages = [v for v in source.samples[:20] if isinstance(v, dict)] if source.shape == "list" else []
    return bool(messages) and all(map(_is_message, messages))


def _is_message(value: dict[str, Any]) -> bool:
    return "ts" in value and value.get("type") in ("ask", "say") and isinstance(value.get(str(value["type"])), str)


def requests_beside(path: Path) -> tuple[list[ModelRequest], str]:
    """The requests in a file beside `path`, in order, and one sentence on what could not be read."""
    found = path.parent / BESIDE
    if found == path or not is_plain(found):
        return [], ""
    try:
        source = Source(found)
        if not recognises(source):
            return [], f"{BESIDE} beside it holds no messages of this program."
    except ReportableError as error:
        return [], error.sentence
    return [_read_request(m) for m in _messages(source) if m.get("say") == "api_req_started"], ""


def _messages(source: Source) -> list[dict[str, Any]]:
    return [m for m in dicts_of(source.json.value) if m.get("partial") is not True and _is_message(m)]


def _read_request(message: dict[str, Any]) -> ModelRequest:
    """The counts leave out what was written to and read from a cache."""
    request = dict_of(parse(text_of(message.get("text")).encode("utf-8", "replace")).value)
    usage = usage_of(sum_of(request, "tokensIn", "cacheWrites", "cacheReads"), request.get("tokensOut"),
                     request.get("cacheReads"), request.get("cost"))
    return ModelRequest(time_of(message.get("ts")), usage,
                   text_of(dict_of(message.get("modelInfo")).get("modelId")) or text_of(request.get("model")))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    messages = _messages(source)
    begins = next((n for n, m in enumerate(messages) if m.get("say") == "api_req_started"), None)
    if begins is None:
        raise source.without_steps("request", [source.json.problem])
    asked = next((text_of(m.get("text")) for m in messages[:begins] if m.get("say") in ("task", "text")), "")
    builder = SessionBuilder(NAME, source.name, canonical([BESIDE, messages[0].get("ts"), asked]), source.damage)
    models = [r.model for m in messages if m.get("say") == "api_req_started" and (r := _read_request(m)).model]
    builder.create(asked[:400], asked, model=models[0] if models else "")
    _WindowReader(Conversation(builder), asked).read(messages[begins:])
    if not builder.steps:
        raise source.without_steps("answer", [source.json.problem])
    yield builder.build_without_end()


class _WindowReader:
    """Gathers a step from one request to the next."""

    def __init__(self, conversation: Conversation, asked: str) -> None:
        self._conversation = conversation
        self._step: ForeignStep | None = None
        self._texts: list[str] = []
        self._person_turns: list[tuple[str, datetime | None]] = []
        conversation.add_person_turn(asked)

    def read(self, messages: Sequence[dict[str, Any]]) -> None:
        """All messages from the first request on."""
        for message in messages:
            kind, text = text_of(message.get(str(message["type"]))), text_of(message.get("text"))
            if kind == "api_req_started":
                self._close()
                request = _read_request(message)
                self._step = ForeignStep(usage=request.usage, started_at=request.at, model=request.model, results=[])
            elif self._step is not None:
                self._step.ended_at = time_of(message.get("ts")) or self._step.ended_at
                self._take(self._step, kind, text, message)
        self._close()

    def _take(self, step: ForeignStep, kind: str, text: str, message: dict[str, Any]) -> None:
        if kind == "reasoning":
            step.reasoning = paragraphs(step.reasoning, text or text_of(message.get("reasoning")))
        elif kind == "text":
            self._texts.append(text)
        elif kind in _CALLS and text:
            step.calls = (*step.calls, _call(kind, text, len(step.calls) + 1))
        elif kind in _OUTPUTS and text:
            self._output(step, text, time_of(message.get("ts")))
        elif kind in _ERRORS:
            error = ActionError(kind=kind, message=text[:500])
            step.results.append(CallResult(text=text, error=error, ended_at=time_of(message.get("ts"))))
        elif kind in ("user_feedback", "user_feedback_diff") and text:
            self._person_turns.append((text, time_of(message.get("ts"))))
        elif kind == "condense_context":
            self._close()
            summary = text_of(dict_of(message.get("contextCondense")).get("summary")) or text
            self._conversation.add_summary(summary or "The context was condensed; the file does not say to what.")

    def _output(self, step: ForeignStep, text: str, at: datetime | None) -> None:
        """Output of one command comes in pieces."""
        last = step.results[-1] if step.results else None
        call = step.calls[-1].id if step.calls else ""
        if last is not None and last.call == call and last.error is None:
            last.text, last.ended_at = f"{last.text}\n{text}", at
        else:
            step.results.append(CallResult(text=text, call=call, ended_at=at))

    def _close(self) -> None:
        if self._step is not None and (self._texts or self._step.calls or self._step.results or self._step.reasoning):
            self._step.thought = paragraphs(*self._texts)
            self._conversation.add_step(self._step)
        for text, at in self._person_turns:
            self._conversation.add_person_turn(text, at)
        self._step, self._texts, self._person_turns = None, [], []


def _call(kind: str, text: str, place: int) -> ToolCall:
    """A call: JSON text of what the window showed, or words."""
    value = parse(text.encode("utf-8", "replace")).value
    if isinstance(value, dict):
        name = text_of(value.pop("tool", "")) or text_of(value.get("toolName")) or kind
        return ToolCall(id=str(place), name=name, arguments=as_json(value))
    key = "command" if kind == "command" else "text"
    return ToolCall(id=str(place), name={"command": "execute_command", "completion_result": "attempt_completion"}.get(
        kind, kind), arguments=as_json({key: text}))


FORMAT = Format(name=NAME, title="Cline window messages", recognises=recognises, read=read, rank=1)
