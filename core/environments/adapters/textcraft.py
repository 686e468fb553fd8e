"""TextCraft: craft a goal from recipes, of which some lead nowhere. Only the goal counts, nothing on the way to it."""

from __future__ import annotations

import random
import re
from collections import Counter

import msgspec

from core.domain.errors import InvalidInput
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.crafting import Cookbook, exchanged, named, read_cookbook, spoken
from core.environments.environment import Environment, EnvironmentKind
from core.environments.extra import package_folder
from core.environments.line_tool import line_of, line_tool, seen
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = """You are given some useful crafting recipes to craft items in Minecraft, and a goal.
Commands: `craft N ITEM using N ITEM, N ITEM` carries a recipe out as it is written; where it names a kind of items
(planks, logs), use one item of that kind. `get N ITEM` takes what cannot be crafted from the ground. `inventory` tells
what you carry."""
MOST_DISTRACTORS = 10
_CRAFT = re.compile(r"craft ([0-9]+ )?(.+?) using (.+)\Z")
_GET = re.compile(r"get ([0-9]+) (.+)\Z")
_PART = re.compile(r"([0-9]+) (.+)\Z")


def _cookbook() -> Cookbook:
    return read_cookbook(package_folder("textcraft", "textcraft") / "data" / "recipes")


def _game(settings: EnvironmentSettings) -> tuple[Cookbook, str]:
    """The recipes and the goal of settings. Raises InvalidInput (bad_environment), Unavailable."""
    book, names = _cookbook(), settings.options.get("names", "")
    if settings.item >= len(book.goals):
        raise InvalidInput("bad_environment", f"TextCraft has {len(book.goals)} items, so no item {settings.item}.")
    if names not in ("", "exchanged"):
        raise InvalidInput("bad_environment", f"TextCraft's names are as they are, or exchanged, not {names[:80]!r}.")
    goal = book.goals[settings.item]
    if not names or not settings.seed:
        return book, goal
    other, become = exchanged(book, settings.seed)
    return other, become(goal)


def _plan(settings: EnvironmentSettings) -> list[str]:
    book, goal = _game(settings)
    return book.plan(goal)


class TextCraft(Environment):
    """One game."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        (self._book, self._goal), self._item = _game(settings), settings.item
        self._held: Counter[str] = Counter()
        self._is_won = False

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes a command."""
        return [line_tool("Carry out one command: craft … using …, get …, or inventory.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The recipes, those that lead nowhere among them, and the goal."""
        self._held, self._is_won = Counter(), False
        draw = random.Random(f"textcraft {self._item} {seed}")
        needed = self._book.needed(self._goal)
        names = dict.fromkeys(name for recipe in needed for name, _ in recipe.inputs)
        others = dict.fromkeys(r for name in names for r in self._book.uses(name) if r not in needed)
        shown = [*needed, *draw.sample(list(others), min(len(others), MOST_DISTRACTORS))]
        draw.shuffle(shown)
        lines = "\n".join(dict.fromkeys(recipe.words for recipe in shown))
        return seen(f"Crafting commands:\n{lines}\n\nGoal: craft {spoken(self._goal)}.")

    async def act(self, action: Action, step: int) -> Observation:
        """Carry a command out."""
        line = line_of(action)
        if line == "inventory":
            held = "".join(f"[{spoken(item)}] ({n}) " for item, n in self._held.items())
            return seen(f"Inventory: {held or 'You are not carrying anything.'}".strip(), reward=0.0)
        if match := _GET.match(line):
            return self._get(int(match[1]), match[2])
        if match := _CRAFT.match(line):
            return self._craft(match[2], match[3])
        return self._failed(f"Could not execute {line}")

    async def score(self) -> tuple[Outcome, bytes]:
        """100 for the goal, else 0."""
        return Outcome(total=100.0 * self._is_won), b""

    def state(self) -> bytes:
        """What is carried."""
        return msgspec.json.encode({"goal": spoken(self._goal),
                                    "inventory": {spoken(i): n for i, n in self._held.items()}})

    def _get(self, count: int, words: str) -> Observation:
        item = named(words)
        if self._book.is_craftable(item) or item not in self._book.items or not 0 < count < 10_000:
            return self._failed(f"Could not find {words}")
        self._held[item] += count
        return seen(f"Got {count} {words}", reward=0.0)

    def _craft(self, output: str, inputs: str) -> Observation:
        given: Counter[str] = Counter()
        for part in inputs.split(","):
            match = _PART.match(part.strip())
            if match is None:
                return self._failed(f"Wrong item format: {part.strip()}")
            given[named(match[2])] += int(match[1])
        item = named(output)
        if any(self._held[name] < n for name, n in given.items()):
            return self._failed(f"Could not find enough items to craft {item}")
        recipe = next((r for r in self._book.of_item.get(item, ()) if self._is_met(r.inputs, given)), None)
        if recipe is None:
            return self._failed(f"Could not find a valid recipe for {item}")
        self._held = +(self._held - given)
        self._held[item] += recipe.count
        self._is_won = self._is_won or item == self._goal
        return seen(f"Crafted {recipe.count} {item}", reward=float(item == self._goal), done=item == self._goal)

    def _is_met(self, wanted: tuple[tuple[str, int], ...], given: Counter[str]) -> bool:
        """Whether what is given is exactly what a recipe takes."""
        left = dict(given)
        for name, n in wanted:
            item = next((one for one in left if self._book.fits(name, one)), None)
            if item is None or left.pop(item) != n:
                return False
        return not left

    @staticmethod
    def _failed(why: str) -> Observation:
        return seen(why, reward=0.0, problem="not_done")


ENVIRONMENT = EnvironmentKind(
    name="textcraft", title="TextCraft", about=ABOUT, open=TextCraft, count=lambda: len(_cookbook().goals), steps=30,
    packages=("textcraft",), plan=_plan, options={
        "names": "exchanged: the words of the items are exchanged for one another by the seed, so that nothing can be "
                 "known by heart; the seed 0 leaves them as they are"})
