"""What a program sent to a model and what came back, in the shape in which it happened to record that.

Traces hold the objects of whatever library a program asked with: messages of the chat API, items of OpenAI's
Responses, Anthropic's blocks, Gemini's contents, parts of OpenTelemetry's conventions, of the AI SDK, of Bedrock or of
Pydantic AI, LangChain's serialised messages. Read from those libraries' documentation. A part is words, reasoning, a
call, what came back for one, or something else, which is named in brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from core.domain.message import Message, Role, ToolCall
from core.formats.chat import content_text, make_call, read_calls, role_of
from core.formats.json_text import parse
from core.formats.values import as_json, dict_of, dicts_of, paragraphs, text_of

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "chat": "user", "HumanMessage": "user",
          "AIMessage": "assistant", "AIMessageChunk": "assistant", "SystemMessage": "system", "ToolMessage": "tool",
          "FunctionMessage": "tool", "tool-call": "assistant"}
_TEXTS = ("text", "input_text", "output_text", "refusal")
_REASONING = ("thinking", "reasoning", "redacted_thinking", "redacted-reasoning")
_CALLS = ("tool_call", "tool_use", "server_tool_use", "tool-call", "function_call", "custom_tool_call", "toolCall")
_RESULTS = ("tool_call_response", "tool_result", "tool-result", "function_call_output", "custom_tool_call_output")
_ITEMS = (*_CALLS, *_RESULTS, "reasoning")
"""The types of what stands for itself in a list of messages."""
_BARE = frozenset((*_ITEMS, *_TEXTS, *_REASONING))
"""The types of what stands in a message, which may stand alone in a list of messages."""
_CALL_KEYS = ("function_call", "functionCall", "toolUse")
_RESULT_KEYS = ("function_response", "functionResponse", "toolResult")
_WITH_CALLS = frozenset({"tool_calls", "toolCalls", "function_call", "additional_kwargs"})
_HOLDERS = ("messages", "contents", "input", "prompts", "prompt")

Part = tuple[Literal["words", "reasoning", "call", "result"], Any]


def json_of(value: Any) -> Any:
    """The value that text holds as JSON, or the text itself."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    parsed = parse(value.encode("utf-8", "replace"))
    return value if parsed.problem or parsed.value is None else parsed.value


# ---- parts -------------------------------------------------------------------------------------------


def _part(part: Any) -> Part:
    if not isinstance(part, dict):
        return "words", as_json(part)
    kind = text_of(part.get("type")) or text_of(part.get("kind"))
    inner = _inside(part, _CALL_KEYS)
    if inner is not None or kind in _CALLS:
        return "call", _call(inner if inner is not None else part)
    inner = _inside(part, _RESULT_KEYS)
    if inner is not None or kind in _RESULTS:
        return "result", _result(inner if inner is not None else part)
    if kind in _REASONING or kind.endswith("ReasoningContent") or part.get("thought") is True:
        held = [*dicts_of(part.get("summary")), *dicts_of(json_of(part.get("content")))]
        words = [text_of(part.get(k)) for k in ("thinking", "reasoning", "text")]
        words += [] if held else [text_of(part.get("content"))]
        return "reasoning", paragraphs(*words, *(text_of(p.get("text")) for p in held))
    if "reasoningContent" in part:
        return "reasoning", text_of(dict_of(dict_of(part["reasoningContent"]).get("reasoningText")).get("text"))
    text = part.get("text", part.get("refusal", part.get("content") if kind == "text" else None))
    if kind in (*_TEXTS, "") and text is not None:
        return "words", as_json(text)
    return "words", f"[{kind or next(iter(part), 'part')}]"


def _inside(part: dict[str, Any], keys: Sequence[str]) -> dict[str, Any] | None:
    for key in keys:
        if key in part:
            return dict_of(part[key])
    return None


def _call(part: dict[str, Any]) -> ToolCall:
    function = dict_of(part.get("function")) or part
    given: Any = next((function[k] for k in ("arguments", "args", "input") if function.get(k) is not None), {})
    return make_call(_named(part), text_of(function.get("name")) or function.get("toolName"), given, 0)


def _named(part: dict[str, Any]) -> str:
    """The id of the call that a part is, or answers."""
    return next((t for k in ("tool_use_id", "call_id", "toolCallId", "tool_call_id", "toolUseId", "id")
                 if (t := text_of(part.get(k)))), "")


def _result(part: dict[str, Any]) -> Message:
    """The answer to a call, as a message of its own."""
    made = next((part[k] for k in ("content", "response", "result", "output") if part.get(k) is not None), "")
    wrapped = dict_of(made)
    if wrapped.keys() == {"type", "value"}:  # the AI SDK says of each output whether it is text or JSON
        made = wrapped["value"]
    text = content_text(made) if _is_parts(made) else as_json(made)
    return Message(role="tool", content=text, tool_call_id=_named(part),
                   name=text_of(part.get("name")) or text_of(part.get("toolName")))


def _is_parts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(
        isinstance(p, dict) and ("type" in p or set(p) == {"text"}) for p in value)


# ---- messages ----------------------------------------------------------------------------------------


def fields_of(message: dict[str, Any]) -> dict[str, Any]:
    """A message's fields, which LangChain's serialisation has in `kwargs` or `data`."""
    inner = dict_of(message.get("kwargs")) or dict_of(message.get("data"))
    if not inner:
        return message
    names = message.get("id") if isinstance(message.get("id"), list) else []
    kind = text_of(inner.get("type")) or text_of(message.get("type")).removesuffix("constructor")
    return {**inner, "type": kind or (text_of(names[-1]) if names else "")}


def each_message(value: Any, default: Role = "user") -> Iterator[Message]:
    """The messages that one of a prompt stands for: results in it are messages of their own."""
    if not isinstance(value, dict):
        yield Message(role=default, content=content_text(value))
        return
    held = fields_of(value)
    parts = [_part(held)] if _is_bare(held) else _parts_of(held)
    role = _role(held, parts, default)
    if role == "tool" and not any(kind == "result" for kind, _ in parts):
        yield Message(role="tool", content=content_text(held.get("content")), name=text_of(held.get("name")),
                      tool_call_id=text_of(held.get("tool_call_id")) or text_of(held.get("id")))
        return
    yield from (answer for kind, answer in parts if kind == "result")
    rest = [(kind, found) for kind, found in parts if kind != "result"]
    if rest or len(rest) == len(parts):
        yield _message(role, held, rest)


def _is_bare(held: dict[str, Any]) -> bool:
    """Whether a member of a list of messages is no message, but what one has inside."""
    return "role" not in held and (text_of(held.get("type")) in _BARE or not (
        {"content", "parts", "tool_calls", "additional_kwargs"} & held.keys()))


def _parts_of(held: dict[str, Any]) -> list[Part]:
    content = held.get("parts", held.get("content"))
    if isinstance(content, dict):
        content = content.get("parts", [content])
    if content is None or isinstance(content, str):
        return [("words", content)] if content else []
    return [_part(p) for p in content] if isinstance(content, list) else [("words", as_json(content))]


def _role(held: dict[str, Any], parts: Iterable[Part], default: Role) -> Role:
    named = (held.get("role"), held.get("type"))
    kinds = {kind for kind, _ in parts}
    return next((r for n in named if (r := role_of(n) or role_of(_ROLES.get(text_of(n), "")))), (
        "assistant" if kinds & {"call", "reasoning"} else default))


def _message(role: Role, held: dict[str, Any], parts: Sequence[Part]) -> Message:
    words = "\n".join(text for kind, text in parts if kind == "words")
    calls = [call for kind, call in parts if kind == "call"] or _calls_beside(held)
    if role == "assistant" and not calls and words.startswith("[{") and (found := _calls_in(words)):
        words, calls = "", found
    reasons = [text for kind, text in parts if kind == "reasoning"]
    added = dict_of(held.get("additional_kwargs"))
    reasons += [text_of(one.get(k)) for one in (held, added) for k in ("reasoning_content", "reasoning")]
    return Message(role=role, content=words, tool_calls=_numbered(calls) if role == "assistant" else (),
                   reasoning=paragraphs(*reasons), name=text_of(held.get("name")))


def _calls_beside(held: dict[str, Any]) -> list[ToolCall]:
    """The calls that stand beside a message's content."""
    for one in (held, dict_of(held.get("additional_kwargs"))) if not _WITH_CALLS.isdisjoint(held) else ():
        beside = dicts_of(one.get("tool_calls")) or dicts_of(one.get("toolCalls"))
        if any("function" not in c and "custom" not in c for c in beside):
            return [_call(c) for c in beside]
        if found := read_calls(one):
            return list(found)
    return []


def _calls_in(words: str) -> list[ToolCall]:
    """Calls that a library wrote as the text of a message."""
    found = json_of(words)
    is_calls = isinstance(found, list) and all(
        isinstance(c, dict) and "id" in c and "name" in dict_of(c.get("function")) for c in found)
    return list(read_calls({"tool_calls": found})) if is_calls else []


def _numbered(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls without ids are named by their places."""
    return tuple(msgspec.structs.replace(call, id=str(n)) if call.id in ("", "0") else call
                 for n, call in enumerate(calls, 1))


# ---- prompts and answers -----------------------------------------------------------------------------


def read_prompt(given: Any) -> list[Message]:
    """A prompt: messages, an object that holds them (with instructions beside), or words."""
    given = json_of(given)
    if given in (None, "", {}, []):
        return []
    if isinstance(given, dict):
        held = next((given[k] for k in _HOLDERS if given.get(k) is not None), None)
        if held is None:
            is_message = {"role", "content", "parts", "kwargs"} & given.keys()
            return list(each_message(given)) if is_message else [Message(role="user", content=as_json(given))]
        system = _instructions(given)
        return [*([Message(role="system", content=system)] if system else []), *read_prompt(held)]
    while isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
        given = given[0]  # LangChain's batches
    if not isinstance(given, list):
        return [Message(role="user", content=content_text(given))]
    return list(_merged((m, _is_item(one)) for one in _answered([json_of(one) for one in given])
                        for m in each_message(one)))


def _answered(values: list[Any]) -> Iterator[Any]:
    """The members of a list; what answers a call may bear the tool's name as its role (LangGraph)."""
    called: set[str] = set()
    for value in values:
        held = fields_of(value) if isinstance(value, dict) else {}
        called |= {call.name for call in _calls_beside(held)}
        role = text_of(held.get("role"))
        yield {**held, "role": "tool", "name": role} if role in called else value


def _is_item(value: Any) -> bool:
    """Whether a member of a list of messages stands for itself, such as a call."""
    return isinstance(value, dict) and value.get("type") in _ITEMS and "role" not in value


def _instructions(given: dict[str, Any]) -> str:
    """What stands beside the messages as the system's words."""
    config = dict_of(given.get("config"))
    found = next((v for one in (given, config) for k in ("system", "instructions", "system_instruction",
                                                        "systemInstruction") if (v := one.get(k))), "")
    return "\n".join(text for kind, text in _parts_of({"content": found}) if kind == "words")


def _merged(messages: Iterable[tuple[Message, bool]]) -> Iterator[Message]:
    """Items of one answer (reasoning, words, calls) are one message."""
    held, was_item = None, False
    for message, is_item in messages:
        if held is not None and held.role == message.role == "assistant" and (is_item or was_item):
            held = _joined(held, message)
        else:
            if held is not None:
                yield held
            held = message
        was_item = is_item
    if held is not None:
        yield held


def _joined(first: Message, second: Message) -> Message:
    return Message(role="assistant", content=paragraphs(first.content, second.content), name=first.name,
                   tool_calls=(*first.tool_calls, *second.tool_calls),
                   reasoning=paragraphs(first.reasoning, second.reasoning))


def read_answer(made: Any) -> Message:
    """An answer: a message, the messages or items at the end of a list, an object that holds one, or words."""
    made = json_of(made)
    found = _answers(made)
    if not found:
        return Message(role="assistant")
    message = found[0]
    for more in found[1:]:
        message = _joined(message, more)
    return msgspec.structs.replace(message, tool_calls=_numbered(message.tool_calls))


def _answers(made: Any) -> list[Message]:
    if isinstance(made, list):
        if made and isinstance(made[0], list):
            return _answers(made[0])
        spoken = [m for one in made for m in _spoken(json_of(one))]
        last = next((n for n in range(len(spoken), 0, -1) if spoken[n - 1].role == "assistant"), 0)
        first = next((n for n in range(last, 0, -1) if spoken[n - 1].role != "assistant"), 0)
        return spoken[first:last]
    if not isinstance(made, dict):
        return [Message(role="assistant", content=content_text(made))] if made not in (None, "") else []
    for name in ("choices", "candidates", "generations", "output", "messages"):
        held = made.get(name)
        if isinstance(held, list) and held:
            return _answers(held if name in ("output", "messages") else held[0])
    inner = json_of(made.get("message")) or json_of(made.get("output"))
    if isinstance(inner, dict) and inner:
        return _answers(inner)
    return _whole(made)


def _whole(made: dict[str, Any]) -> list[Message]:
    """The message that an object is, or that its text and calls are."""
    content = made.get("content")
    if isinstance(content, dict) or {"content", "parts", "tool_calls", "kwargs", "data"} & made.keys():
        held = {**made, **content} if isinstance(content, dict) else made
        return [m for m in each_message({**held, "role": "assistant"}) if m.role == "assistant"]
    calls = dicts_of(json_of(made.get("toolCalls")))
    words = next((made[k] for k in ("completion", "text", "output") if isinstance(made.get(k), str)), None)
    if words is None and not calls:
        return [Message(role="assistant", content=as_json(made))]
    return [_message("assistant", {**made, "toolCalls": calls}, [("words", words)] if words else [])]


def _spoken(one: Any) -> Iterable[Message]:
    """The messages of a member of an answer's list: a message, a choice that holds one, a call of the AI SDK."""
    if isinstance(one, dict) and "role" not in one:
        if isinstance(one.get("message"), dict):
            return _answers(one["message"])
        if "toolCallId" in one and "type" not in one:
            return [Message(role="assistant", tool_calls=(_call(one),))]
    return each_message(one, "assistant")


def read_result(output: Any) -> tuple[str, str]:
    """The text of what a tool gave back, and the call that it answers where it says so."""
    held = json_of(output)
    if isinstance(output, str) and output.startswith('"'):  # text that was written as JSON
        words = parse(output.encode("utf-8", "replace")).value
        return words if isinstance(words, str) else output, ""
    inner = fields_of(held) if isinstance(held, dict) else {}
    if "content" in inner and (isinstance(inner["content"], str) or _is_parts(inner["content"])):
        return content_text(inner["content"]), text_of(inner.get("tool_call_id"))
    return as_json("" if output is None else output), ""
