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

from core.domain.errors import InvalidInput, ReportableError
from core.domain.message import ToolCall
from core.domain.step import ActionError, Usage
from core.formats.conversation import Answer, Conversation, Turn
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.rows import canonical
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, int_of, text_of, time_of, usage_of

NAME = "cline"
BESIDE = "ui_messages.json"
_CALLS = ("tool", "command", "use_mcp_server", "browser_action", "browser_action_launch", "mcp_server_request_started",
          "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "new_task")
_OUTPUTS = ("command_output", "mcp_server_response", "browser_action_result", "codebase_search_result",
            "subtask_result")
_ERRORS = ("error", "diff_error", "api_req_failed", "clineignore_error", "rooignore_error", "mistake_limit_reached",
           "command_permission_denied")


class Request(msgspec.Struct, frozen=True):
    """One request to the model: when it began, what it used, and which model was asked."""

    at: datetime | None
    usage: Usage
    model: str


def recognises(source: Source) -> bool:
    """Whether the file is a list of such messages."""
    told = [v for v in source.samples[:20] if isinstance(v, dict)] if source.shape == "list" else []
    return bool(told) and all(map(_is_message, told))


def _is_message(value: dict[str, Any]) -> bool:
    return "ts" in value and value.get("type") in ("ask", "say") and isinstance(value.get(str(value["type"])), str)


def requests_beside(path: Path) -> tuple[list[Request], str]:
    """The requests that a file beside `path` tells of, in order, and one sentence on what could not be read."""
    found = path.parent / BESIDE
    if found == path or not found.is_file() or found.is_symlink():
        return [], ""
    try:
        source = Source(found)
        if not recognises(source):
            return [], f"{BESIDE} beside it holds no messages of this program."
    except ReportableError as error:
        return [], error.sentence
    return [_request(m) for m in _messages(source) if m.get("say") == "api_req_started"], ""


def _messages(source: Source) -> list[dict[str, Any]]:
    return [m for m in dicts_of(source.json.value) if m.get("partial") is not True and _is_message(m)]


def _request(message: dict[str, Any]) -> Request:
    """The counts leave out what was written to and read from a cache."""
    told = dict_of(parse(text_of(message.get("text")).encode("utf-8", "replace")).value)
    parts = [int_of(told.get(k)) for k in ("tokensIn", "cacheWrites", "cacheReads")]
    given = sum(p or 0 for p in parts) if parts[0] is not None else None
    return Request(time_of(message.get("ts")), usage_of(given, told.get("tokensOut"), parts[2], told.get("cost")),
                   text_of(dict_of(message.get("modelInfo")).get("modelId")) or text_of(told.get("model")))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    messages = _messages(source)
    begins = next((n for n, m in enumerate(messages) if m.get("say") == "api_req_started"), None)
    if begins is None:
        raise InvalidInput("no_steps", f"{source.path} tells of no request. {source.json.problem}".strip(),
                           path=str(source.path))
    asked = next((text_of(m.get("text")) for m in messages[:begins] if m.get("say") in ("task", "text")), "")
    builder = SessionBuilder(NAME, source.path.name, canonical([BESIDE, messages[0].get("ts"), asked]))
    if source.json.problem:
        builder.warnings.append(f"{source.json.problem} What stands before it was read.")
    models = [r.model for m in messages if m.get("say") == "api_req_started" and (r := _request(m)).model]
    builder.create(asked[:400], asked, model=models[0] if models else "")
    _Reader(Conversation(builder), asked).read(messages[begins:])
    if not builder.steps:
        raise InvalidInput("no_steps", f"{source.path} holds no answer. {source.json.problem}".strip(),
                           path=str(source.path))
    builder.end("finished", "end_not_recorded")
    yield builder.build()


class _Reader:
    """Gathers a step from one request to the next."""

    def __init__(self, talk: Conversation, asked: str) -> None:
        self._talk = talk
        self._turn: Turn | None = None
        self._said: list[str] = []
        self._heard: list[tuple[str, datetime | None]] = []
        talk.ask(asked)

    def read(self, messages: Sequence[dict[str, Any]]) -> None:
        """All messages from the first request on."""
        for message in messages:
            kind, text = text_of(message.get(str(message["type"]))), text_of(message.get("text"))
            if kind == "api_req_started":
                self._close()
                request = _request(message)
                self._turn = Turn(usage=request.usage, started_at=request.at, model=request.model, answers=[])
            elif self._turn is not None:
                self._turn.ended_at = time_of(message.get("ts")) or self._turn.ended_at
                self._take(self._turn, kind, text, message)
        self._close()

    def _take(self, turn: Turn, kind: str, text: str, message: dict[str, Any]) -> None:
        if kind == "reasoning":
            turn.reasoning = "\n\n".join(t for t in (turn.reasoning, text or text_of(message.get("reasoning"))) if t)
        elif kind == "text":
            self._said.append(text)
        elif kind in _CALLS and text:
            turn.calls = (*turn.calls, _call(kind, text, len(turn.calls) + 1))
        elif kind in _OUTPUTS and text:
            self._output(turn, text, time_of(message.get("ts")))
        elif kind in _ERRORS:
            error = ActionError(kind=kind, message=text[:500])
            turn.answers.append(Answer(text=text, error=error, ended_at=time_of(message.get("ts"))))
        elif kind in ("user_feedback", "user_feedback_diff") and text:
            self._heard.append((text, time_of(message.get("ts"))))
        elif kind == "condense_context":
            self._close()
            summary = text_of(dict_of(message.get("contextCondense")).get("summary")) or text
            self._talk.summarise(summary or "The context was condensed; the file does not say to what.")

    def _output(self, turn: Turn, text: str, at: datetime | None) -> None:
        """Output of one command comes in pieces."""
        last = turn.answers[-1] if turn.answers else None
        call = turn.calls[-1].id if turn.calls else ""
        if last is not None and last.call == call and last.error is None:
            last.text, last.ended_at = f"{last.text}\n{text}", at
        else:
            turn.answers.append(Answer(text=text, call=call, ended_at=at))

    def _close(self) -> None:
        if self._turn is not None and (self._said or self._turn.calls or self._turn.answers or self._turn.reasoning):
            self._turn.thought = "\n\n".join(t for t in self._said if t)
            self._talk.step(self._turn)
        for text, at in self._heard:
            self._talk.ask(text, at)
        self._turn, self._said, self._heard = None, [], []


def _call(kind: str, text: str, place: int) -> ToolCall:
    """A call: JSON text of what the window showed, or words."""
    told = parse(text.encode("utf-8", "replace")).value
    if isinstance(told, dict):
        name = text_of(told.pop("tool", "")) or text_of(told.get("toolName")) or kind
        return ToolCall(id=str(place), name=name, arguments=as_json(told))
    key = "command" if kind == "command" else "text"
    return ToolCall(id=str(place), name={"command": "execute_command", "completion_result": "attempt_completion"}.get(
        kind, kind), arguments=as_json({key: text}))
