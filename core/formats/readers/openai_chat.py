"""OpenAI chat messages: JSON Lines, one session a line; also one object, a list of such rows, or one conversation.

A row holds `messages`, or tau-bench's `traj`, or its `messages_display` (the messages as plain text, without the
names and arguments of the calls). The context of an assistant message is exactly the messages before it. A log of one
request (`messages` and `response`, as litellm and OpenHands write them) gives its answer as the last step, with its
tokens, cost, time and tools; other rows have no times and no token counts. No step is marked as failed. `weight` 0 or
1 on an assistant message (the fine-tuning API's mask) becomes the importer's verdict on the step. A user's words after
the first step are a row: by a person where calls stand apart from words, by a simulated user in tau-bench's rows; where
an agent's actions are words, the answers to them bear the same role, so that nobody is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.events import VerdictGiven
from core.domain.guidance import FOREIGN_PERSON, SIMULATED_USER, UNKNOWN_USER
from core.domain.message import Message
from core.domain.picture import Picture
from core.domain.step import Action, Observation, Output, StepBody, Usage
from core.formats.chat import action_of, is_chat, read_message, usage_in
from core.formats.dialogue import tools_blob
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.pictures import pictures_in, stored
from core.formats.rows import read_rows
from core.formats.source import Source
from core.formats.user_turns import UserTurns
from core.formats.values import dict_of, dicts_of, paragraphs, text_of, time_of

NAME = "openai-chat"
_TURN = re.compile(r"^(system|user|assistant|tool): ?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether the file is a list of chat messages, or one of its first rows holds one."""
    return is_chat(_bare(source)) or any(map(_is_row, source.samples))


def read(source: Source) -> Iterator[Imported]:
    """The sessions of the file in order. What cannot be read is a warning of the session before it."""
    bare = _bare(source)
    if not is_chat(bare):
        return read_rows(source, _is_row, "chat messages", lambda row: _read_row(source, row.data, row.value))
    made = _read_row(source, source.data, {"messages": bare})
    if isinstance(made, str):
        why = f"{made} {source.json.problem}".strip()
        raise InvalidInput("no_sessions", f"{source.path}: {why}", path=str(source.path), why=why)
    problem = source.json.problem
    return iter([msgspec.structs.replace(made, warnings=(*made.warnings, problem)) if problem else made])


def _bare(source: Source) -> Any:
    return source.json.value if source.shape == "list" else None


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict) or "trajectory_format" in value:
        return False
    display = value.get("messages_display")
    return is_chat(_messages(value)) or (isinstance(display, str) and _TURN.match(display) is not None)


def _messages(row: dict[str, Any]) -> Any:
    return row.get("messages", row.get("traj"))


def _read_row(source: Source, data: bytes, value: dict[str, Any]) -> Imported | str:
    """The session of a row, or one sentence on why there is none."""
    builder = SessionBuilder(NAME, source.name, data)
    messages, exact = _read_messages(value, builder)
    answer = _answer(value)
    messages.extend([answer] if answer else [])
    if not any(m.role == "assistant" for m in messages):
        return "no message is the assistant's."
    _create(builder, value, messages)
    last = _logged(value) if answer else _Logged()
    shown = [stored(pictures_in(m.get("content")), builder.blob) for m in dicts_of(_messages(value))]
    _add_steps(builder, messages, "" if exact else "approximate", _weights(value), last, shown,
               _user(value, messages))
    _end(builder, value)
    return builder.build()


def _user(value: dict[str, Any], messages: list[Message]) -> str:
    """Who speaks in the user's role after the first step."""
    if "messages" not in value:
        return SIMULATED_USER
    return FOREIGN_PERSON if any(m.tool_calls or m.role == "tool" for m in messages) else UNKNOWN_USER


class _Logged(msgspec.Struct, frozen=True):
    """What a log of one request holds beside its answer."""

    usage: Usage = Usage()
    ended_at: datetime | None = None
    tools: Any = None


def _answer(value: dict[str, Any]) -> Message | None:
    """The answer that a log of one request holds beside its messages."""
    choices = dicts_of(dict_of(value.get("response")).get("choices"))
    message = dict_of(choices[0].get("message")) if choices else {}
    return read_message(message) if message.get("role") == "assistant" else None


def _logged(value: dict[str, Any]) -> _Logged:
    return _Logged(usage_in(dict_of(value.get("response")), value.get("cost")), time_of(value.get("timestamp")),
                   value.get("tools"))


def _read_messages(value: dict[str, Any], builder: SessionBuilder) -> tuple[list[Message], bool]:
    chat = _messages(value)
    if isinstance(chat, list):
        return [read_message(m) for m in chat], True
    text = str(value["messages_display"])
    turns = list(_TURN.finditer(text))
    ends = [t.start() for t in turns[1:]] + [len(text)]
    raw = [{"role": turn[1], "content": text[turn.end() : end].removesuffix("\n")}
           for turn, end in zip(turns, ends, strict=True)]
    messages = [read_message({**m, "content": None} if _is_call(m) else m) for m in raw]
    if calls := sum(turn["role"] == "tool" for turn in raw):
        builder.warnings.append(f"The messages are given as text: names and arguments of {calls} calls are not in it.")
    return messages, not calls


def _is_call(turn: dict[str, str]) -> bool:
    """tau-bench prints the null content of an assistant message that only calls a tool as None."""
    return turn["role"] == "assistant" and turn["content"] == "None"


def _weights(value: dict[str, Any]) -> list[Any]:
    messages = _messages(value)
    return [m.get("weight") for m in messages if m.get("role") == "assistant"] if isinstance(messages, list) else []


def _create(builder: SessionBuilder, value: dict[str, Any], messages: list[Message]) -> None:
    asked = next((m.content for m in messages if m.role == "user"), "")
    builder.create(" ".join(asked[:400].split())[:100], asked, model=text_of(value.get("model")),
                   task=str(value.get("instance_id", value.get("task_id", ""))))


def _add_steps(
    builder: SessionBuilder, messages: list[Message], source: str, weights: list[Any], logged: _Logged,
    shown: Sequence[tuple[Picture, ...]], user: str,
) -> None:
    tools = tools_blob(builder, logged.tools) if logged.tools else ""
    refs = [builder.message(m, source) for m in messages]
    places = [i for i, m in enumerate(messages) if m.role == "assistant"]
    shown = [*shown, *repeat((), len(messages) - len(shown))]
    turns = UserTurns(builder)
    bounds = zip([-1, *places], places, [*places[1:], len(messages)], strict=False)
    for number, (before, place, after) in enumerate(bounds, 1):
        answers = [(m, seen) for m, seen in zip(messages[place + 1 : after], shown[place + 1 : after], strict=True)
                   if m.role == "tool"]
        words = tuple(picture for m, seen in zip(messages[before + 1 : place], shown[before + 1 : place], strict=True)
                      for picture in seen if m.role != "tool")
        last = logged if number == len(places) else _Logged()
        _add_turns(turns, messages[before + 1 : place] if number > 1 else [], user)
        turns.deliver(number)
        builder.step(_body(number, messages[place], answers, words), refs[:place], refs[place], last.usage,
                     ended_at=last.ended_at, tools=tools if number == len(places) else "")
        turns.answer(number)
        weight = weights[number - 1] if number <= len(weights) else None
        if weight in (0, 1):
            builder.fact(VerdictGiven(step=number, value="keep" if weight else "mask", reason=f"weight {weight}"))
    _add_turns(turns, messages[places[-1] + 1 :], user)


def _add_turns(turns: UserTurns, messages: Sequence[Message], user: str) -> None:
    for message in messages:
        if message.role == "user":
            turns.add(message.content, by=user)


def _body(number: int, answer: Message, answers: list[tuple[Message, tuple[Picture, ...]]],
          words: tuple[Picture, ...]) -> StepBody:
    """A step; `words` are the pictures of the messages before it."""
    actions = tuple(action_of(c) for c in answer.tool_calls)
    if answers and not actions:
        actions = tuple(Action(call_id=str(n), tool="unknown") for n in range(1, len(answers) + 1))
    called = [a.call_id for a in actions]
    seen = tuple(
        Observation(call_id=m.tool_call_id or (called[n] if n < len(called) else ""),
                    output=Output(text=m.content, total_chars=len(m.content)), pictures=pictures)
        for n, (m, pictures) in enumerate(answers)
    )
    return StepBody(number=number, thought=paragraphs(answer.reasoning, answer.content), actions=actions,
                    observations=seen, pictures=words)


def _end(builder: SessionBuilder, value: dict[str, Any]) -> None:
    reward = value.get("reward")
    if "traj" in value and isinstance(reward, int | float):
        builder.reward(reward, "reward of the benchmark")
    builder.end("finished", "end_not_recorded")


FORMAT = Format(name=NAME, title="OpenAI chat messages", recognises=recognises, read=read, rank=2)
