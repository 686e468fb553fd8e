"""reasoning-gym: procedural puzzles of one answer each, with their own scorers."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
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

ABOUT = "You are given a puzzle. Give the answer, in the form that it asks for, and nothing else; you have one attempt."
PUZZLES = 100
"""Of each set: item N is puzzle N // M of set N % M, in the order of the M sets' names."""
NOT_ALONE = frozenset({"composite"})
"""Sets that are made of others that somebody chooses."""
RUNS_TEXT = frozenset({"eval", "exec", "parse_expr", "sympify", "parse_latex"})
"""What a scorer that names it does with an answer: run it as Python, here (sympy's parsers evaluate, too)."""


def _sets() -> list[str]:
    """The names of the sets whose scorers only read an answer. Raises Unavailable."""
    require_package("reasoning_gym", "reasoning-gym")
    import reasoning_gym  # noqa: F401 - it registers its sets
    from reasoning_gym.factory import DATASETS

    return sorted(name for name, (kind, _) in DATASETS.items()
                  if name not in NOT_ALONE and not RUNS_TEXT & set(_names(kind.score_answer.__code__)))


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function uses, those of functions within it among them."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _place(settings: EnvironmentSettings) -> tuple[str, int]:
    """The set and the number of the puzzle in it. Raises InvalidInput, Unavailable."""
    names, chosen = _sets(), settings.options.get("set", "")
    if chosen and chosen not in names:
        raise InvalidInput("bad_environment", f"reasoning-gym has no set {chosen[:80]!r} whose scorer only reads the "
                           "answer; some would run it as a program.")
    name, place = (chosen, settings.item) if chosen else (names[settings.item % len(names)],
                                                          settings.item // len(names))
    if place >= PUZZLES:
        raise InvalidInput("bad_environment", f"Of each set {PUZZLES} puzzles are items, so there is no item "
                           f"{settings.item}.")
    return name, place


def _puzzle(settings: EnvironmentSettings) -> tuple[Any, dict[str, Any]]:
    """The set and the puzzle of settings. Raises InvalidInput, Unavailable."""
    name, place = _place(settings)
    from reasoning_gym.factory import create_dataset

    made = create_dataset(name, size=place + 1, seed=settings.seed)
    return made, made[place]


class ReasoningGym(Environment):
    """One puzzle."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        self._settings = settings
        self._set, self._entry = _puzzle(settings)
        self._score: float | None = None

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes the answer."""
        return [line_tool("Give the answer.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The question."""
        self._set, self._entry = _puzzle(msgspec.structs.replace(self._settings, seed=seed))
        self._score = None
        return seen(str(self._entry["question"]))

    async def act(self, action: Action, step: int) -> Observation:
        """Score an answer; it is the end."""
        if self._score is not None:
            return seen("The answer was given.", reward=0.0, done=True, problem="not_done")
        try:
            found = float(self._set.score_answer(str(action.arguments["command"]).strip(), self._entry))
        except Exception:  # noqa: BLE001 - a scorer that cannot read an answer has not found it right
            found = 0.0
        self._score = min(1.0, max(0.0, found))
        return seen("That is right." if self._score >= 1 else "That is not right.", reward=self._score, done=True)

    async def score(self) -> tuple[Outcome, bytes]:
        """What the set's own scorer gave, of 100."""
        return Outcome(total=100.0 * (self._score or 0.0)), b""

    def state(self) -> bytes:
        """Which set, and whether an answer was given."""
        return msgspec.json.encode({"set": self._set.config.__class__.__name__, "answered": self._score is not None})


def _plan(settings: EnvironmentSettings) -> list[str]:
    """The set's own answer, where it has one that its scorer takes."""
    made, entry = _puzzle(settings)
    answer = entry.get("answer")
    if not isinstance(answer, str) or not answer.strip() or "\n" in answer or made.score_answer(answer, entry) < 1:
        raise InvalidInput("no_plan", f"reasoning-gym gives no answer in one line for item {settings.item}.")
    return [answer]


ENVIRONMENT = EnvironmentKind(
    name="reasoning-gym", title="reasoning-gym", about=ABOUT, open=ReasoningGym, count=lambda: PUZZLES * len(_sets()),
    steps=2, options={"set": "one set alone; the item is then its puzzle"}, packages=("reasoning-gym",), extra=MORE,
    plan=_plan, apart=True)
