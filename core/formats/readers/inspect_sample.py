"""One sample of an Inspect log as a session.

A step is a `model` event with the `tool` events that answer its calls; its input is the exact context. Attachments
and references into the message pool are resolved first. Events of subagents stand where they happened, so a
subagent's steps are among its caller's. A sample without model events is read from its messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.context import MessageRef
from core.domain.events import NoteAdded, ScoreGiven
from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import bare_action, tool_definitions
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.imported import Imported, SessionBuilder
from core.formats.pictures import pictures_in
from core.formats.rows import canonical
from core.formats.values import as_json, dict_of, dicts_of, float_of, int_of, sum_of, text_of, time_of, usage_of

NAME = "inspect"
_ATTACHED = re.compile(r"(?:attachment|tc)://([0-9a-f]{1,64})")
"""Where a text was put elsewhere; logs of 2024 name it `tc`."""

_LETTERS = {"C": 100.0, "I": 0.0, "P": 50.0, "N": 0.0}
_LONGEST = 64 * 1024 * 1024
"""Characters that one text may reach by having its attachments put in."""


def session(source: str, log: dict[str, Any], sample: dict[str, Any]) -> Imported | str:
    """The session of a sample, or one sentence on why there is none."""
    if transcript := dict_of(sample.get("transcript")):  # as logs of 2024 name it
        sample = {**sample, "events": transcript.get("events"), "attachments": transcript.get("content")}
    evaluation = dict_of(log.get("eval"))
    names = [evaluation.get(k) for k in ("run_id", "eval_id", "task_id", "created")]
    builder = SessionBuilder(NAME, source, canonical([names, sample.get("id"), sample.get("epoch")]))
    reader = _SampleReader(builder, sample)
    events = list(_flat(dicts_of(sample.get("events"))))
    asked = reader.resolve(sample.get("input"))
    text = asked if isinstance(asked, str) else next(
        (_text(m.get("content")) for m in dicts_of(asked) if m.get("role") == "user"), "")
    task = text_of(evaluation.get("task"))
    builder.create(f"{task}, sample {as_json(sample.get('id'))}, epoch {as_json(sample.get('epoch'))}", text, task=task,
                   model=text_of(evaluation.get("model")))
    if any(e.get("event") == "model" for e in events):
        reader.read_events(events)
    else:
        reader.read_messages(dicts_of(reader.resolve(sample.get("messages"))))
    if not builder.steps:
        return "it holds no answer of the model."
    for name, score in dict_of(sample.get("scores")).items():
        _score(builder, name, dict_of(score))
    _end(builder, sample)
    return builder.build()


def expand(refs: Any, pool: Sequence[Any]) -> list[Any]:
    """The items that half-open ranges name."""
    found: list[Any] = []
    for ref in refs if isinstance(refs, list) else []:
        if isinstance(ref, list) and len(ref) == 2 and all(int_of(n) is not None for n in ref):
            found.extend(pool[ref[0] : min(ref[1], len(pool))])
        elif int_of(ref) is not None and ref < len(pool):
            found.append(pool[ref])
        if len(found) > 1_000_000:
            break
    return found


def _flat(events: Sequence[dict[str, Any]], depth: int = 0) -> Iterator[dict[str, Any]]:
    """All events in order, with those that older versions keep inside tools and subtasks."""
    for event in events:
        if event.get("pending") is not True:
            yield event
        if depth < 20:
            yield from _flat(dicts_of(event.get("events")), depth + 1)


class _SampleReader:
    def __init__(self, builder: SessionBuilder, sample: dict[str, Any]) -> None:
        self._conversation = Conversation(builder, "")
        self._builder = builder
        self._attached = dict_of(sample.get("attachments"))
        pool = sample.get("message_pool") or dict_of(sample.get("events_data")).get("messages")
        self._pool = pool if isinstance(pool, list) else []
        self._pooled: dict[int, MessageRef] = {}
        self._operator_turns: set[str] = set()

    def resolve(self, value: Any) -> Any:
        """The value with its attachments put in."""
        match value:
            case str() if "://" in value and self._attached:
                whole = _ATTACHED.sub(lambda m: text_of(self._attached.get(m[1])) or m[0], value)
                return whole if len(whole) <= _LONGEST else value
            case dict():
                return {k: self.resolve(v) for k, v in value.items()}
            case list():
                return [self.resolve(v) for v in value]
        return value

    def read_events(self, events: Sequence[dict[str, Any]]) -> None:
        """Steps from model events; answers are found by the call's id, wherever they stand."""
        tools: dict[str, list[dict[str, Any]]] = {}
        for event in events:
            if event.get("event") == "tool":
                tools.setdefault(text_of(event.get("id")), []).append(event)
        for place, event in enumerate(events):
            kind = event.get("event")
            if kind == "model":
                self._step(event, tools)
            elif kind == "compaction":
                self._compacted(event, next((e for e in events[place + 1 :] if e.get("event") == "model"), {}))
            elif kind == "input" and self._builder.steps:
                self._conversation.add_guidance(text_of(self.resolve(event.get("input"))),
                                                time_of(event.get("timestamp")))
            elif kind == "score" and event.get("intermediate") is True:
                _score(self._builder, "intermediate", dict_of(event.get("score")))

    def _compacted(self, event: dict[str, Any], next_request: dict[str, Any]) -> None:
        """The summary stands in the next input, as a message that says that it is one; other kinds have none."""
        tokens = [f"{int_of(event.get(k)):,}" if int_of(event.get(k)) is not None else "?"
                for k in ("tokens_before", "tokens_after")]
        counted = (f"The context was compacted ({text_of(event.get('type')) or 'unknown'}): {tokens[0]} tokens before, "
                   f"{tokens[1]} after.")
        marked = [m for m in self._input(next_request) if "summary" in dict_of(m.get("metadata"))]
        text = _text(self.resolve(marked[-1].get("content"))) if marked else ""
        self._conversation.add_summary(text or counted, enters_context=False)
        if text:
            self._builder.fact(NoteAdded(step=self._builder.steps, text=counted))

    def _input(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """The raw messages of an input."""
        refs = event.get("input_refs")
        return dicts_of(expand(refs, self._pool) if isinstance(refs, list) and refs else event.get("input"))

    def _step(self, event: dict[str, Any], tools: dict[str, list[dict[str, Any]]]) -> None:
        context = self._context(event)
        output = dict_of(self.resolve(event.get("output")))
        choice = dict_of(next(iter(dicts_of(output.get("choices"))), {}))
        answer = _message(dict_of(choice.get("message")), "assistant")
        results = [_tool_result(self.resolve(t)) for c in answer.tool_calls for t in tools.get(c.id, [])[:1]]
        for call in answer.tool_calls:
            tools[call.id] = tools.get(call.id, [])[1:]
        if problem := text_of(self.resolve(event.get("error"))):
            results.append(CallResult(text=problem, error=ActionError(kind="model_error", message=problem[:500])))
        tools_given = tool_definitions(self.resolve(event.get("tools")))
        self._conversation.add_step(ForeignStep(
            thought=answer.content, reasoning=answer.reasoning, calls=answer.tool_calls, results=results,
            context=context, usage=_usage(dict_of(output.get("usage"))), started_at=time_of(event.get("timestamp")),
            ended_at=time_of(event.get("completed")), model=text_of(event.get("model")),
            finish_reason=text_of(choice.get("stop_reason")),
            tools=self._builder.blob(canonical(tools_given)) if tools_given else ""))

    def _context(self, event: dict[str, Any]) -> list[MessageRef]:
        refs = event.get("input_refs")
        if isinstance(refs, list) and refs:
            return [self._pooled_ref(n) for n in expand(refs, range(len(self._pool)))]
        return [self._message_ref(m) for m in dicts_of(event.get("input"))]

    def _pooled_ref(self, place: int) -> MessageRef:
        if place not in self._pooled:
            self._pooled[place] = self._message_ref(dict_of(self._pool[place]))
        return self._pooled[place]

    def _message_ref(self, raw: dict[str, Any]) -> MessageRef:
        """A message of a context; an operator's words since the step before are guidance."""
        message = _message(self.resolve(raw), "user")
        name = text_of(raw.get("id")) or message.content
        if raw.get("source") == "operator" and name not in self._operator_turns and self._builder.steps:
            self._conversation.add_guidance(message.content)
        if raw.get("source") == "operator":
            self._operator_turns.add(name)
        return self._builder.message(message)

    def read_messages(self, messages: Sequence[dict[str, Any]]) -> None:
        """Steps from the final conversation, for logs without events."""
        for raw, results in grouped(messages, lambda raw, after: after.get("role") == "tool" and (
                raw.get("role") in ("assistant", "tool"))):
            if raw.get("role") == "assistant":
                answer = _message(raw, "assistant")
                self._conversation.add_step(ForeignStep(
                    thought=answer.content, reasoning=answer.reasoning, calls=answer.tool_calls,
                    results=[_message_result(m) for m in results], model=text_of(raw.get("model"))))
            elif raw.get("role") == "tool":
                self._orphans([raw, *results])
            else:
                message = _message(raw, "user")
                self._conversation.add_pictures(raw.get("content"))
                if self._builder.steps and message.role == "user" and raw.get("source") == "operator":
                    self._conversation.add_person_turn(message.content)
                else:
                    self._conversation.add_message(message)

    def _orphans(self, results: Sequence[dict[str, Any]]) -> None:
        self._builder.warnings.append(f"The answer that made {len(results)} calls is not in the file.")
        actions = tuple(bare_action(m.get("tool_call_id"), m.get("function")) for m in results)
        self._conversation.add_step(ForeignStep(actions=actions, results=[_message_result(m) for m in results]))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = []
    for part in dicts_of(content):
        kind = text_of(part.get("type"))
        if kind == "text":
            texts.append(text_of(part.get("text")))
        elif kind != "reasoning":
            texts.append(f"[{kind or 'part'}]")
    return "\n".join(texts)


def _message(raw: dict[str, Any], default: str) -> Message:
    role = raw.get("role", default)
    reasoning = "\n".join(t for p in dicts_of(raw.get("content"))
                          if (t := ("" if p.get("redacted") is True else text_of(p.get("reasoning")))
                              or text_of(p.get("summary"))))  # what is redacted is a cipher, not words
    calls = tuple(ToolCall(id=text_of(c.get("id")), name=text_of(c.get("function")) or "unknown",
                           arguments=as_json(c.get("arguments", {}))) for c in dicts_of(raw.get("tool_calls")))
    return Message(role=role if role in ("system", "user", "assistant", "tool") else "user",
                   content=_text(raw.get("content")), tool_calls=calls, reasoning=reasoning,
                   tool_call_id=text_of(raw.get("tool_call_id")), name=text_of(raw.get("function")))


def _error(raw: Any) -> ActionError | None:
    error = dict_of(raw)
    if not error:
        return None
    return ActionError(kind=text_of(error.get("type")) or "unknown", message=text_of(error.get("message"))[:2000])


def _message_result(raw: dict[str, Any]) -> CallResult:
    error = _error(raw.get("error"))
    return CallResult(text=_text(raw.get("content")), call=text_of(raw.get("tool_call_id")), error=error,
                      pictures=pictures_in(raw.get("content")),
                      status="timeout" if error and error.kind == "timeout" else "finished")


def _tool_result(event: dict[str, Any]) -> CallResult:
    error, result = _error(event.get("error")), event.get("result")
    text = _text(result) if isinstance(result, list) else "" if result is None else as_json(result)
    timeout = error is not None and error.kind == "timeout"
    return CallResult(text=text or (error.message if error else ""), call=text_of(event.get("id")), error=error,
                      pictures=pictures_in(result),
                      status="timeout" if timeout else "failed" if event.get("failed") is True else "finished",
                      truncated=bool(event.get("truncated")), started_at=time_of(event.get("timestamp")),
                      ended_at=time_of(event.get("completed")))


def _usage(used: dict[str, Any]) -> Usage:
    """All input tokens: those written to and read from a cache are counted apart by most providers. Logs of 2024 have
    the names of the chat API."""
    if "input_tokens" not in used:
        used = {**used, "input_tokens": used.get("prompt_tokens"), "output_tokens": used.get("completion_tokens")}
    total, out = int_of(used.get("total_tokens")), int_of(used.get("output_tokens"))
    read = sum_of(used, "input_tokens", "input_tokens_cache_write", "input_tokens_cache_read")
    if total is not None and out is not None and total >= out and read is not None:
        read = total - out
    return usage_of(read, out, used.get("input_tokens_cache_read"), used.get("total_cost"))


def _score(builder: SessionBuilder, name: str, score: dict[str, Any]) -> None:
    """A value between 0 and 1, or a letter, is a total; other values stand in words."""
    value = score.get("value")
    total = _LETTERS.get(value) if isinstance(value, str) else float_of(float(value) if value is True else value)
    if total is not None and not isinstance(value, str):
        total = 100 * total if 0 <= total <= 1 else None
    parts = {k: v for k, raw in dict_of(value).items() if (v := float_of(raw)) is not None}
    builder.fact(ScoreGiven(ordinal=1, step=builder.steps, total=total, parts=parts,
                            message=f"{name}: {as_json(value)}"[:500]))


def _end(builder: SessionBuilder, sample: dict[str, Any]) -> None:
    error, limit = dict_of(sample.get("error")), dict_of(sample.get("limit"))
    if error:
        builder.end("failed", "sample_error", text_of(error.get("message"))[:2000])
    elif limit:
        builder.end("stopped", f"limit_{text_of(limit.get('type')) or 'unknown'}")
    else:
        builder.end("finished", "finished")
