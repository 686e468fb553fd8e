"""The Agent Data Protocol's standard form: rows of `{id, content: [{class_, …}], details}`.

Each action is a step, the observations after it are its results; a user's words after a message are guidance. The
form has no times, tokens, prompts or marks of failure.
"""

from __future__ import annotations

from typing import Any

from core.domain.step import Action
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import SourceRow, row_format
from core.formats.source import Source
from core.formats.tools import family_of
from core.formats.values import as_json, dict_of, dicts_of, paragraphs, text_of

NAME = "agent-data-protocol"
_ACTIONS = ("message_action", "code_action", "api_action")


def _is_row(value: Any) -> bool:
    content = value.get("content") if isinstance(value, dict) else None
    return isinstance(content, list) and bool(content) and all(
        isinstance(c, dict) and isinstance(c.get("class_"), str) for c in content)


def _row(source: Source, row: SourceRow) -> Imported | str:
    items = dicts_of(row.value.get("content"))
    if not any(i["class_"] in _ACTIONS for i in items):
        return "no item is an action."
    builder = SessionBuilder(NAME, source.name, row.data)
    asked = next((text_of(i.get("content")) for i in items if i["class_"] not in _ACTIONS), "")
    name = text_of(row.value.get("id"))
    builder.create(name or asked[:400], asked, task=name)
    conversation = Conversation(builder)
    for item, observations in grouped(items, _is_observation_of):
        if item["class_"] not in _ACTIONS:
            conversation.add_person_turn(_observed(item))
        else:
            conversation.add_step(_step(item, [CallResult(text=_observed(o)) for o in observations]))
    return builder.build_without_end()


def _is_observation_of(item: dict[str, Any], after: dict[str, Any]) -> bool:
    answers_words = item["class_"] == "message_action" and after.get("source") == "user"
    return item["class_"] in _ACTIONS and after["class_"] not in _ACTIONS and not answers_words


def _observed(item: dict[str, Any]) -> str:
    """An observation's text; a web page's is its accessibility tree, or its address."""
    for key in ("content", "axtree", "html", "url"):
        if item.get(key):
            return as_json(item[key])
    return ""


def _step(item: dict[str, Any], results: list[CallResult]) -> ForeignStep:
    thought = text_of(item.get("description"))
    if item["class_"] == "message_action":
        return ForeignStep(thought=paragraphs(thought, text_of(item.get("content"))), results=results)
    if item["class_"] == "code_action":
        tool = text_of(item.get("language")) or "code"
        action = Action(call_id="1", tool=tool, arguments={"command": as_json(item.get("content") or "")},
                        family="command")
        return ForeignStep(thought=thought, actions=(action,), results=results)
    tool = text_of(item.get("function")) or "unknown"
    arguments = dict_of(item.get("kwargs"))
    call = make_call("1", tool, arguments)
    return ForeignStep(thought=thought, calls=(call,), results=results,
                       actions=(Action(call_id="1", tool=tool, arguments=arguments, family=family_of(tool)),))


FORMAT = row_format(NAME, "Agent Data Protocol", _is_row, "actions and observations", _row)
