"""Anthropic Messages: a system prompt of its own, blocks in turns, thinking with signatures, `count_tokens`."""

import re

import msgspec

from core.domain.message import Message
from core.domain.step import Usage
from core.formats.blocks import blocks_of, calls_of, input_tokens, results_of, text_blocks, thinking
from core.formats.chat import tool_definitions
from core.formats.values import as_json, dict_of, dicts_of, int_of, text_of
from core.gateway.dialect import Answer, AnswerStream, Body, CallOutcome, Dialect, Json, Purpose, spend
from core.gateway.sse import loose_json

_CALLS = ("tool_use", "server_tool_use")


class Anthropic(Dialect):
    """The dialect."""

    name = "anthropic"
    path = re.compile(r"/v1/messages(/count_tokens)?\Z")
    items = "messages"
    stored_state: tuple[str, ...] = ("container",)
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    key_field, key_prefix = "x-api-key", ""
    keeps_version = False

    def purpose(self, path: str) -> Purpose:
        return "count" if path.endswith("/count_tokens") else "complete"

    def opening(self, body: Body) -> list[Message]:
        text = text_blocks(body.get("system") or [])
        return [Message(role="system", content=text)] if text else []

    def tools(self, body: Body) -> list[Json]:
        named = [{**tool, "parameters": tool.get("input_schema", {})} for tool in dicts_of(body.get("tools"))]
        return tool_definitions(named)

    def messages(self, item: Json) -> list[Message]:
        """Results of calls are messages of their own, then the words."""
        content = item.get("content")
        if self.is_answer(item):
            return [_message(blocks_of(content))]
        role = "system" if item.get("role") == "system" else "user"
        words = text_blocks([b for b in blocks_of(content) if b.get("type") != "tool_result"])
        return [*(Message(role="tool", content=o.text, tool_call_id=o.call) for o in self.outcomes(item)),
                *([Message(role=role, content=words)] if words else [])]  # type: ignore[arg-type]

    def outcomes(self, item: Json) -> list[CallOutcome]:
        return [CallOutcome(call=text_of(b.get("tool_use_id")), text=text_blocks(b.get("content") or []),
                            failed=b.get("is_error") is True) for b in results_of(item.get("content"))]

    def put(self, item: Json, text: str) -> list[Json]:
        """Behind the results in the same turn, as two turns of one side may not follow each other."""
        block = {"type": "text", "text": text}
        if item.get("role") != "user":
            return [item, {"role": "user", "content": [block]}]
        return [{**item, "content": [*blocks_of(item.get("content")), block]}]

    def whole(self, body: Json) -> Answer:
        return Answer(message=_message(dicts_of(body.get("content"))), usage=_usage(dict_of(body.get("usage"))),
                      model=text_of(body.get("model")), finish=text_of(body.get("stop_reason")),
                      is_whole=body.get("type") == "message")

    def stream(self) -> AnswerStream:
        return _Stream()

    def late_error(self, status: int, body: bytes) -> bytes:
        error = dict_of(dict_of(loose_json(body)).get("error")) or {
            "type": "api_error", "message": f"The endpoint answered {status}."}
        return b"event: error\ndata: " + msgspec.json.encode({"type": "error", "error": error}) + b"\n\n"


class _Stream:
    def __init__(self) -> None:
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._grown: dict[tuple[int, str], list[str]] = {}
        """The pieces of texts, by block and key: to join them at each piece would cost the square of their length."""
        self._ended = False
        self._problem = ""

    def take(self, name: str, data: Json) -> None:
        place = int_of(data.get("index")) or 0
        match data.get("type"):
            case "message_start":
                self._message = dict_of(data.get("message"))
            case "content_block_start":
                self._blocks[place] = dict_of(data.get("content_block"))
            case "content_block_delta":
                self._grow(place, dict_of(data.get("delta")))
            case "message_delta":
                self._message |= {k: v for k, v in dict_of(data.get("delta")).items() if v is not None}
                self._message["usage"] = {**dict_of(self._message.get("usage")), **{
                    k: v for k, v in dict_of(data.get("usage")).items() if v is not None}}
            case "message_stop":
                self._ended = True
            case "error":
                self._problem = as_json(data.get("error"))[:500]

    def _grow(self, place: int, delta: Json) -> None:
        block = self._blocks.setdefault(place, {"type": "text"})
        for key in ("text", "thinking", "partial_json"):
            if isinstance(delta.get(key), str):
                self._grown.setdefault((place, key), [text_of(block.get(key))]).append(delta[key])

    @property
    def is_over(self) -> bool:
        return self._ended or bool(self._problem)

    @property
    def text(self) -> str:
        blocks = [self._whole(place, self._blocks[place]) for place in sorted(self._blocks)]
        return text_blocks(blocks) or thinking(blocks)

    def answer(self) -> Answer:
        content = [self._whole(place, self._blocks[place]) for place in sorted(self._blocks)]
        found = Anthropic().whole({**self._message, "content": content})
        return msgspec.structs.replace(found, is_whole=self._ended and not self._problem, problem=self._problem)

    def _whole(self, place: int, block: Json) -> Json:
        grown = {key: "".join(self._grown[place, key]) for key in ("text", "thinking", "partial_json")
                 if (place, key) in self._grown}
        written = grown.pop("partial_json", "")
        return {**block, **grown, **({"input": written} if written and block.get("type") in _CALLS else {})}


def _message(blocks: list[Json]) -> Message:
    return Message(role="assistant", content=text_blocks(blocks), tool_calls=calls_of(blocks),
                   reasoning=thinking(blocks))


def _usage(usage: Json) -> Usage:
    return spend(usage, input_tokens(usage), usage.get("output_tokens"), usage.get("cache_read_input_tokens"))


DIALECT = Anthropic()
