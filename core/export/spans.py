"""Where an action lies in a rendered text, and whether the template left it as the model wrote it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.template import NO_FRAME, TextFrame
from core.llm.template_messages import arguments_of


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """The characters start..end of an action and its stop token; `message` is its index in the sample. `holes` are
    those of a trained one that carry no loss all the same: calls of actions that are masked, a thought that is context.
    The action begins with its thought, if it has one, which ends at `thought_end`."""

    message: int
    start: int
    end: int
    trained: bool = False
    holes: tuple[tuple[int, int], ...] = ()
    thought_end: int = 0


def stop_after(text: str, start: int, stops: Sequence[str]) -> tuple[int, str]:
    """The end of the first stop token at or after `start`, and that token. Raises InvalidInput."""
    found = [(at, stop) for stop in stops if (at := text.find(stop, start)) >= 0]
    if not found:
        raise InvalidInput("no_stop", "The chat template does not end an action with a stop token of this model.")
    at, stop = min(found)
    return at + len(stop), stop


def check_completion(message: Message, rendered: str, control: Sequence[str], plain: TextFrame = NO_FRAME,
                     beside: TextFrame = NO_FRAME, *, with_thought: bool = False) -> None:
    """Whether `rendered` is the message in its frame, white space at the edges aside, behind its thought
    (`with_thought`). Raises InvalidInput with the reason."""
    wrote = [message.content, message.reasoning if with_thought else "", *(c.arguments for c in message.tool_calls)]
    inside = next((c for c in control if any(c in w for w in wrote)), None)
    if inside is not None:
        raise InvalidInput("control_token_inside", f"The action holds the text of the control token {inside}.")
    content, rendered = message.content.strip(), rendered.strip()
    if not message.tool_calls:
        if _unframed(rendered, plain).strip() != content:
            raise InvalidInput("completion_rewritten", "The chat template does not render the action as written.")
        return
    if content:
        rendered = rendered.removeprefix(beside.before).strip()
        if not rendered.startswith(content):
            raise InvalidInput("completion_rewritten", "The chat template drops or rewrites the text beside a tool "
                               "call.")
    check_calls(message, rendered[len(content) :])


def _unframed(rendered: str, frame: TextFrame) -> str:
    """The text inside the frame; unchanged where it does not stand in it."""
    inside = rendered.startswith(frame.before) and rendered.endswith(frame.after)
    return rendered[len(frame.before) : len(rendered) - len(frame.after)] if inside else rendered


def check_calls(message: Message, rendered: str) -> None:
    """All calls in order, each with its arguments behind its name. Raises InvalidInput."""
    for call in message.tool_calls:
        at = rendered.find(call.name)
        if at < 0:
            raise InvalidInput("completion_rewritten", f"The chat template does not render the call of {call.name}.")
        rendered = rendered[at + len(call.name) :]
        arguments = arguments_of(call)
        if isinstance(arguments, str):
            raise InvalidInput("malformed_call", f"The arguments of the call of {call.name} are not a JSON object.")
        lost = next((k for k, v in arguments.items() if not _is_shown(k, v, rendered)), None)
        if lost is not None:
            why = f"The chat template does not render the argument {lost} of {call.name} as it was written."
            raise InvalidInput("completion_rewritten", why)


def _is_shown(key: str, value: Any, rendered: str) -> bool:
    forms = [json.dumps(value, ensure_ascii=False), json.dumps(value)]
    if isinstance(value, str):
        forms.append(value)
    return key in rendered and any(form in rendered for form in forms)
