"""ShareGPT and LLaMA-Factory rows: `conversations[{from, value}]`, and v1's `messages[{role, content[{type, value}]}]`.

A turn of gpt, or a function_call, is a step; an observation belongs to the call before it. What a human says after
the first step is guidance. The turns before a step are exactly its context. No times, tokens or marks of failure.
"""

from __future__ import annotations

from typing import Any

from core.domain.events import NoteAdded
from core.domain.message import Role
from core.formats.dialogue import DialogueTurn, add_turns, json_calls, tools_blob
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import SourceRow, row_format
from core.formats.source import Source
from core.formats.values import dicts_of, float_of, text_of

NAME = "sharegpt"
_FROM: dict[str, Role] = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
                          "bot": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
                          "model": "assistant", "function_call": "assistant", "observation": "tool", "tool": "tool",
                          "function_response": "tool", "system": "system"}


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and (_is_old(value.get("conversations")) or _is_v1(value.get("messages")))


def _is_old(turns: Any) -> bool:
    return isinstance(turns, list) and bool(turns) and all(
        isinstance(t, dict) and text_of(t.get("from")) in _FROM and isinstance(t.get("value"), str) and "loss" not in t
        for t in turns)


def _is_v1(turns: Any) -> bool:
    return isinstance(turns, list) and bool(turns) and all(
        isinstance(t, dict) and text_of(t.get("role")) in _FROM and isinstance(t.get("content"), list)
        and all(isinstance(p, dict) and "type" in p and "value" in p for p in t["content"]) for t in turns)


def _row(source: Source, row: SourceRow) -> Imported | str:
    value = row.value
    turns = _old(value) if _is_old(value.get("conversations")) else _v1(value)
    if not any(t.role == "assistant" for t in turns):
        return "no turn is the assistant's."
    builder = SessionBuilder(NAME, source.name, row.data)
    add_turns(builder, turns, task=text_of(value.get("id")), tools=tools_blob(builder, value.get("tools")))
    for name in ("chosen", "rejected"):
        if value.get(name):
            builder.fact(NoteAdded(step=0, text=f"The row also holds a {name} answer."))
    return builder.build_without_end()


def _old(value: dict[str, Any]) -> list[DialogueTurn]:
    turns = [DialogueTurn(role="system", text=system)] if (system := text_of(value.get("system"))) else []
    for turn in value["conversations"]:
        role, text = _FROM[turn["from"]], turn["value"]
        calls = json_calls(text) if turn["from"] == "function_call" else ()
        weight = turn.get("weight")
        turns.append(DialogueTurn(role=role, text=text, calls=calls, thought="" if calls else None,
                                  person=role == "user",
                                  learn=bool(weight) if role == "assistant" and weight in (0, 1) else None))
    return turns


def _v1(value: dict[str, Any]) -> list[DialogueTurn]:
    turns = []
    for turn in dicts_of(value.get("messages")):
        parts: dict[str, list[str]] = {}
        for part in turn["content"]:
            parts.setdefault(text_of(part["type"]), []).append(str(part["value"]))
        role = _FROM[turn["role"]]
        calls = tuple(c for text in parts.get("tool_call", ()) for c in json_calls(text))
        weight = float_of(turn.get("loss_weight"))
        text = "\n".join(t for kind, texts in parts.items() if kind not in ("reasoning", "tool_call") for t in texts)
        turns.append(DialogueTurn(role=role, text=text, calls=calls, reasoning="\n".join(parts.get("reasoning", ())),
                                  person=role == "user",
                                  learn=bool(weight) if role == "assistant" and weight in (0.0, 1.0) else None))
    return turns


FORMAT = row_format(NAME, "ShareGPT or LLaMA-Factory rows", _is_row, "conversation", _row)
