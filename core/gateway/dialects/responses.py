"""OpenAI Responses: items instead of messages; a run of items is one answer, results are joined by `call_id`."""

import re

import msgspec

from core.domain.message import Message, ToolCall
from core.domain.step import Usage
from core.formats.chat import parts_text, role_of, tool_definitions
from core.formats.readers.codex_items import CALLS
from core.formats.values import as_json, dict_of, dicts_of, paragraphs, text_of
from core.gateway.dialect import Answer, AnswerStream, Body, CallOutcome, Dialect, Json, Purpose, call_of, spend
from core.gateway.sse import loose_json


class Responses(Dialect):
    """The dialect."""

    name = "responses"
    path = re.compile(r"(?:/v1)?/responses(?:/input_tokens)?\Z")
    items = "input"
    stored_state: tuple[str, ...] = ("previous_response_id", "conversation")
    ping = b'event: keepalive\ndata: {"type": "keepalive"}\n\n'
    key_field, key_prefix = "authorization", "Bearer "
    keeps_version = True

    def purpose(self, path: str) -> Purpose:
        return "count" if path.endswith("/input_tokens") else "complete"

    def opening(self, body: Body) -> list[Message]:
        text = text_of(body.get("instructions"))
        return [Message(role="system", content=text)] if text else []

    def tools(self, body: Body) -> list[Json]:
        """Tools of a namespace are named one by one."""
        found = [inner for tool in dicts_of(body.get("tools")) for inner in dicts_of(tool.get("tools")) or [tool]]
        return tool_definitions([{"name": text_of(t.get("type")), **t} for t in found])

    def messages(self, item: Json) -> list[Message]:
        if outcomes := self.outcomes(item):
            return [Message(role="tool", content=o.text, tool_call_id=o.call) for o in outcomes]
        if self.is_answer(item):
            return [answered([item])]
        role = role_of(item.get("role")) or "user"
        text = parts_text(item.get("content")) if "content" in item else as_json(item)
        return [Message(role=role, content=text)]

    def is_answer(self, item: Json) -> bool:
        kind = item.get("type")
        return kind in CALLS or kind == "reasoning" or item.get("role") == "assistant"

    def outcomes(self, item: Json) -> list[CallOutcome]:
        if not text_of(item.get("type")).endswith("_output"):
            return []
        output = item.get("output")
        text = parts_text(output) if isinstance(output, str | list) else as_json(output)
        return [CallOutcome(call=text_of(item.get("call_id")), text=text)]

    def put(self, item: Json, text: str) -> list[Json]:
        return [item, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]

    def whole(self, body: Json) -> Answer:
        ending = text_of(body.get("status"))
        problem = as_json(body["error"])[:500] if body.get("error") else ""
        return Answer(message=answered(dicts_of(body.get("output"))), usage=_usage(dict_of(body.get("usage"))),
                      model=text_of(body.get("model")), finish=ending, problem=problem,
                      is_whole=ending in ("completed", "incomplete") and not problem)

    def stream(self) -> AnswerStream:
        return _Stream()

    def late_error(self, status: int, body: bytes) -> bytes:
        found = dict_of(dict_of(loose_json(body)).get("error"))
        error = {"type": "error", "code": str(found.get("code") or status), "param": None,
                 "message": text_of(found.get("message")) or f"The endpoint answered {status}.", "sequence_number": 0}
        return b"event: error\ndata: " + msgspec.json.encode(error) + b"\n\n"


class _Stream:
    def __init__(self) -> None:
        self._items: dict[int, Json] = {}
        self._words: list[str] = []
        self._response: Json = {}
        self._problem = ""

    def take(self, name: str, data: Json) -> None:
        kind = text_of(data.get("type")) or name
        if kind == "response.output_item.done" and isinstance(data.get("output_index"), int):
            self._items[data["output_index"]] = dict_of(data.get("item"))
        elif kind == "response.output_text.delta":
            self._words.append(text_of(data.get("delta")))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self._response = dict_of(data.get("response"))
        elif kind == "error":
            self._problem = text_of(data.get("message")) or "error"

    @property
    def is_over(self) -> bool:
        return bool(self._response or self._problem)

    @property
    def text(self) -> str:
        return "".join(self._words)

    def answer(self) -> Answer:
        items = dicts_of(self._response.get("output")) or [self._items[place] for place in sorted(self._items)]
        found = Responses().whole({**self._response, "output": items})
        return msgspec.structs.replace(found, problem=self._problem or found.problem,
                                       is_whole=found.is_whole and not self._problem)


def answered(items: list[Json]) -> Message:
    """The one message of a run of answering items."""
    words = [parts_text(i.get("content")) for i in items if i.get("role") == "assistant"]
    thoughts = [text_of(part.get("text")) for i in items if i.get("type") == "reasoning"
                for part in [*dicts_of(i.get("summary")), *dicts_of(i.get("content"))]]
    calls = [i for i in items if i.get("type") in CALLS]
    return Message(role="assistant", content=paragraphs(*words), reasoning=paragraphs(*thoughts),
                   tool_calls=tuple(_call(c, n) for n, c in enumerate(calls, 1)))


def _call(item: Json, ordinal: int) -> ToolCall:
    match item.get("type"):
        case "function_call":
            return call_of(item.get("call_id"), item.get("name"), text_of(item.get("arguments")), ordinal)
        case "custom_tool_call":
            written = msgspec.json.encode({"input": item.get("input", "")}).decode()
            return call_of(item.get("call_id"), item.get("name"), written, ordinal)
        case kind:
            about = item.get("action") if isinstance(item.get("action"), dict) else {
                k: v for k, v in item.items() if k not in ("type", "id", "call_id", "status")}
            name = text_of(item.get("name")) or text_of(kind).removesuffix("_call")
            return call_of(item.get("call_id") or item.get("id"), name, msgspec.json.encode(about).decode(), ordinal)


def _usage(usage: Json) -> Usage:
    cached = dict_of(usage.get("input_tokens_details")).get("cached_tokens")
    return spend(usage, usage.get("input_tokens"), usage.get("output_tokens"), cached)


DIALECT = Responses()
