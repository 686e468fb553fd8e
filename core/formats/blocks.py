"""Content blocks of the Anthropic messages API, as Claude Code and Cline write them."""

from __future__ import annotations

from typing import Any

from core.domain.message import ToolCall
from core.domain.step import Action
from core.formats.chat import action_of, make_call
from core.formats.tools import family_of
from core.formats.values import dicts_of, paragraphs, text_of


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """The blocks of a content; text alone is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return dicts_of(content)


def text_blocks(content: Any) -> str:
    """The text of a content; pictures and documents are named in brackets, a file that was put in stands whole."""
    texts = []
    for block in blocks_of(content):
        kind = block.get("type")
        if kind == "text":
            texts.append(text_of(block.get("text")))
        elif kind == "file" and isinstance(block.get("content"), str):
            texts.append("\n".join(filter(None, (text_of(block.get("path")), block["content"]))))
        elif kind not in ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_result"):
            texts.append(f"[{text_of(kind) or 'part'}]")
    return paragraphs(*texts)


def thinking(content: Any) -> str:
    """The model's reasoning, where it is there."""
    return paragraphs(*(text_of(b.get("thinking")) for b in blocks_of(content)))


def calls_of(content: Any) -> tuple[ToolCall, ...]:
    """The tool calls; `arguments` is JSON of the input, which the API gives parsed."""
    return tuple(make_call(b.get("id"), b.get("name"), b.get("input", {}), n) for n, b in _calling(content))


def actions_of(content: Any, calls: tuple[ToolCall, ...]) -> tuple[Action, ...]:
    """The actions of its calls, whose inputs are not read again."""
    given = [b.get("input", {}) for _, b in _calling(content)]
    return tuple([Action(call_id=c.id, tool=c.name, arguments=held, family=family_of(c.name)) if type(held) is dict
                  else action_of(c, family_of(c.name)) for c, held in zip(calls, given, strict=True)])


def _calling(content: Any) -> list[tuple[int, dict[str, Any]]]:
    return [(n, b) for n, b in enumerate(blocks_of(content), 1) if b.get("type") in ("tool_use", "server_tool_use")]


def results_of(content: Any) -> list[dict[str, Any]]:
    """The blocks that answer calls."""
    return [b for b in blocks_of(content) if b.get("type") == "tool_result"]


def input_tokens(usage: dict[str, Any]) -> int | None:
    """All tokens of the prompt: this API counts those of its cache apart."""
    parts = [usage.get(k) for k in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    known = [p for p in parts if isinstance(p, int) and not isinstance(p, bool) and p >= 0]
    return sum(known) if known else None
