"""BabyAI's levels of instructions in a grid world (minigrid), seen and played in words."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import Environment, EnvironmentKind
from core.environments.extra import require_package
from core.environments.line_tool import line_of, line_tool, seen
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = """You walk through rooms to a goal. You see what lies in front of you, in steps ahead and to the left or right.
Commands: `turn left`, `turn right`, `move forward`, `pick up` and `drop` (what lies right in front of you, or there),
`toggle` (open or close what stands right in front of you; a locked door takes the key of its colour)."""
COMMANDS = {"turn left": 0, "turn right": 1, "move forward": 2, "pick up": 3, "drop": 4, "toggle": 5}
LEVELS = (
    "GoToRedBallGrey-v0", "GoToRedBall-v0", "GoToRedBallNoDists-v0", "GoToObj-v0", "GoToObjS4-v0", "GoToObjS6-v1",
    "GoToLocal-v0", "GoToLocalS5N2-v0", "GoToLocalS6N2-v0", "GoToLocalS6N3-v0", "GoToLocalS7N4-v0",
    "GoToLocalS8N5-v0", "GoTo-v0", "GoToOpen-v0", "GoToObjMaze-v0", "GoToObjMazeS4R2-v0", "GoToImpUnlock-v0",
    "GoToSeq-v0", "GoToSeqS5R2-v0", "GoToRedBlueBall-v0", "GoToDoor-v0", "GoToObjDoor-v0", "Open-v0",
    "OpenRedDoor-v0", "OpenDoor-v0", "OpenDoorColor-v0", "OpenDoorLoc-v0", "OpenTwoDoors-v0", "Pickup-v0",
    "UnblockPickup-v0", "PickupLoc-v0", "PickupDist-v0", "PickupAbove-v0", "PutNextLocal-v0", "PutNextS4N1-v0",
    "Unlock-v0", "UnlockLocal-v0", "SynthS5R2-v0", "UnlockPickup-v0", "BlockedUnlockPickup-v0")
LAYOUTS = 100
"""Layouts of each level: item N is layout N // 40 of level N % 40."""


def _made(settings: EnvironmentSettings) -> Any:
    """The game of an item, at its beginning. Raises InvalidInput, Unavailable."""
    require_package("minigrid", "minigrid")
    if settings.item >= len(LEVELS) * LAYOUTS:
        raise InvalidInput("bad_environment", f"BabyAI has {len(LEVELS) * LAYOUTS} items, so no {settings.item}.")
    import gymnasium
    import minigrid  # noqa: F401 - it registers its levels

    game = gymnasium.make(f"BabyAI-{LEVELS[settings.item % len(LEVELS)]}", disable_env_checker=True).unwrapped
    with contextlib.redirect_stdout(io.StringIO()):  # it prints which layouts it threw away
        game.reset(seed=settings.item // len(LEVELS) + LAYOUTS * settings.seed)
    return game


def _plan(settings: EnvironmentSettings) -> list[str]:
    """What BabyAI's own bot does. Raises InvalidInput where it finds no way."""
    from minigrid.utils.baby_ai_bot import BabyAIBot

    game, words = _made(settings), {number: word for word, number in COMMANDS.items()}
    bot, commands, action, is_over = BabyAIBot(game), list[str](), None, False
    while not is_over:
        try:
            action = bot.replan(action)
        except (AssertionError, ValueError) as error:
            raise _no_way(settings) from error
        if int(action) not in words:
            raise _no_way(settings)
        commands.append(words[int(action)])
        _, _, won, cut, _ = game.step(action)
        is_over = won or cut
    return commands


def _no_way(settings: EnvironmentSettings) -> InvalidInput:
    return InvalidInput("no_plan", f"BabyAI's bot finds no way through item {settings.item}.")


class BabyAI(Environment):
    """One game."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        self._settings, self._game = settings, _made(settings)
        self._is_won = self._is_over = False

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes a command."""
        return [line_tool(f"Carry out one command: {', '.join(COMMANDS)}.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The goal, and what is seen at first."""
        self._game = _made(msgspec.structs.replace(self._settings, seed=seed))
        self._is_won = self._is_over = False
        return seen(f"Your goal: {self._game.mission}\n{self._view()}")

    async def act(self, action: Action, step: int) -> Observation:
        """Carry a command out."""
        line = line_of(action)
        if line not in COMMANDS:
            return seen(f"There is no command {line!r}; there are {', '.join(COMMANDS)}.", reward=0.0,
                        problem="not_done")
        if self._is_over:
            return seen("The game is over.", reward=0.0, done=True, problem="not_done")
        _, reward, won, cut, _ = self._game.step(COMMANDS[line])
        self._is_won, self._is_over = bool(won and reward > 0), bool(won or cut)
        words = "You reached the goal." if self._is_won else self._view()
        return seen(words, reward=float(reward), done=self._is_over)

    async def score(self) -> tuple[Outcome, bytes]:
        """100 for the goal, else 0."""
        return Outcome(total=100.0 * self._is_won), b""

    def state(self) -> bytes:
        """Where the agent stands, and what it carries."""
        x, y = map(int, self._game.agent_pos)
        return msgspec.json.encode({"mission": self._game.mission, "at": [x, y], "facing": int(self._game.agent_dir),
                                    "carries": self._carried()})

    async def close(self) -> None:
        """Let go of the game."""
        self._game.close()

    def _carried(self) -> str:
        held = self._game.carrying
        return f"{held.color} {held.type}" if held is not None else ""

    def _view(self) -> str:
        """What is in sight, from near to far."""
        grid, visible = self._game.gen_obs_grid()
        size = self._game.agent_view_size
        found = []
        for y in reversed(range(size)):
            for x in range(size):
                thing = grid.get(x, y)
                is_self = (x, y) == (size // 2, size - 1)
                if thing is not None and not is_self and visible[x, y] and thing.type not in ("wall", "floor"):
                    found.append((thing, size - 1 - y, x - size // 2))
        numbers: Counter[str] = Counter()
        lines = []
        for thing, ahead, right in sorted(found, key=lambda one: (one[1] + abs(one[2]), one[2])):
            name = _name(thing)
            numbers[name] += 1
            lines.append(f"{name} {numbers[name]}: {_place(ahead, right)}")
        held = self._carried()
        return "\n".join(["You see " + ("; ".join(lines) if lines else "nothing") + ".", self._wall(grid),
                          f"You carry a {held}." if held else "You carry nothing."])

    def _wall(self, grid: Any) -> str:
        """How far it is straight on."""
        size = self._game.agent_view_size
        for ahead in range(1, size):
            thing = grid.get(size // 2, size - 1 - ahead)
            if thing is not None and thing.type == "wall":
                return f"A wall is {ahead} {'step' if ahead == 1 else 'steps'} ahead."
        return "No wall is in sight ahead."


def _name(thing: Any) -> str:
    """What a thing is called; of a door, how it stands."""
    if thing.type != "door":
        return f"{thing.color} {thing.type}"
    state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return f"{state} {thing.color} door"


def _place(ahead: int, right: int) -> str:
    side = f"{abs(right)} to the {'right' if right > 0 else 'left'}" if right else ""
    front = f"{ahead} ahead" if ahead else ""
    return " and ".join(filter(None, (front, side)))


def _count() -> int:
    require_package("minigrid", "minigrid")
    return len(LEVELS) * LAYOUTS


ENVIRONMENT = EnvironmentKind(
    name="babyai", title="BabyAI", about=ABOUT, open=BabyAI, count=_count, steps=64, packages=("minigrid",), plan=_plan,
    apart=True)
