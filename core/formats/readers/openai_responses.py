"""OpenAI's Responses API: stored responses (one, a list, or lines of them; also with their request) and lists of items.

A response is a step: its words, reasoning and calls; what answers them stands in the `input` of a later one. Responses
that stand in one file are one session. A bare list of items (what the API lists as a response's input items, or a
conversation's) is cut where the model was asked again. Tools that the API itself runs (web search, files, code) have
their results in the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call, parts_text, role_of
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.dialogue import tools_blob
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import Records, records
from core.formats.rows import canonical, canonical_parts
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, float_of, paragraphs, text_of, time_of, usage_of

NAME = "openai-responses"
_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
          "custom_tool_call_output")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output",
            "shell_call_output", "apply_patch_call_output")
_NAMES = ("msg_", "rs_", "fc_")
_OWN = {"type", "id", "status", "call_id", "name", "arguments", "input", "output", "outputs", "results", "error",
        "action"}


def recognises(source: Source) -> bool:
    """Whether the file is a response, holds responses, or is a list of items."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    return any(map(_response, values)) or _are_items(values) or _are_items(dicts_of(source.object.get("data"))[:20])


def _response(value: dict[str, Any]) -> dict[str, Any]:
    """The response that an object is, or that stands beside its request; else an empty one."""
    for one in (value, dict_of(value.get("response")), dict_of(value.get("body"))):
        if one.get("object") == "response" and isinstance(one.get("output"), list):
            return one
    return {}


def _are_items(values: Sequence[dict[str, Any]]) -> bool:
    """Whether all are items of a conversation, of which one has a mark of its own."""
    marks = [v for v in values if v.get("type") in _ITEMS[1:] or text_of(v.get("id")).startswith(_NAMES)]
    return bool(marks) and all(v.get("type") in _ITEMS or text_of(v.get("type")).endswith(("_call", "_call_output"))
                               for v in values) and not any("payload" in v or "timestamp" in v for v in values)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    bare = dicts_of(source.object.get("data")) if _are_items(dicts_of(source.object.get("data"))[:20]) else []
    found = records(source) if not bare else Records(bare, tuple(source.damage))
    held = [_response(r) for r in found.items]
    builder = SessionBuilder(NAME, source.name, _identity(found.items, held), found.warnings)
    asks = [_input(record) for record in found.items] if any(held) else [found.items]
    asked = next((t for ask in asks for item in ask if item.get("role") == "user" and (t := _words(item))), "")
    model = next((t for r in held if (t := text_of(r.get("model")))), "")
    builder.create(asked[:400], asked, model=model, task=text_of(dict_of(held[0] if held else {}).get("id")))
    reader = _Reader(builder)
    if any(held):
        for record, response in zip(found.items, held, strict=True):
            if response:
                reader.respond(record, response)
    else:
        reader.walk(found.items)
    reader.close()
    if not builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    reader.end()
    yield builder.build()


def _identity(items: Sequence[dict[str, Any]], responses: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    names = [text_of(r.get("id")) for r in responses if r] or [text_of(i.get("id")) for i in items[:2]]
    return canonical_parts(names[:1] if names and names[0] else items)


def _input(record: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """The items that a request, or a response that repeats it, was given."""
    for one in (dict_of(record.get("request")), record, _response(record)):
        if isinstance(given := one.get("input"), str):
            return [{"type": "message", "role": "user", "content": given}]
        if isinstance(given, list):
            return dicts_of(given)
    return []


def _words(item: dict[str, Any]) -> str:
    return parts_text(item.get("content"))


class _Reader:
    """Gathers answers; each item of a file that repeats earlier ones is taken once."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._seen: set[bytes] = set()
        self._items: list[dict[str, Any]] = []
        self._results: list[CallResult] = []
        self._response: dict[str, Any] = {}
        self._last: dict[str, Any] = {}

    def respond(self, record: dict[str, Any], response: dict[str, Any]) -> None:
        """One response, with what it was given."""
        given = _input(record)
        instructions = text_of(response.get("instructions"))
        if instructions and not self._builder.steps and not self._items:
            self._conversation.add_message(Message(role="system", content=instructions))
        for item in given:
            self._take(item)
        self.close()
        self._response = self._last = response
        for item in dicts_of(response.get("output")):
            self._seen.add(_mark(item))
            self._items.append(item)

    def walk(self, items: Sequence[dict[str, Any]]) -> None:
        """Items without responses."""
        for item in items:
            self._take(item)

    def _take(self, item: dict[str, Any]) -> None:
        mark = _mark(item)
        if mark in self._seen:
            return
        self._seen.add(mark)
        kind, role = item.get("type", "message"), item.get("role")
        if kind in _OUTPUTS:
            self._results.append(_result(item))
        elif kind == "message" and role != "assistant":
            self.close()
            self._say(item, _words(item))
        else:
            if self._results:
                self.close()
            self._items.append(item)

    def _say(self, item: dict[str, Any], text: str) -> None:
        if item.get("role") == "user":
            self._conversation.add_person_turn(text)
        else:
            self._conversation.add_message(Message(role=role_of(item.get("role")) or "system", content=text))

    def close(self) -> None:
        """What was gathered is a step."""
        items, results, response = self._items, self._results, self._response
        self._items, self._results, self._response = [], [], {}
        if not items:
            for result in results:
                self._conversation.add_message(Message(role="tool", content=result.text, tool_call_id=result.call))
            return
        called = [i for i in items if text_of(i.get("type")).endswith("_call")]
        calls = tuple(_call(item, n) for n, item in enumerate(called, 1))
        own = [r for item, call in zip(called, calls, strict=True) if (r := _own_result(item, call.id)) is not None]
        reasons = [text_of(p.get("text")) for i in items if i.get("type") == "reasoning"
                   for p in [*dicts_of(i.get("summary")), *dicts_of(i.get("content"))]]
        incomplete = text_of(dict_of(response.get("incomplete_details")).get("reason"))
        self._conversation.add_step(ForeignStep(
            thought=paragraphs(*(_words(i) for i in items if i.get("type", "message") == "message")),
            reasoning=paragraphs(*reasons), calls=calls, results=[*own, *results], usage=_usage(response),
            started_at=time_of(float_of(response.get("created_at"))),
            ended_at=time_of(float_of(response.get("completed_at"))), model=text_of(response.get("model")),
            finish_reason=incomplete or text_of(response.get("status")),
            tools=tools_blob(self._builder, response.get("tools")) if response.get("tools") else "",
            item=text_of(response.get("id")) or text_of(items[0].get("id"))))

    def end(self) -> None:
        """How it ended: the last response says whether it failed."""
        error = dict_of(self._last.get("error"))
        failed = self._last.get("status") == "failed"
        self._builder.end("failed" if failed else "finished", text_of(error.get("code")) or (
            "failed" if failed else "end_not_recorded"), text_of(error.get("message"))[:2000])


def _mark(item: dict[str, Any]) -> bytes:
    """What tells an item that is repeated in a later request: its id, the call that it is of, or itself."""
    name = text_of(item.get("id")) or text_of(item.get("call_id"))
    return canonical([item.get("type"), name] if name else item)


def _call(item: dict[str, Any], place: int) -> ToolCall:
    kind = text_of(item.get("type"))
    name = text_of(item.get("name")) or kind.removesuffix("_call")
    arguments = item.get("arguments", item.get("action"))
    if kind == "custom_tool_call":
        arguments = {"input": item.get("input", "")}
    if arguments is None:
        arguments = {k: v for k, v in item.items() if k not in _OWN}
    return make_call(text_of(item.get("call_id")) or text_of(item.get("id")), name, arguments, place)


def _own_result(item: dict[str, Any], call: str) -> CallResult | None:
    """The result of a tool that the API runs itself, where the file has it."""
    output = item.get("output", item.get("outputs", item.get("results")))
    failed = item.get("error") or ("The call failed." if item.get("status") == "failed" else "")
    if output is None and not failed:
        return None
    text = as_json(output if output is not None else failed)
    return CallResult(text=text, call=call, error=ActionError(kind="tool_error", message=as_json(failed)[:2000])
                      if failed else None)


def _result(item: dict[str, Any]) -> CallResult:
    output = item.get("output")
    text = parts_text(output) if isinstance(output, list) else as_json("" if output is None else output)
    return CallResult(text=text, call=text_of(item.get("call_id")))


def _usage(response: dict[str, Any]) -> Usage:
    used = dict_of(response.get("usage"))
    return usage_of(used.get("input_tokens"), used.get("output_tokens"),
                    dict_of(used.get("input_tokens_details")).get("cached_tokens"))


FORMAT = Format(name=NAME, title="OpenAI Responses", recognises=recognises, read=read, rank=1)
