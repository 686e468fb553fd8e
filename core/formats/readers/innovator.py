"""InnovatorBench nodes: one node of a run, or a list, or lines of them.

A node holds the exact `messages` given to the model, its `response`, the action and the observation. A chain of nodes
gives a step each; of a single node the steps before it are read from its messages. The result of an evaluation is a
score at its step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.context import MessageRef
from core.domain.events import ScoreGiven
from core.domain.message import Message, ToolCall
from core.domain.step import ActionError
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of, float_of, int_of, text_of, time_of, usage_of
from core.formats.windows import edit_in

NAME = "innovatorbench"


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and {"node_type", "messages", "response"} <= value.keys() and (
        isinstance(value["messages"], list))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source)
    nodes = sorted((n for n in found.items if _is_node(n)), key=lambda n: int_of(n.get("depth")) or 0)
    first = nodes[0]
    builder = SessionBuilder(NAME, source.name, canonical([first.get("id"), first.get("timestamp")]),
                             found.warnings)
    messages = dicts_of(first.get("messages"))
    asked = next((text_of(m.get("content")) for m in messages if m.get("role") == "user"), "")
    model = text_of(dict_of(first.get("response")).get("model"))
    builder.create(asked[:400] or source.name, asked, task=text_of(first.get("id")), model=model)
    conversation = Conversation(builder)
    if len(nodes) == 1:
        _history(conversation, messages)
    known: dict[bytes, MessageRef] = {}
    for node in nodes:
        _node(conversation, node, known)
    builder.end("stopped", "end_not_recorded")
    yield builder.build()


def _history(conversation: Conversation, messages: Sequence[dict[str, Any]]) -> None:
    """The steps that a node's messages hold: each call with the tool's answer after it."""
    for place, message in enumerate(messages):
        call = dict_of(message.get("tool_call"))
        if message.get("role") == "assistant" and call:
            after = messages[place + 1] if place + 1 < len(messages) else {}
            result = dict_of(after.get("tool_result"))
            results = [_result(text_of(result.get("content")), text_of(result.get("call_id")))] if result else []
            conversation.add_step(ForeignStep(thought=text_of(message.get("content")),
                                              reasoning=text_of(message.get("reasoning")), calls=(_call(call),),
                                              results=results))
            _score(conversation.builder, _inner(text_of(result.get("content"))))
        elif message.get("role") != "tool":
            conversation.add_message(_message(message))
            if message.get("role") == "assistant" and not conversation.builder.steps:
                conversation.builder.warnings.append(
                    "The node begins after a summary: the steps before it are not in it.")


def _message(message: dict[str, Any]) -> Message:
    role, call, result = message.get("role"), dict_of(message.get("tool_call")), dict_of(message.get("tool_result"))
    return Message(role=role if role in ("system", "user", "assistant", "tool") else "user",
                   content=text_of(message.get("content")) or text_of(result.get("content")),
                   tool_calls=(_call(call),) if call else (), tool_call_id=text_of(result.get("call_id")),
                   reasoning=text_of(message.get("reasoning")))


def _call(call: dict[str, Any]) -> ToolCall:
    return make_call(call.get("call_id"), call.get("name"), call.get("arguments", {}))


def _node(conversation: Conversation, node: dict[str, Any], known: dict[bytes, MessageRef]) -> None:
    context = []
    for raw in dicts_of(node.get("messages")):
        key = canonical(raw)
        if key not in known:
            known[key] = conversation.builder.message(_message(raw))
        context.append(known[key])
    response, seen = dict_of(node.get("response")), dict_of(node.get("observation"))
    calls = tuple(_call(c) for c in dicts_of(response.get("tool_calls")))
    results = [_result(json.dumps(seen, ensure_ascii=False), calls[0].id if calls else "")] if seen else []
    used = dict_of(response.get("usage"))
    usage = usage_of(used.get("input_tokens"), used.get("output_tokens"), used.get("cache_read_input_tokens"))
    conversation.add_step(ForeignStep(thought=text_of(response.get("content")), usage=usage,
                                      reasoning=text_of(response.get("reasoning")), calls=calls, results=results,
                                      context=context,
                                      started_at=time_of(node.get("timestamp")), model=text_of(response.get("model")),
                                      finish_reason=text_of(response.get("finish_reason"))))
    _score(conversation.builder, seen)


def _inner(text: str) -> dict[str, Any]:
    """The object that a result is as JSON text; empty where it is none."""
    try:
        return dict_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _result(text: str, call: str) -> CallResult:
    """The result is JSON of `{success, message, output, …}`; its output is the text, or its message. An evaluation's
    is shown whole: its message holds no figure."""
    result = _inner(text)
    message = text_of(result.get("message"))
    error = ActionError(kind="failed", message=message[:2000]) if result.get("success") is False else None
    output = text_of(result.get("output")) or message or text
    return CallResult(text=text if _is_evaluation(result) else output, call=call, error=error, edit=edit_in(result))


def _is_evaluation(result: dict[str, Any]) -> bool:
    return result.get("observation_type") == "eval" and "overall_score" in result


def _score(builder: SessionBuilder, result: dict[str, Any]) -> None:
    """The score of an evaluation, from 0 to 100, with those of its metrics; one that broke has none."""
    if not _is_evaluation(result):
        return
    total = float_of(result.get("overall_score"))
    parts, texts = {}, [text_of(result.get("message"))]
    for name, metric in result.items():
        outcome = dict_of(dict_of(metric).get("eval_results"))
        if (part := float_of(outcome.get("score"))) is not None:
            parts[name] = part
        texts += [t for t in (text_of(outcome.get("message")), text_of(outcome.get("error"))) if t]
    known = total is not None and 0 <= total <= 100
    builder.fact(ScoreGiven(ordinal=int_of(result.get("already_eval_num")) or 1, step=builder.steps,
                            total=total if known else None, parts=parts, message=" ".join(filter(None, texts))[:500]))


FORMAT = Format(name=NAME, title="InnovatorBench nodes", recognises=any_sample(_is_node), read=read)
