"""How an action comes out: a result for the runner to make the observation of, or a failure."""

from typing import Any

import msgspec

from core.domain.step import ActionError, Output, Status


class Result(msgspec.Struct, kw_only=True):
    """What a carrier gives back; the runner makes the observation of it."""

    text: str = ""
    status: Status = "finished"
    exit_code: int | None = None
    error: ActionError | None = None
    job: str = ""
    data: dict[str, Any] = {}
    output: Output | None = None
    """Given where the text was cut already; else the runner cuts `text`."""


class ActionFailed(Exception):
    """Ends an action: `kind` is stable lower_snake, `message` one sentence for the model."""

    def __init__(self, kind: str, message: str, status: Status = "failed") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
