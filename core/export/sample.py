"""What a sample is: the messages of one context with, for each, what training does with it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.message import Message
from core.llm.model import ToolSpec

State = Literal["context", "kept", "masked", "carried", "changed", "summary"]
"""kept, summary: trained. masked: an action that a verdict masks. carried: trained in an earlier sample already.
changed: the context does not hold the action as the model wrote it. context: everything else."""

SampleKind = Literal["react", "summary"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a sample; `step` is whose action it is, None for what is no action."""

    message: Message
    state: State = "context"
    step: int | None = None

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
    parts: tuple[Part, ...]
    tools: tuple[ToolSpec, ...] = ()
    rebuilt: bool = False
    day: str = ""

    @property
    def name(self) -> str:
        """One string that names the sample in a report."""
        return f"{self.session}/{self.kind}-{self.step}"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an export leaves out, and why; `step` and `sample` where it is about one, `message` by index."""

    code: str
    sentence: str
    step: int | None = None
    sample: str | None = None
    message: int | None = None
