"""What a worker that plays environments is asked, and what it answers."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome
from core.workers.messages import WorkerRequest


class PlaySeen(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment shows: an observation, what may be done now, and its state."""

    seen: Observation
    tools: list[ToolSpec]
    state: bytes | None


class PlayScored(msgspec.Struct, frozen=True, kw_only=True):
    """What was reached by now."""

    outcome: Outcome
    payload: bytes
    state: bytes | None


class PlayReset(WorkerRequest[PlaySeen], frozen=True, tag="reset"):
    """Make an environment, which is called `place` from now on, and begin."""

    place: int
    settings: EnvironmentSettings
    task: Task
    seed: int


class PlayAct(WorkerRequest[PlaySeen], frozen=True, tag="act"):
    """Carry an action out."""

    place: int
    action: Action
    step: int


class PlayScore(WorkerRequest[PlayScored], frozen=True, tag="score"):
    """Say what was reached."""

    place: int


class PlayClose(WorkerRequest[None], frozen=True, tag="close"):
    """Let go of a place; of one that is not there, nothing."""

    place: int


PlayRequest: TypeAlias = PlayReset | PlayAct | PlayScore | PlayClose
