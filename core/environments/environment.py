"""The protocol of environments, and how a kind of them is declared.

An environment is played by one session at a time. It gives the session its tools, answers each action with an
observation (with `reward` and `done` where it has them), and says in the end what was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.line_tool import read_line_call
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome


class Environment(Protocol):
    """What a session plays in."""

    def tools(self) -> Sequence[ToolSpec]:
        """What the agent may call here; all that it may."""

    def read(self, call: ToolCall) -> Action:
        """The action that a call asks for; never raises. What cannot be read has its reason in `malformed`.
        Most have one tool, which takes a line."""
        return read_line_call(call)

    async def reset(self, task: Task, seed: int) -> Observation:
        """Begin, and say what there is to see. Of the same task and seed it is always the same.

        Raises InvalidInput for items or options that there are none of, Unavailable.
        """

    async def act(self, action: Action, step: int) -> Observation:
        """Carry an action out. Never raises for the agent's mistake. Raises Unavailable."""

    async def score(self) -> tuple[Outcome, bytes]:
        """What was reached by now (0 to 100), and what of it goes into the log. Raises Unavailable."""

    def state(self) -> bytes | None:
        """What a person may want to see of its inside, as JSON; None where it shows nothing."""
        return None

    async def close(self) -> None:
        """Let go of it, where there is something to let go of."""
        return


class EnvironmentKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind. `open` makes an environment of its settings; `count` says how many items there are. `options` are the
    names that settings may give, with what each means. `steps` is a usual limit. `packages` are the distributions that
    it needs beside the program (the extra `extra`). `plan`: the right commands for an item, where it knows them.
    `apart`: its code is foreign and computes here, so it is played in a worker process; there an answer takes
    `answer_s` seconds at most, and `imports` are modules that all workers share, as they take long to import.

    `open`, `count` and `plan` raise Unavailable (no_environment_extra) where a package is missing, InvalidInput.
    """

    name: str
    title: str
    about: str
    open: Callable[[EnvironmentSettings], Environment]
    count: Callable[[], int]
    steps: int = 30
    options: dict[str, str] = {}
    packages: tuple[str, ...] = ()
    extra: str = "environments"
    apart: bool = False
    imports: tuple[str, ...] = ()
    answer_s: float = 60.0
    plan: Callable[[EnvironmentSettings], list[str]] | None = None
