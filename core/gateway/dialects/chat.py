"""OpenAI Chat Completions: one list of messages, calls and their answers joined by `tool_call_id`."""

import re

import msgspec

from core.domain.message import Message
from core.domain.step import Usage
from core.formats.chat import content_text, read_calls, role_of, tool_definitions
from core.formats.values import as_json, dict_of, dicts_of, text_of
from core.gateway.dialect import Answer, AnswerStream, Body, CallOutcome, Dialect, Json, call_of, spend
from core.gateway.sse import loose_json


class Chat(Dialect):
    """The dialect."""

    name = "chat"
    path = re.compile(r"(?:/v1)?/chat/completions\Z")
    items = "messages"
    stored_state: tuple[str, ...] = ("previous_response_id", "conversation")
    ping = b": waiting\n\n"
    key_field, key_prefix = "authorization", "Bearer "
    keeps_version = True

    def opening(self, body: Body) -> list[Message]:
        """The system prompt is the first item."""
        return []

    def tools(self, body: Body) -> list[Json]:
        return tool_definitions(body.get("tools"))

    def messages(self, item: Json) -> list[Message]:
        return [_message(item)]

    def outcomes(self, item: Json) -> list[CallOutcome]:
        if item.get("role") != "tool":
            return []
        return [CallOutcome(call=text_of(item.get("tool_call_id")), text=content_text(item.get("content")))]

    def put(self, item: Json, text: str) -> list[Json]:
        return [item, {"role": "user", "content": text}]

    def whole(self, body: Json) -> Answer:
        choice = next(iter(dicts_of(body.get("choices"))), {})
        return Answer(message=_message({**dict_of(choice.get("message")), "role": "assistant"}),
                      usage=_usage(dict_of(body.get("usage"))), model=text_of(body.get("model")),
                      finish=text_of(choice.get("finish_reason")), is_whole=bool(choice))

    def stream(self) -> AnswerStream:
        return _Stream()

    def late_error(self, status: int, body: bytes) -> bytes:
        error = dict_of(loose_json(body)).get("error") or {
            "message": f"The endpoint answered {status}.", "code": status}
        return b"data: " + msgspec.json.encode({"error": error}) + b"\n\n"


class _Stream:
    def __init__(self) -> None:
        self._words: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, list[str]]] = {}
        self._usage: Json = {}
        self._model = self._finish = self._problem = ""

    def take(self, name: str, data: Json) -> None:
        self._model = text_of(data.get("model")) or self._model
        self._usage = dict_of(data.get("usage")) or self._usage
        if data.get("error"):
            self._problem = as_json(data["error"])[:500]
        for choice in dicts_of(data.get("choices"))[:1]:
            delta = dict_of(choice.get("delta"))
            self._words.append(text_of(delta.get("content")))
            self._reasoning.append(text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning")))
            for piece in dicts_of(delta.get("tool_calls")):
                self._call(piece)
            self._finish = text_of(choice.get("finish_reason")) or self._finish

    def _call(self, piece: Json) -> None:
        index = piece.get("index")
        call = self._calls.setdefault(index if isinstance(index, int) else len(self._calls),
                                      {"id": [], "name": [], "arguments": []})
        function = dict_of(piece.get("function"))
        call["id"][:1] = [text_of(piece["id"])] if piece.get("id") else call["id"]
        call["name"].append(text_of(function.get("name")))
        call["arguments"].append(text_of(function.get("arguments")))

    @property
    def is_over(self) -> bool:
        return bool(self._finish or self._problem)

    @property
    def text(self) -> str:
        return "".join(self._words) or "".join(self._reasoning)

    def answer(self) -> Answer:
        calls = tuple(call_of("".join(c["id"]), "".join(c["name"]), "".join(c["arguments"]), n)
                      for n, (_, c) in enumerate(sorted(self._calls.items()), 1))
        message = Message(role="assistant", content="".join(self._words), tool_calls=calls,
                          reasoning="".join(self._reasoning))
        return Answer(message=message, usage=_usage(self._usage), model=self._model, finish=self._finish,
                      is_whole=bool(self._finish) and not self._problem, problem=self._problem)


def _message(item: Json) -> Message:
    role = role_of(item.get("role")) or "user"
    return Message(role=role, content=content_text(item.get("content")),
                   tool_calls=read_calls(item) if role == "assistant" else (),
                   tool_call_id=text_of(item.get("tool_call_id")), name=text_of(item.get("name")),
                   reasoning=text_of(item.get("reasoning_content")) or text_of(item.get("reasoning")))


def _usage(usage: Json) -> Usage:
    cached = dict_of(usage.get("prompt_tokens_details")).get("cached_tokens")
    return spend(usage, usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)


DIALECT = Chat()
