"""Writing a task as an environment: one tool for each phase, and the gates' words as what is seen of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from core.domain.drafts import PHASES, Phase
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import Task
from core.environments.environment import Environment
from core.environments.line_tool import seen
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec
from core.tasks.generation.draft import FinalTests, Idea, Image
from core.tasks.generation.in_progress import Answer, DraftInProgress
from core.tasks.scoring import Outcome


class _InitialTests(msgspec.Struct, forbid_unknown_fields=True):
    tests: str


class _Image(msgspec.Struct, forbid_unknown_fields=True):
    files: dict[str, str] = {}
    setup: str = ""


class _FinalTests(msgspec.Struct, forbid_unknown_fields=True):
    tests: str
    cheats: dict[str, str] = {}


class _Idea(Idea, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An idea as it is called for, with nothing beside it."""


_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_TOOLS: dict[str, tuple[Phase, type[Any], str, dict[str, Any]]] = {
    "description": ("description", _Idea, "Phase 1: the task as the agent reads it, and the truth.",
                    {name: {"type": "string"} for name in ("title", "description", "truth", "folder", "category",
                                                           "difficulty")}),
    "initial_tests": ("initial tests", _InitialTests, "Phase 2: Python tests of what is there at first.",
                      {"tests": {"type": "string"}}),
    "image": ("image", _Image, "Phase 3: the folder's files by path, and a bash script that makes some.",
              {"files": _TEXTS, "setup": {"type": "string"}}),
    "final_tests": ("final tests", _FinalTests, "Phase 4: Python tests of the end, and attempts to cheat by name.",
                    {"tests": {"type": "string"}, "cheats": _TEXTS}),
}
_REQUIRED = {"description": ("title", "description", "truth", "folder"), "initial_tests": ("tests",),
             "final_tests": ("tests",)}


class Drafting(Environment):
    """One draft, written by the agent of a session. The containers are the bench's."""

    def __init__(self, making: DraftInProgress, others: Sequence[str]) -> None:
        """`others` are the titles of drafts that are there already."""
        self._making, self._others = making, tuple(others)

    def tools(self) -> list[ToolSpec]:
        """One for each phase."""
        return [ToolSpec(name=name, description=about, parameters={
            "type": "object", "properties": fields, "required": list(_REQUIRED.get(name, ()))})
            for name, (_, _, about, fields) in _TOOLS.items()]

    def read(self, call: ToolCall) -> Action:
        """The action of a call; its arguments have the form that the phase asks for."""
        name, given, problem = read_arguments(call)
        if not problem and name not in _TOOLS:
            problem = f"There is no tool {name!r}; there are {', '.join(_TOOLS)}."
        if not problem:
            try:
                msgspec.convert(given, _TOOLS[name][1])
            except msgspec.ValidationError as error:
                problem = f"{name}: {error}"
        return Action(call_id=call.id, tool=name, arguments=given, malformed=problem)

    async def reset(self, task: Task, seed: int) -> Observation:
        """What is there already."""
        there = "".join(f"\n- {title}" for title in self._others[-40:])
        return seen(f"Drafts that are there already, of which yours must differ:{there}" if there
                    else "There is no draft yet: yours is the first.")

    async def act(self, action: Action, step: int) -> Observation:
        """Put an answer through the gates of its phase."""
        making, (phase, _, _, _) = self._making, _TOOLS[action.tool]
        if making.phase != phase:
            return seen(f"The phase that is open is {making.phase}: call its tool.", problem="wrong_phase")
        refusal = await making.take(_answer(action))
        if refusal is None:
            return _passed(making.phase)
        text = f"Refused by the gate '{refusal.gate}': {refusal.reason}"
        if making.is_over:
            return seen(f"{text}\nThe draft is given up.", reward=0.0, done=True)
        return seen(f"{text}\nMend it and give the {phase} again ({making.tries_left} left).", problem="gate_refused")

    async def score(self) -> tuple[Outcome, bytes]:
        """100 for a draft that passed all gates."""
        record = self._making.record()
        passed = record.state == "accepted"
        return Outcome(total=100.0 if passed else 0.0, message="" if passed else f"{record.gate}: {record.reason}"), b""


def _passed(following: Phase | None) -> Observation:
    if following is None:
        return seen("All gates were passed: the draft is whole.", reward=1.0, done=True)
    return seen(f"Passed. Next: phase {PHASES.index(following) + 1}, {following}.", reward=0.0)


def _answer(action: Action) -> Answer:
    _, form, _, _ = _TOOLS[action.tool]
    match msgspec.convert(action.arguments, form):
        case _InitialTests(tests=tests):
            return tests
        case _Image(files=files, setup=setup):
            return Image(files={name: text.encode() for name, text in files.items()}, setup=setup)
        case _FinalTests(tests=tests, cheats=cheats):
            return FinalTests(tests=tests, cheats=cheats)
        case idea:
            return msgspec.convert(msgspec.to_builtins(idea), Idea)
