"""TextArena's games for one player, in their raw form: each move is answered by what is new."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import Environment, EnvironmentKind
from core.environments.extra import MORE, require_package
from core.environments.line_tool import line_tool, seen
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = "You play a game in words. Its rules come first; a move is written in square brackets as they say, as `[7]`."
GAMES = ("GuessTheNumber-v0", "TowerOfHanoi-v0", "2048-v0", "Bandit-v0", "Blackjack-v0", "Countdown-v0",
         "Cryptarithm-v0", "FifteenPuzzle-v0", "FrozenLake-v0", "LightsOut-v0", "LogicPuzzle-v0", "Mastermind-v0",
         "Minesweeper-v0", "PegJump-v0", "RushHour-v0", "Secretary-v0", "Set-v0", "Slitherlink-v0", "Sudoku-v0",
         "ThreeCardMonte-v0")
"""Games for one player that need nothing from the network, and begin the same of the same seed."""
ROUNDS = 100
"""Of each game: item N is round N // 20 of game N % 20."""


class TextArena(Environment):
    """One game. Games draw from Python's one source of chance; each keeps its own place in it, whoever plays beside."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        require_package("textarena", "textarena")
        if settings.item >= len(GAMES) * ROUNDS:
            raise InvalidInput("bad_environment", f"TextArena has {len(GAMES) * ROUNDS} items, so no {settings.item}.")
        self._settings, self._name = settings, GAMES[settings.item % len(GAMES)]
        self._chance: Any = random.Random(0).getstate()
        self._is_over, self._reward = False, 0.0
        self._begin(settings.seed)

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes a move."""
        return [line_tool("Make a move, written as the rules say.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The rules, and how the game stands."""
        self._begin(seed)
        return seen(self._new())

    async def act(self, action: Action, step: int) -> Observation:
        """Make a move."""
        if self._is_over:
            return seen("The game is over.", reward=0.0, done=True, problem="not_done")
        with self._own_chance():
            self._is_over = bool(self._game.step(str(action.arguments["command"]).strip())[0])
            words = self._new()
            if self._is_over:
                rewards, _ = self._game.close()
                self._reward = float((rewards or {}).get(0, 0.0))
                words = "\n".join(filter(None, (words, self._why())))
        return seen(words or "Done.", reward=self._reward, done=self._is_over)

    async def score(self) -> tuple[Outcome, bytes]:
        """The game's own reward, of 100; less than none counts as none."""
        return Outcome(total=100.0 * min(1.0, max(0.0, self._reward))), b""

    def state(self) -> bytes:
        """Which game, and how far it is."""
        return msgspec.json.encode({"game": self._name, "turn": int(self._game.state.turn), "over": self._is_over})

    def _begin(self, seed: int) -> None:
        import textarena

        self._is_over, self._reward = False, 0.0
        with self._own_chance():
            self._game = textarena.make(f"{self._name}-raw")
            self._game.reset(num_players=1, seed=seed * ROUNDS + self._settings.item // len(GAMES))

    @contextmanager
    def _own_chance(self) -> Iterator[None]:
        others = random.getstate()
        random.setstate(self._chance)
        try:
            yield
        finally:
            self._chance = random.getstate()
            random.setstate(others)

    def _new(self) -> str:
        """What the game says since the last time, without the player's own words."""
        _, news = self._game.get_observation()
        return "\n".join(str(message) for sender, message, *_ in news if sender != 0).strip()

    def _why(self) -> str:
        about = (self._game.state.game_info or {}).get(0, {})
        return str(about.get("reason", ""))


def _plan(settings: EnvironmentSettings) -> list[str]:
    """The right moves of the games whose inside says them."""
    made = TextArena(settings)
    if made._name == "GuessTheNumber-v0":
        return [f"[{made._game.state.game_state['game_number']}]"]
    if made._name == "TowerOfHanoi-v0":
        disks = sum(map(len, made._game.state.game_state["towers"].values()))
        return list(_moved(disks, "A", "C", "B"))
    raise InvalidInput("no_plan", f"Nothing knows the right moves of {made._name}.")


def _moved(count: int, start: str, end: str, other: str) -> Iterator[str]:
    """Moves of so many disks from one tower to another."""
    if count:
        yield from _moved(count - 1, start, other, end)
        yield f"[{start} {end}]"
        yield from _moved(count - 1, other, end, start)


def _count() -> int:
    require_package("textarena", "textarena")
    return len(GAMES) * ROUNDS


ENVIRONMENT = EnvironmentKind(
    name="textarena", title="TextArena", about=ABOUT, open=TextArena, count=_count, steps=40, packages=("textarena",),
    extra=MORE, plan=_plan, apart=True)
