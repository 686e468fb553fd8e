"""Rows of training data as turns: an assistant's turn is a step, the turn after it may be its observation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from core.domain.events import VerdictGiven
from core.domain.message import Message, Role, ToolCall
from core.domain.step import Action
from core.formats.chat import tool_definitions
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.imported import SessionBuilder
from core.formats.json_text import parse
from core.formats.rows import canonical
from core.formats.tools import family_of
from core.formats.values import as_json, text_of

_REACT = re.compile(r"\s*(?:Thought|Think)s?\s*:(?P<thought>.*?)(?:\n|^)\s*Act(?:ion)?\s*:\s*(?P<action>.*)",
                    re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"(?P<tool>\w+)?\s*```[^\n]*\n(?P<code>.*?)\n?```\s*", re.DOTALL)
_CALLED = re.compile(r"(?P<tool>[A-Za-z_]\w*)\s*[(\[](?P<inner>.*)[)\]]\s*", re.DOTALL)


class DialogueTurn(msgspec.Struct, kw_only=True):
    """One turn: who, what, and whether training should learn it (None: the file does not say)."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    actions: tuple[Action, ...] | None = None
    thought: str | None = None
    reasoning: str = ""
    learn: bool | None = None
    person: bool = False
    result: CallResult | None = None


def add_turns(builder: SessionBuilder, turns: Sequence[DialogueTurn], *, title: str = "", task: str = "",
              model: str = "", source: str = "", tools: str = "") -> None:
    """A row's session with its steps. Turns of the role tool after a step are its observations."""
    asked = next((t.text for t in turns if t.role == "user"), "")
    builder.create(title or asked[:400], asked, task=task, model=model)
    conversation = Conversation(builder, source)
    for turn, after in grouped(turns, lambda turn, after: turn.role == "assistant" and (
            after.role == "tool" or after.result is not None)):
        if turn.role != "assistant":
            _add_words(conversation, turn)
            continue
        results = [t.result or CallResult(text=t.text) for t in after]
        conversation.add_step(ForeignStep(thought=turn.text if turn.thought is None else turn.thought, calls=turn.calls,
                                          completion=turn.text, reasoning=turn.reasoning, actions=turn.actions,
                                          results=results, tools=tools))
        if turn.learn is not None:
            builder.fact(VerdictGiven(step=builder.steps, value="keep" if turn.learn else "mask",
                                      reason="marked so in the file"))


def _add_words(conversation: Conversation, turn: DialogueTurn) -> None:
    if turn.person:
        conversation.add_person_turn(turn.text)
    else:
        conversation.add_message(Message(role=turn.role, content=turn.text))


def react(text: str) -> tuple[str, tuple[Action, ...]] | None:
    """Thought and action of a ReAct text (Thought: … Action: …), or None where it is none."""
    found = _REACT.match(text)
    if not found:
        return None
    return found["thought"].strip(), (text_action(found["action"].strip()),)


def text_action(text: str) -> Action:
    """The action that a line stands for: `bash` and a code block, `click[Buy]`, `answer(3)`, or words."""
    if fenced := _FENCED.fullmatch(text):
        tool = fenced["tool"] or "code"
        return Action(call_id="1", tool=tool, arguments={"command": fenced["code"]}, family=family_of(tool))
    if called := _CALLED.fullmatch(text):
        tool = called["tool"]
        return Action(call_id="1", tool=tool, arguments={"text": called["inner"]}, family=family_of(tool))
    if re.fullmatch(r"\w{1,40}", text):
        return Action(call_id="1", tool=text, family=family_of(text))
    return Action(call_id="1", tool="action", arguments={"command": text})


def json_calls(text: str) -> tuple[ToolCall, ...]:
    """The calls that JSON text holds: one object or a list of `{name, arguments}`; else one call that is malformed."""
    value = parse(text.encode("utf-8", "replace")).value
    found = [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, dict) and v.get("name")]
    if not found:
        return (ToolCall(id="1", name="unknown", arguments=text),)
    return tuple(ToolCall(id=str(n), name=str(v["name"]), arguments=as_json(v.get("arguments", {})))
                 for n, v in enumerate(found, 1))


def tools_blob(builder: SessionBuilder, tools: Any) -> str:
    """The payload of a row's tools: a list, or the JSON text of one."""
    definitions = tool_definitions(parse(tools.encode("utf-8", "replace")).value if isinstance(tools, str) else tools)
    return builder.blob(canonical(definitions)) if any(text_of(d.get("name")) for d in definitions) else ""
