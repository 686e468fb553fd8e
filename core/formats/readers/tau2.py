"""tau2-bench results: one object of `{info, tasks, simulations}`, or one simulation.

A session is a simulation: each message of the assistant is a step, the reward is its score. The user is a model too:
its words are rows by a simulated user. What it does with tools of its own the agent does not see, so that it stands in
notes. Of the system prompt the file has the domain's policy, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.events import NoteAdded
from core.domain.guidance import SIMULATED_USER
from core.domain.message import Message
from core.domain.step import ActionError
from core.formats.chat import make_call, tool_definitions
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of, time_of, usage_of

NAME = "tau2-bench"
_FAILED = ("agent_error", "too_many_errors", "infrastructure_error", "user_error", "unexpected_error")


def recognises(source: Source) -> bool:
    """Whether the file holds simulations."""
    value = source.object
    return _is_simulation(value) or any(map(_is_simulation, dicts_of(value.get("simulations"))[:20]))


def _is_simulation(value: dict[str, Any]) -> bool:
    return {"task_id", "messages", "termination_reason"} <= value.keys() and isinstance(value["messages"], list)


def read(source: Source) -> Iterator[Imported]:
    """A session for each simulation."""
    value = source.object
    one = [value] if _is_simulation(value) else dicts_of(value.get("simulations"))
    tasks = {str(t.get("id")): t for t in dicts_of(value.get("tasks"))}
    info = dict_of(value.get("info"))
    yield from joined(source.path, ((f"Simulation {n}", _session(source, n, info, s, tasks))
                                    for n, s in enumerate(one, 1)))


def _session(source: Source, number: int, info: dict[str, Any], run: dict[str, Any], tasks: dict[str, dict[str, Any]]
             ) -> Imported | str:
    messages = list(_messages(dicts_of(run.get("messages"))))
    if not any(m.get("role") == "assistant" for m in messages):
        return f"Simulation {number} was left out: it holds no message of the assistant."
    name, task = text_of(run.get("id")), str(run.get("task_id"))
    builder = SessionBuilder(NAME, source.name, canonical([name] if name else run), source.damage)
    asked = next((t for m in messages if m.get("role") == "user" and (t := text_of(m.get("content")))), "")
    environment = dict_of(info.get("environment_info"))
    domain = text_of(environment.get("domain_name"))
    described = text_of(dict_of(tasks.get(task, {}).get("description")).get("purpose"))
    builder.create(f"{domain} {task}: {described or asked}".strip()[:400], asked, task=task,
                   model=text_of(dict_of(info.get("agent_info")).get("llm")))
    conversation = Conversation(builder)
    if policy := text_of(run.get("policy")) or text_of(environment.get("policy")):
        conversation.add_message(Message(role="system", content=policy))
    tools = tool_definitions(environment.get("tool_defs"))
    _add(conversation, messages, builder.blob(canonical(tools)) if tools else "")
    _end(builder, run)
    return builder.build()


def _messages(messages: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages, with answers to parallel calls one by one."""
    for message in messages:
        yield from dicts_of(message.get("tool_messages")) or [message]


def _add(conversation: Conversation, messages: Sequence[dict[str, Any]], tools: str) -> None:
    answers: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        if message.get("role") == "tool" and message.get("requestor") != "user":
            answers.setdefault(text_of(message.get("id")), []).append(message)
    for message in messages:
        role, at = message.get("role"), time_of(message.get("timestamp"))
        if role == "assistant":
            conversation.add_step(_step(message, answers, tools))
        elif role == "user" and (calls := dicts_of(message.get("tool_calls"))):
            for call in calls:
                text = f"The user called {text_of(call.get('name'))} {as_json(call.get('arguments'))}"
                conversation.builder.fact(NoteAdded(step=conversation.builder.steps, text=text[:20_000]), at=at)
        elif role == "user":
            conversation.add_person_turn(text_of(message.get("content")), at, SIMULATED_USER)
        elif role == "system":
            conversation.add_message(Message(role="system", content=text_of(message.get("content"))))


def _step(message: dict[str, Any], answers: dict[str, list[dict[str, Any]]], tools: str) -> ForeignStep:
    called = dicts_of(message.get("tool_calls"))
    calls = tuple(make_call(c.get("id"), c.get("name"), c.get("arguments") or {}, n) for n, c in enumerate(called, 1))
    results = [_result(answers[c.id].pop(0), c.id) for c in calls if answers.get(c.id)]
    used = dict_of(message.get("usage"))
    return ForeignStep(thought=text_of(message.get("content")), calls=calls, results=results, tools=tools,
                       reasoning=text_of(dict_of(message.get("raw_data")).get("reasoning_content")),
                       started_at=time_of(message.get("timestamp")),
                       usage=usage_of(used.get("prompt_tokens"), used.get("completion_tokens"), None,
                                      message.get("cost")))


def _result(message: dict[str, Any], call: str) -> CallResult:
    text = as_json(message.get("content") or "")
    error = ActionError(kind="tool_error", message=text[:2000]) if message.get("error") is True else None
    return CallResult(text=text, call=call, error=error, ended_at=time_of(message.get("timestamp")))


def _end(builder: SessionBuilder, run: dict[str, Any]) -> None:
    why = text_of(run.get("termination_reason"))
    parts = dict_of(dict_of(run.get("reward_info")).get("reward_breakdown"))
    words = ", ".join(f"{name} {value}" for name, value in parts.items())
    builder.reward(float_of(dict_of(run.get("reward_info")).get("reward")), words or "reward of the benchmark")
    builder.end("failed" if why in _FAILED else "finished", why or "end_not_recorded")


FORMAT = Format(name=NAME, title="tau2-bench results", recognises=recognises, read=read)
