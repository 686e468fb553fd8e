"""Gemini `generateContent` and `streamGenerateContent`: contents of parts; calls need not have ids."""

import re

import msgspec

from core.domain.message import Message, ToolCall
from core.formats.chat import tool_definitions
from core.formats.values import as_json, dict_of, dicts_of, paragraphs, sum_of, text_of
from core.gateway.dialect import Answer, AnswerStream, Body, CallOutcome, Dialect, Json, Purpose, call_of, spend

_PATH = (r"/v1(?:beta|alpha)?/(?:models|tunedModels)/(?P<model>[\w.-]+)"
         r":(?:generateContent|streamGenerateContent|countTokens)")


class Gemini(Dialect):
    """The dialect. Its SDK knows no error within an answer."""

    name = "gemini"
    path = re.compile(_PATH + r"\Z")
    items = "contents"
    stored_state: tuple[str, ...] = ("cachedContent", "cached_content")
    ping = b"\n"  # its SDK gives an answer up after a comment
    key_field, key_prefix = "x-goog-api-key", ""
    keeps_version = False

    def purpose(self, path: str) -> Purpose:
        return "count" if path.endswith(":countTokens") else "complete"

    def is_stream(self, path: str, body: Body) -> bool:
        return path.endswith(":streamGenerateContent")

    def model(self, path: str, body: Body) -> str:
        found = self.path.match(path)
        return found["model"] if found else ""

    def opening(self, body: Body) -> list[Message]:
        given = dict_of(body.get("systemInstruction") or body.get("system_instruction"))
        text = paragraphs(*(text_of(p.get("text")) for p in dicts_of(given.get("parts"))))
        return [Message(role="system", content=text)] if text else []

    def tools(self, body: Body) -> list[Json]:
        found = [f for tool in dicts_of(body.get("tools")) for f in dicts_of(tool.get("functionDeclarations"))]
        return tool_definitions([{**f, "parameters": f.get("parametersJsonSchema") or f.get("parameters") or {}}
                                 for f in found])

    def messages(self, item: Json) -> list[Message]:
        """Results of calls are messages of their own, then the words."""
        parts = dicts_of(item.get("parts"))
        if self.is_answer(item):
            return [_message(parts)]
        words = paragraphs(*(_word(p) for p in parts if "functionResponse" not in p))
        return [*(Message(role="tool", content=o.text, tool_call_id=o.call) for o in self.outcomes(item)),
                *([Message(role="user", content=words)] if words else [])]

    def is_answer(self, item: Json) -> bool:
        return item.get("role") == "model"

    def outcomes(self, item: Json) -> list[CallOutcome]:
        """One without an id is known by its place and name. A doubled response counts once."""
        found: dict[str, CallOutcome] = {}
        for n, part in enumerate((p for p in dicts_of(item.get("parts")) if "functionResponse" in p), 1):
            given = dict_of(part["functionResponse"])
            response = dict_of(given.get("response"))
            output = response.get("output", response.get("error", response))
            call = text_of(given.get("id")) or f"{text_of(given.get('name'))}-{n}"
            found.setdefault(call, CallOutcome(call=call, text=as_json(output), name=text_of(given.get("name")),
                                               failed="error" in response))
        return [*found.values()]

    def put(self, item: Json, text: str) -> list[Json]:
        """Behind the results in the same content."""
        if item.get("role") == "model":
            return [item, {"role": "user", "parts": [{"text": text}]}]
        return [{**item, "parts": [*dicts_of(item.get("parts")), {"text": text}]}]

    def whole(self, body: Json) -> Answer:
        stream = _Stream()
        stream.take("", body)
        return stream.answer()

    def stream(self) -> AnswerStream:
        return _Stream()


class _Stream:
    def __init__(self) -> None:
        self._parts: list[Json] = []
        self._usage: Json = {}
        self._model = self._finish = self._problem = ""

    def take(self, name: str, data: Json) -> None:
        candidate = next(iter(dicts_of(data.get("candidates"))), {})
        self._parts += dicts_of(dict_of(candidate.get("content")).get("parts"))
        self._finish = text_of(candidate.get("finishReason")) or self._finish
        self._model = text_of(data.get("modelVersion")) or self._model
        self._usage = dict_of(data.get("usageMetadata")) or self._usage
        blocked = dict_of(data.get("promptFeedback")).get("blockReason")
        if data.get("error") or blocked:
            self._problem = as_json(data.get("error") or blocked)[:500]

    @property
    def is_over(self) -> bool:
        return bool(self._finish or self._problem)

    @property
    def text(self) -> str:
        return "".join(text_of(p.get("text")) for p in self._parts)

    def answer(self) -> Answer:
        made = sum_of(self._usage, "candidatesTokenCount", "thoughtsTokenCount")
        used = spend(self._usage, self._usage.get("promptTokenCount"), made, self._usage.get("cachedContentTokenCount"))
        return Answer(message=_message(self._parts), usage=used, model=self._model, finish=self._finish,
                      is_whole=bool(self._finish) and not self._problem, problem=self._problem)


def _word(part: Json) -> str:
    return text_of(part.get("text")) or ("" if "text" in part else f"[{next(iter(part), 'part')}]")


def _message(parts: list[Json]) -> Message:
    calls = [dict_of(p["functionCall"]) for p in parts if "functionCall" in p]
    words = "".join(text_of(p.get("text")) for p in parts if p.get("thought") is not True)
    thoughts = "".join(text_of(p.get("text")) for p in parts if p.get("thought") is True)
    return Message(role="assistant", content=words, reasoning=thoughts,
                   tool_calls=tuple(_call(c, n) for n, c in enumerate(calls, 1)))


def _call(call: Json, ordinal: int) -> ToolCall:
    name = text_of(call.get("name"))
    id = text_of(call.get("id")) or f"{name}-{ordinal}"
    return call_of(id, name, msgspec.json.encode(call.get("args") or {}).decode(), ordinal)


DIALECT = Gemini()
