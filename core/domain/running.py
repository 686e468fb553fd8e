"""The action that an agent carries out now: shown while it lasts, never part of the log."""

from typing import Annotated

import msgspec

from core.domain.bounds import Name, StepPlace
from core.domain.errors import InvalidInput

CHANNEL = "action"
"""The live channel on which it comes; an empty text says that it is over."""

TITLE = 400
"""Characters of the title that are told."""


class RunningAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """`title` is the head's: a command, a path, a query; `seconds` is for how long it has run."""

    step: StepPlace
    tool: Name
    title: Annotated[str, msgspec.Meta(max_length=TITLE)] = ""
    seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


_DECODER = msgspec.json.Decoder(RunningAction)


def encode_running(action: RunningAction) -> str:
    """As live text."""
    return msgspec.json.encode(action).decode()


def decode_running(text: str) -> RunningAction | None:
    """From live text; None for an empty one. Raises InvalidInput (bad_running_action) for what is none."""
    try:
        return _DECODER.decode(text) if text else None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidInput("bad_running_action", f"A running action cannot be read: {error}") from error
