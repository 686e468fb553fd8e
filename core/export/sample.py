"""What a sample is: the messages of one context with, for each, what training does with it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.message import Message
from core.export.pieces import Masked
from core.llm.model import ToolSpec
from core.workers.export import State

SampleKind = Literal["react", "summary"]


class SamplePart(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a sample; `step` is whose action it is, None for what is no action. Of a trained one `masked` says
    which of its calls carry no loss; None: all of it does. `author` is the person who wrote it in the agent's place."""

    message: Message
    state: State = "context"
    step: int | None = None
    masked: Masked | None = None
    author: str = ""

    @property
    def trained(self) -> bool:
        """Whether the loss falls on this message."""
        return self.state in ("kept", "summary")


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One training example before it has tokens. `step` is the last step it holds; `rebuilt` says that the log
    does not hold exactly what the model was given: the context is an importer's approximation, or was put together
    from the steps' bodies. `day` (YYYY-MM-DD) is the day on which the session began, for templates with a clock."""

    session: str
    kind: SampleKind
    step: int
    parts: tuple[SamplePart, ...]
    tools: tuple[ToolSpec, ...] = ()
    rebuilt: bool = False
    day: str = ""

    @property
    def people(self) -> dict[str, str]:
        """The steps that people wrote in the agent's place, each with who did."""
        return {str(part.step): part.author for part in self.parts if part.author}

    @property
    def name(self) -> str:
        """One string that names the sample in a report."""
        return f"{self.session}/{self.kind}-{self.step}"
