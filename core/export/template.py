"""A model's chat template, asked as a server asks it, with the variables and forms in which templates differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.llm.model import ToolSpec
from core.llm.render_budget import rendered
from core.llm.template_messages import template_messages, template_tool

_CLOCK = re.compile(r"strftime_now\(\s*['\"]([^'\"]+)['\"]\s*\)")
_QUIET = {"enable_thinking": False}


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """A way to ask: `variables` that the template knows; whether a call's arguments are given as their JSON text
    (DeepSeek's templates) instead of as an object, and a message's text as a list of parts (models that see); whether
    it is given recorded `thoughts`."""

    variables: dict[str, Any] = {}
    text_arguments: bool = False
    parts: bool = False
    thoughts: bool = False


class TextFrame(msgspec.Struct, frozen=True, kw_only=True):
    """What a template writes around the text of an answer on the model's behalf (gpt-oss: the channel's name): the
    model writes it too, so it is part of the action."""

    before: str = ""
    after: str = ""


NO_FRAME = TextFrame()

FOLLOWING = "Pr0be"
"""The text of a message that is put behind others to see how these are rendered then."""

MODES = (Mode(), Mode(text_arguments=True), Mode(variables=_QUIET), Mode(variables=_QUIET, text_arguments=True),
         Mode(parts=True))
"""In this order; without thoughts a mode without thinking will do."""

_LOUD = {"enable_thinking": True}
THINKING_MODES = tuple(Mode(variables=variables, text_arguments=text, parts=parts, thoughts=True)
                       for variables in ({}, _LOUD) for text, parts in ((False, False), (True, False), (False, True)))
"""Those in which recorded thoughts are shown."""

_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Templates differ in the name of a message's thought (Qwen3, GLM and Nemotron; Gemma 4; gpt-oss and LFM)."""


class ChatTemplate:
    """Renders messages with a tokenizer's template in one mode."""

    def __init__(self, tokenizer: Any, mode: Mode = MODES[0]) -> None:
        self._tokenizer = tokenizer
        self.mode = mode

    def text(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), *, prompt: bool = False,
             day: str = "") -> str:
        """The text of messages; with `prompt`, ready for the model's answer. `day` (YYYY-MM-DD) is the date that
        templates with a clock write; "" is today. Raises InvalidInput: template_error where the template refuses,
        template_too_slow where it does not come to an end."""
        from jinja2.exceptions import TemplateError

        try:
            template = on_day(str(self._tokenizer.chat_template), day)
            return rendered(template, lambda: self._tokenizer.apply_chat_template(
                self.dicts(messages), tools=[template_tool(t) for t in tools] or None, tokenize=False,
                chat_template=template, add_generation_prompt=prompt, **self.mode.variables))
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError,
                RuntimeError) as error:
            sentence = f"The chat template refuses these messages: {' '.join(str(error).split())[:200]}"
            raise InvalidInput("template_error", sentence) from error

    def dicts(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The messages as this template is given them."""
        templated = template_messages(messages)
        if self.mode.text_arguments:
            for message, written in zip(templated, messages, strict=True):
                for call, wrote in zip(message.get("tool_calls", ()), written.tool_calls, strict=True):
                    call["function"]["arguments"] = wrote.arguments or "{}"
        if self.mode.thoughts:
            for message, written in zip(templated, messages, strict=True):
                message.update(dict.fromkeys(_THOUGHT_KEYS, written.reasoning) if written.reasoning else {})
        if self.mode.parts:
            for message in templated:
                message["content"] = [{"type": "text", "text": message["content"]}]
        return templated


@lru_cache(maxsize=64)
def on_day(template: str, day: str) -> str:
    """A template whose clock stands still: the text of a sample must not depend on when it is rendered."""
    forms = set(_CLOCK.findall(template)) if day else set()
    if not forms:
        return template
    dates = {form: date.fromisoformat(day).strftime(form) for form in sorted(forms)}
    first = "\n" if template.startswith("\n") else ""  # a line feed behind a block is taken away
    return f"{{%- macro strftime_now(form) %}}{{{{ {dates!r}[form] }}}}{{%- endmacro %}}{first}{template}"


def followed(messages: Sequence[Message]) -> list[Message]:
    """The messages with one more behind them: a template may treat its last message apart."""
    last = messages[-1]
    if last.tool_calls:
        call = last.tool_calls[0]
        return [*messages, Message(role="tool", content=FOLLOWING, tool_call_id=call.id, name=call.name)]
    return [*messages, Message(role="user", content=FOLLOWING)]
