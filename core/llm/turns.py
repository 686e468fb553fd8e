"""Messages for templates that demand a person's and the model's messages by turns (Gemma 3, Cohere).

A person's message can be followed by another one: guidance behind a result, a summary behind the task. Such templates
refuse them, so neighbours become one message with their texts in order, an empty line between them. What a system says
later than first is taken as a person's words: it has no place either. Nothing that the model wrote is touched. Serving
and exporting do the same, so that a mask lies on the text that is served.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.domain.errors import ReportableError
from core.domain.message import Message

_ASKED = Message(role="user", content="Qa1x"), Message(role="user", content="Qc1x")


def demands_turns(render: Callable[[Sequence[Message]], object]) -> bool:
    """Whether a template takes one message of a person and refuses two. `render` raises a ReportableError where it is
    refused."""
    try:
        render(_ASKED[:1])
    except ReportableError:
        return False
    try:
        render(_ASKED)
    except ReportableError:
        return True
    return False


def in_turn(before: Message | None, message: Message) -> tuple[Message, bool]:
    """A message as it follows the one `before` it (None: it is the first), and whether it stands in place of both."""
    if message.role == "system" and before is not None:
        message = Message(role="user", content=message.content)
    if before is None or not before.role == message.role == "user":
        return message, False
    return Message(role="user", content="\n\n".join(filter(None, (before.content, message.content)))), True


def by_turns(messages: Sequence[Message]) -> list[Message]:
    """The messages with neighbours of a person joined."""
    turns: list[Message] = []
    for message in messages:
        turn, stands_for_both = in_turn(turns[-1] if turns else None, message)
        turns[len(turns) - stands_for_both :] = [turn]
    return turns
