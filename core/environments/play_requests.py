"""What a worker that plays environments is asked, and what it answers."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome
from core.workers.messages import A, WorkerRequest


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


class PlayQuestion(WorkerRequest[A], frozen=True, kw_only=True):
    """About the environment that is called `place`."""

    place: int


class PlayReset(PlayQuestion[PlaySeen], frozen=True, tag="reset"):
    """Make an environment under that name, and begin."""

    settings: EnvironmentSettings
    task: Task
    seed: int


class PlayAct(PlayQuestion[PlaySeen], frozen=True, tag="act"):
    """Carry an action out."""

    action: Action
    step: int


class PlayScore(PlayQuestion[PlayScored], frozen=True, tag="score"):
    """Say what was reached."""


class PlayClose(PlayQuestion[None], frozen=True, tag="close"):
    """Let go of a place; of one that is not there, nothing."""


PlayRequest: TypeAlias = PlayReset | PlayAct | PlayScore | PlayClose
