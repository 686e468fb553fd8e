"""An environment of a few words, for tests of what plays and learns: say the letter that is asked for."""

from __future__ import annotations

from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import EnvironmentKind
from core.environments.line_tool import line_of, line_tool, read_line_call, seen
from core.environments.registry import ENVIRONMENTS
from core.tasks.scoring import Outcome

LETTERS = "abcd"


class LetterGame:
    """One game; a wrong letter may be followed by another."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        self._goal, self._is_won = LETTERS[settings.item], False

    def tools(self) -> list:
        return [line_tool("Say a letter.")]

    def read(self, call) -> Action:
        return read_line_call(call)

    async def reset(self, task: Task, seed: int) -> Observation:
        self._is_won = False
        return seen(f"goal {self._goal}")

    async def act(self, action: Action, step: int) -> Observation:
        self._is_won = line_of(action) == self._goal
        return seen("right" if self._is_won else "wrong", reward=float(self._is_won), done=self._is_won)

    async def score(self) -> tuple[Outcome, bytes]:
        return Outcome(total=100.0 * self._is_won), b""

    def state(self) -> None:
        return None

    async def close(self) -> None:
        pass


KIND = EnvironmentKind(name="letters", title="Letters", about="Say the letter that is asked for.", open=LetterGame,
                       count=lambda: len(LETTERS), steps=3, plan=lambda settings: [LETTERS[settings.item]])


def use_letter_game() -> None:
    """Let it be known as the others are."""
    ENVIRONMENTS[KIND.name] = KIND
