"""Crafting recipes in Minecraft's form: which there are, how deep an item lies, how one is made from the ground up.

The rules are TextCraft's (ADaPT, Prasad et al. 2023; AgentGym): a recipe's ingredient is an item, or a tag that several
items have; recipes that would go in circles are left out. Items and recipes stand in an order of their own, so that
everything that follows is the same on every machine.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput

PREFIX = "minecraft:"


class CraftingRecipe(msgspec.Struct, frozen=True):
    """`count` of an item out of ingredients (item or tag, how many)."""

    item: str
    count: int
    inputs: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The recipe as the command that carries it out, but for tags."""
        parts = ", ".join(f"{n} {spoken(name)}" for name, n in self.inputs)
        return f"craft {self.count} {spoken(self.item)} using {parts}"


class Cookbook:
    """All recipes of a folder."""

    def __init__(self, recipes: Sequence[CraftingRecipe], tag_of: Mapping[str, str], tags: frozenset[str]) -> None:
        self.tag_of = dict(tag_of)
        self.of_item: dict[str, list[CraftingRecipe]] = {}
        self.of_tag: dict[str, list[CraftingRecipe]] = {}
        for recipe in recipes:
            self.of_item.setdefault(recipe.item, []).append(recipe)
            if tag := self.tag_of.get(recipe.item):
                self.of_tag.setdefault(tag, []).append(recipe)
        self.tags = frozenset(t for t in tags if t in self.of_tag)
        inputs = {name for recipe in recipes for name, _ in recipe.inputs}
        self.items = frozenset({*self.of_item, *inputs} - self.tags)

    @cached_property
    def goals(self) -> list[str]:
        """The items that can be crafted, the simplest first."""
        return sorted(self.of_item, key=lambda item: (self.depth(item), item))

    def recipes(self, name: str) -> list[CraftingRecipe]:
        """The recipes of an item or a tag."""
        return self.of_item.get(name) or self.of_tag.get(name) or []

    def is_craftable(self, name: str) -> bool:
        """Whether a recipe makes it, so that it cannot be had from the ground."""
        return name in self.of_item or name in self.of_tag

    def fits(self, wanted: str, item: str) -> bool:
        """Whether an item serves as an ingredient."""
        return item == wanted or (wanted in self.tags and self.tag_of.get(item) == wanted)

    @cached_property
    def _depths(self) -> dict[str, int]:
        """How many recipes lie between an item or tag and the ground at least."""
        names = {*self.of_item, *self.of_tag}
        depths: dict[str, int] = {}
        for _ in range(len(names)):  # rounds until nothing becomes less deep
            found = {name: min(d) for name in names if (d := list(self._by_recipe(name, depths, names)))}
            if found == depths:
                break
            depths = found
        return depths

    def _by_recipe(self, name: str, depths: Mapping[str, int], made: set[str]) -> Iterator[int]:
        for recipe in self.recipes(name):
            below = [depths.get(one) if one in made else 0 for one, _ in recipe.inputs]
            if None not in below:
                yield 1 + max((d for d in below if d is not None), default=0)

    def depth(self, name: str) -> int:
        """How deep an item or tag lies; 0 for what comes from the ground."""
        return self._depths.get(name, 0 if not self.is_craftable(name) else 1_000)

    def needed(self, goal: str) -> list[CraftingRecipe]:
        """The recipes of a goal and of all that goes into it."""
        found: list[CraftingRecipe] = []
        waiting, known = [goal], {goal}
        while waiting:
            for recipe in self.recipes(waiting.pop(0)):
                if recipe not in found:
                    found.append(recipe)
                for name, _ in recipe.inputs:
                    if name not in known:
                        known.add(name)
                        waiting.append(name)
        return found

    @cached_property
    def _uses(self) -> dict[str, list[CraftingRecipe]]:
        uses: dict[str, list[CraftingRecipe]] = {}
        for recipe in (r for recipes in self.of_item.values() for r in recipes):
            for name, _ in recipe.inputs:
                uses.setdefault(name, []).append(recipe)
        return uses

    def uses(self, name: str) -> list[CraftingRecipe]:
        """The recipes in which an item or tag is an ingredient."""
        return self._uses.get(name, [])

    def plan(self, goal: str) -> list[str]:
        """Commands that make a goal. Raises InvalidInput (bad_environment) where nothing does."""
        if self.depth(goal) >= 1_000:
            raise InvalidInput("bad_environment", f"No commands make {spoken(goal)}.")
        commands: list[str] = []
        self._make(goal, 1, Counter(), commands)
        return commands

    def _make(self, name: str, count: int, held: Counter[str], commands: list[str]) -> str:
        """Have so many of an item or tag; gives the item."""
        if not self.is_craftable(name):
            commands.append(f"get {count} {spoken(name)}")
            held[name] += count
            return name
        recipe = min(self.recipes(name), key=lambda r: (max(self.depth(one) for one, _ in r.inputs), r.words))
        while held[recipe.item] < count:
            used = []
            for one, each in recipe.inputs:
                item = next((i for i in sorted(held) if self.fits(one, i) and held[i] >= each), "")
                item = item or self._make(one, each, held, commands)
                held[item] -= each
                used.append((item, each))
            parts = ", ".join(f"{n} {spoken(item)}" for item, n in used)
            commands.append(f"craft {recipe.count} {spoken(recipe.item)} using {parts}")
            held[recipe.item] += recipe.count
        return recipe.item


@lru_cache(maxsize=4)
def exchanged(book: Cookbook, seed: int) -> tuple[Cookbook, Callable[[str], str]]:
    """The same recipes, the words of all names exchanged for one another by the seed, and what a name became. Two names
    stay two, and what was one word of several names is still one."""
    words = sorted({word for name in {*book.items, *book.tag_of.values()} for word in _words(name)})
    other = dict(zip(words, random.Random(f"exchanged {seed}").sample(words, len(words)), strict=True))

    def become(name: str) -> str:
        return PREFIX + "_".join(other.get(word, word) for word in _words(name))

    recipes = [CraftingRecipe(become(r.item), r.count, tuple((become(name), n) for name, n in r.inputs))
               for of_item in book.of_item.values() for r in of_item]
    tags = {become(item): become(tag) for item, tag in book.tag_of.items()}
    return Cookbook(recipes, tags, frozenset(map(become, book.tags))), become


def _words(name: str) -> list[str]:
    return name.removeprefix(PREFIX).split("_")


def spoken(name: str) -> str:
    """An item as it is called in commands."""
    return name.removeprefix(PREFIX).replace("_", " ")


def named(words: str) -> str:
    """The item or tag that words of a command call."""
    return PREFIX + words.strip().replace(" ", "_")


@cache
def read_cookbook(folder: Path) -> Cookbook:
    """The recipes of a folder of JSON files, by their names. Raises InvalidInput (bad_environment)."""
    recipes: list[CraftingRecipe] = []
    tag_of: dict[str, str] = {}
    tags: set[str] = set()
    below: dict[str, set[str]] = {}
    try:
        for path in sorted(folder.glob("*.json")):
            _take(json.loads(path.read_text(encoding="utf-8")), recipes, tag_of, tags, below)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("bad_environment", f"The recipes in {folder} cannot be read: {error!r}") from error
    if not recipes:
        raise InvalidInput("bad_environment", f"There are no recipes in {folder}.")
    return Cookbook(recipes, tag_of, frozenset(tags))


def _take(raw: dict[str, Any], recipes: list[CraftingRecipe], tag_of: dict[str, str], tags: set[str],
          below: dict[str, set[str]]) -> None:
    """Take one file's recipe in, unless it is of another kind, unpacks a block, or goes in a circle."""
    inputs = _inputs(raw, tags)
    if inputs is None:
        return
    result = raw["result"]
    item = result if isinstance(result, str) else result["item"]
    count = 1 if isinstance(result, str) else int(result.get("count") or 1)
    if len(inputs) == 1 and inputs[0][0].endswith("_block"):
        return
    tag = PREFIX + raw["group"] if raw.get("group") else ""
    if tag and tag != item:
        tags.add(tag)
        tag_of[item] = tag
    under = below.setdefault(item, set())
    if any(item in below.get(name, ()) or name == item for name, _ in inputs):
        return
    for name, _ in inputs:
        under |= {name, *below.get(name, ())}
    recipes.append(CraftingRecipe(item, count, inputs))


def _inputs(raw: dict[str, Any], tags: set[str]) -> tuple[tuple[str, int], ...] | None:
    """The ingredients of a recipe that is laid on a bench; None for smelting and the like."""
    counted: Counter[str] = Counter()
    if raw["type"] == "minecraft:crafting_shaped":
        for key, one in raw["key"].items():
            counted[_name(one, tags)] += sum(line.count(key) for line in raw["pattern"])
    elif raw["type"] == "minecraft:crafting_shapeless":
        for one in raw["ingredients"]:
            counted[_name(one, tags)] += 1
    else:
        return None
    return tuple(counted.items())


def _name(ingredient: Any, tags: set[str]) -> str:
    one = ingredient[0] if isinstance(ingredient, list) else ingredient
    if "item" in one:
        return str(one["item"])
    tags.add(one["tag"])
    return str(one["tag"])
