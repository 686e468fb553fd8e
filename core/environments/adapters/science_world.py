"""ScienceWorld: experiments of a primary school in a house of words; a Java machine for each game."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import Environment, EnvironmentKind
from core.environments.extra import MORE, require_package
from core.environments.line_tool import line_of, line_tool, seen
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = """You work in a house with rooms and things to experiment with. Commands are plain words, as `open door to
kitchen`, `go to kitchen`, `look around`, `pick up X`, `move X to Y`, `focus on X`, `use X on Y`, `pour X into Y`,
`activate X`, `wait`, `inventory`, `task`. Some count once only: focus on the right thing."""
TASKS, VARIATIONS = 30, 10
"""Item N is variation N // 30 of task N % 30; each task has ten at least."""
LONGEST_GAME = 1_000
NOT_UNDERSTOOD = "No known action matches that input."


class ScienceWorld(Environment):
    """One game. The Java machine starts with `reset`, and whatever it computes it computes in a thread."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        _require()
        if settings.item >= TASKS * VARIATIONS:
            raise InvalidInput("bad_environment", f"ScienceWorld has {TASKS * VARIATIONS} items, so no "
                               f"{settings.item}.")
        self._item = settings.item
        self._house: Any = None
        self._score, self._is_over, self._moves = 0.0, False, 0

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes a command."""
        return [line_tool("Carry out one command.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The task, and the room. A variation is the same each time, whatever the seed."""
        await self.close()
        self._score, self._is_over, self._moves = 0.0, False, 0
        self._house, words = await asyncio.to_thread(_begin, self._item)
        return seen(words)

    async def act(self, action: Action, step: int) -> Observation:
        """Carry a command out."""
        if self._is_over or self._house is None:
            return seen("The game is over.", reward=0.0, done=True, problem="not_done")
        words, reward, done, info = await asyncio.to_thread(self._house.step, line_of(action))
        self._score, self._is_over, self._moves = float(info["score"]), bool(done), int(info["moves"])
        if str(words).strip() == NOT_UNDERSTOOD:
            return seen(str(words), reward=float(reward), done=self._is_over, problem="not_done")
        return seen(str(words).strip(), reward=float(reward), done=self._is_over)

    async def score(self) -> tuple[Outcome, bytes]:
        """ScienceWorld's own score of 100; what it takes away for a wrong focus counts as none."""
        return Outcome(total=min(100.0, max(0.0, self._score))), b""

    def state(self) -> bytes:
        """How far the game is."""
        return msgspec.json.encode({"score": self._score, "moves": self._moves})

    async def close(self) -> None:
        """End the Java machine."""
        if self._house is not None:
            house, self._house = self._house, None
            await asyncio.to_thread(house.close)


def _require() -> None:
    require_package("scienceworld", "scienceworld")
    if shutil.which("java") is None:
        raise Unavailable("no_environment_extra", "ScienceWorld runs in Java: install it (apt install "
                          "default-jre-headless).", package="java")


def _begin(item: int, *, has_plan: bool = False) -> tuple[Any, str]:
    """A game at its beginning, and what there is to read."""
    from scienceworld import ScienceWorldEnv

    house = ScienceWorldEnv("", envStepLimit=LONGEST_GAME)
    name = sorted(house.get_task_names())[item % TASKS]
    variations = house.get_max_variations(name)
    house.load(name, item // TASKS % variations, "easy", generateGoldPath=has_plan)
    words, _ = house.reset()
    return house, f"{house.get_task_description()}\n\n{str(words).strip()}"


def _plan(settings: EnvironmentSettings) -> list[str]:
    """ScienceWorld's own way to the end. Raises Unavailable, InvalidInput (no_plan) where it knows none."""
    _require()
    house, _ = _begin(settings.item, has_plan=True)
    try:
        commands = [str(one) for one in house.get_gold_action_sequence()]
    finally:
        house.close()
    if not commands or commands[0].startswith("ERROR"):
        raise InvalidInput("no_plan", f"ScienceWorld knows no way through item {settings.item}.")
    return commands


def _count() -> int:
    _require()
    return TASKS * VARIATIONS


ENVIRONMENT = EnvironmentKind(
    name="scienceworld", title="ScienceWorld", about=ABOUT, open=ScienceWorld, count=_count, steps=100,
    packages=("scienceworld",), extra=MORE, plan=_plan, apart=True)
