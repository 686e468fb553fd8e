"""The servers of AgentGym, over HTTP: each session has a game of its own there, from `create` to `close`.

They speak three dialects (AgentGym, agentenv-*): games with an `id`, whose answers are objects with `observation` (or
`error`); games with an `env_idx`, whose `reset` answers a list and whose steps have a `state`; and tools with an
`env_idx`, whose `create` takes the item and whose steps have an `observation`. The answers say which one it is.
"""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.domain.host_rights import ADDRESS, endpoint_of
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.bounded_http import post
from core.environments.environment import Environment, EnvironmentKind
from core.environments.line_tool import line_tool, reward_in, seen
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = "You act in an environment that answers each command. What there is to do, and how, comes first."
ITEMS = 100_000
"""Which items there are, only the server knows: it refuses those that there are none of."""
FIELDS = ("data_idx", "session_id", "item_id", "id", "game")
"""What servers call an item in `reset`: TextCraft, BabyAI, ScienceWorld; WebShop; SQLGym; SearchQA and tools; ALFWorld.
"""


class AgentGym(Environment):
    """One game on a server."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        if not settings.options.get(ADDRESS):
            raise InvalidInput("bad_environment", "Name the server: option url, as http://127.0.0.1:36001.")
        self._url = endpoint_of(settings.options[ADDRESS]).rstrip("/")
        self._field = settings.options.get("item_field", FIELDS[0])
        if self._field not in FIELDS:
            raise InvalidInput("bad_environment", f"item_field is one of {', '.join(FIELDS)}.")
        self._item, self._game, self._key = settings.item, -1, "id"
        self._best, self._is_over = 0.0, False

    def tools(self) -> list[ToolSpec]:
        """One tool, which takes a command."""
        return [line_tool("Carry out one command.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """Have a game, and what there is to see. AgentGym's servers know no seed: an item is the same each time."""
        await self.close()
        self._best, self._is_over = 0.0, False
        made = await post(f"{self._url}/create", {"id": self._item} if self._field == "id" else {})
        self._game, self._key = self._lease(made)
        answer = await self._ask("reset", {self._field: self._item})
        return seen(self._words(answer[0] if isinstance(answer, list) and answer else answer))

    async def act(self, action: Action, step: int) -> Observation:
        """Carry a command out; `reward` and `done` are the server's."""
        if self._is_over:
            return seen("The game is over.", reward=0.0, done=True, problem="not_done")
        answer = await self._ask("step", {"action": str(action.arguments["command"]).strip()})
        if isinstance(answer, dict) and isinstance(answer.get("error"), str):
            return seen(answer["error"][:2_000] or "It could not be done.", reward=0.0, problem="not_done")
        reward, done = self._number(answer), answer.get("done")
        if not isinstance(done, bool):
            raise self._strange(answer)
        self._best, self._is_over = max(self._best, reward), done
        return seen(self._words(answer), reward=reward, done=done)

    async def score(self) -> tuple[Outcome, bytes]:
        """The best reward that the server gave, of 100: AgentGym's are 0 to 1, or (ScienceWorld) 0 to 100."""
        best = self._best if self._best > 1 else 100.0 * self._best
        return Outcome(total=min(100.0, max(0.0, best))), b""

    def state(self) -> bytes:
        """Which game of the server it is."""
        return msgspec.json.encode({"url": self._url, self._key: self._game, "reward": self._best})

    async def close(self) -> None:
        """Give the game back; a server that is gone has nothing to give it back to."""
        if self._game >= 0:
            with contextlib.suppress(Unavailable):
                await self._ask("close", {})
            self._game = -1

    async def _ask(self, what: str, fields: dict[str, object]) -> Any:
        return await post(f"{self._url}/{what}", {**fields, self._key: self._game})

    def _lease(self, made: Any) -> tuple[int, str]:
        """The game's number, and what this dialect calls it."""
        number = made.get("id", made.get("env_idx")) if isinstance(made, dict) else made
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << 53:
            raise self._strange(made)
        return number, "id" if isinstance(made, dict) and "id" in made else "env_idx"

    def _words(self, answer: Any) -> str:
        text = answer if isinstance(answer, str) else None
        if isinstance(answer, dict):
            if isinstance(answer.get("error"), str):
                raise InvalidInput("bad_environment", f"The server at {self._url} refuses item {self._item}: "
                                   f"{answer['error'][:300]}")
            text = next((answer[name] for name in ("observation", "state") if isinstance(answer.get(name), str)), None)
        if text is None:
            raise self._strange(answer)
        return text

    def _number(self, answer: Any) -> float:
        reward = reward_in(answer.get("reward")) if isinstance(answer, dict) else None
        if reward is None:
            raise self._strange(answer)
        return reward

    def _strange(self, answer: Any) -> Unavailable:
        return Unavailable("environment_away", f"The server at {self._url} does not answer as AgentGym's do: "
                           f"{answer!r}"[:300], url=self._url)


ENVIRONMENT = EnvironmentKind(
    name="agentgym", title="AgentGym", about=ABOUT, open=AgentGym, count=lambda: ITEMS, steps=40,
    options={ADDRESS: "the server's address", "item_field": "what it calls an item in reset: data_idx, session_id, …"})
