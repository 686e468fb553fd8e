"""What the carrying out of actions asks of the runner that hosts it."""

from typing import Literal, Protocol

from core.domain.events import Fact
from core.domain.step import Observation

WakeReason = Literal["time", "guidance", "job", "interrupt", "control"]


class ActionSink(Protocol):
    """The agent's side. `core.agents` implements it; every method may be called from several tasks."""

    async def emit(self, fact: Fact) -> None:
        """Put a fact (terminal output, a changed file, a search) into the session's log; blobs first."""

    async def put_blob(self, data: bytes) -> str:
        """Keep a payload; gives its content address."""

    async def wait(self, seconds: float) -> WakeReason:
        """Wait until the time is over or something wants the agent (guidance, control). May be cancelled."""

    async def evaluate(self, step: int) -> Observation:
        """Hand in and score; `call_id` of the answer is filled in by the caller."""

    async def finish(self, step: int) -> Observation:
        """Take note that the agent says it is done."""
