"""OpenEnv's servers (openenv 0.10) over their WebSocket: one connection is one session there, and ends with it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from core.domain.errors import InvalidInput, Unavailable
from core.domain.host_rights import ADDRESS, endpoint_of
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments import bounded_http
from core.environments.environment import EnvironmentKind
from core.environments.line_tool import reward_in, seen
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = "You act in an environment through one tool, `step`. What came back says what to do next."
TOOL = "step"
ITEMS = 100_000
"""An item is a seed; which of them differ, only the server knows."""
OPEN_S = 20.0
LONGEST_SCHEMA = 1 << 16
"""Bytes: a model is sent it with every request."""
_OURS = frozenset({"done", "reward", "metadata"})
"""Fields of every action and observation that are no words to the agent."""


class _Straight(connect):
    """A connection to the very address that was named."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class OpenEnv:
    """One session on a server."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        if not settings.options.get(ADDRESS):
            raise InvalidInput("bad_environment", "Name the server: option url, as http://127.0.0.1:8000.")
        self._url, self._item = endpoint_of(settings.options[ADDRESS]).rstrip("/"), settings.item
        self._socket: ClientConnection | None = None
        self._parameters: dict[str, Any] = {"type": "object", "properties": {}}
        self._reward, self._is_over = 0.0, False

    def tools(self) -> list[ToolSpec]:
        """One tool, with the fields that the server's schema of actions names."""
        return [ToolSpec(name=TOOL, description="Take one step.", parameters=self._parameters)]

    def read(self, call: ToolCall) -> Action:
        """The action of a call; the server judges its fields."""
        name, given, problem = read_arguments(call)
        if not problem and call.name != TOOL:
            problem = f"There is no tool {name!r}; there is {TOOL!r}."
        return Action(call_id=call.id, tool=name, arguments=given, malformed=problem)

    async def reset(self, task: Task, seed: int) -> Observation:
        """Connect, and begin. The server is given the item as seed, beside the task's."""
        await self.close()
        self._reward, self._is_over = 0.0, False
        self._parameters = self._fields(await bounded_http.get(f"{self._url}/schema"))
        try:
            self._socket = await _Straight(f"ws{self._url[4:]}/ws", max_size=bounded_http.LONGEST, proxy=None,
                                           open_timeout=OPEN_S, close_timeout=2.0)
        except (OSError, ValueError, TimeoutError, WebSocketException) as error:
            raise self._away(f"{error!r}") from error
        return seen(self._words(await self._ask("reset", {"seed": self._item + ITEMS * seed})))

    async def act(self, action: Action, step: int) -> Observation:
        """Take a step; `reward` and `done` are the server's."""
        if self._is_over:
            return seen("The game is over.", reward=0.0, done=True, problem="not_done")
        data = await self._ask("step", action.arguments)
        if "message" in data and "observation" not in data:
            return seen(str(data["message"])[:2_000], reward=0.0, problem="not_done")
        reward, done = data.get("reward"), data.get("done", False)
        number = 0.0 if reward is None else reward_in(reward)
        if not isinstance(done, bool) or number is None:
            raise self._away(f"it answers {data!r}")
        self._reward, self._is_over = self._reward + number, done
        return seen(self._words(data), reward=number, done=done)

    async def score(self) -> tuple[Outcome, bytes]:
        """The sum of the rewards, of 100; 1 is all that there is."""
        return Outcome(total=100.0 * min(1.0, max(0.0, self._reward))), b""

    def state(self) -> bytes:
        """Which server, and how much was reached."""
        return msgspec.json.encode({"url": self._url, "reward": self._reward, "over": self._is_over})

    async def close(self) -> None:
        """End the session there; a server that is gone has nothing to end."""
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(OSError, WebSocketException):
                await socket.send(msgspec.json.encode({"type": "close"}).decode())
                await socket.close()

    async def _ask(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The data of the answer to a message; of an error that is told, its message."""
        if self._socket is None:
            raise self._away("there is no connection")
        try:
            async with asyncio.timeout(bounded_http.TIMEOUT_S):
                with contextlib.suppress(ConnectionClosed):  # one without room says so before it is asked, and closes
                    await self._socket.send(msgspec.json.encode({"type": kind, "data": fields}).decode())
                answer = msgspec.json.decode(await self._socket.recv())
        except (OSError, ValueError, RecursionError, TimeoutError, WebSocketException) as error:
            raise self._away(f"{error!r}") from error
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, dict) or answer.get("type") not in ("observation", "error"):
            raise self._away(f"it answers {answer!r}")
        if answer["type"] == "error" and kind == "reset":
            raise self._away(f"it begins no game: {data.get('message')!r}")
        return data

    def _words(self, data: dict[str, Any]) -> str:
        """What is to be read: the one text of an observation, else all of its fields as JSON."""
        found = data.get("observation")
        if not isinstance(found, dict):
            raise self._away(f"it answers {data!r}")
        fields = {name: value for name, value in found.items() if name not in _OURS}
        texts = [value for value in fields.values() if isinstance(value, str)]
        return texts[0] if len(texts) == len(fields) == 1 else msgspec.json.format(msgspec.json.encode(fields)).decode()

    def _fields(self, schema: Any) -> dict[str, Any]:
        """The schema of a call, of what the server says of its actions."""
        action = schema.get("action") if isinstance(schema, dict) else None
        fields = action.get("properties") if isinstance(action, dict) else None
        if not isinstance(fields, dict) or not all(isinstance(one, dict) for one in fields.values()):
            raise self._away("its schema names no fields of actions")
        if len(msgspec.json.encode(action)) > LONGEST_SCHEMA:
            raise self._away(f"its schema of actions is longer than {LONGEST_SCHEMA >> 10} KiB")
        required = action.get("required", []) if isinstance(action, dict) else []
        return {"type": "object", "properties": {k: v for k, v in fields.items() if k not in _OURS},
                "required": [k for k in required if isinstance(k, str) and k not in _OURS]}

    def _away(self, why: str) -> Unavailable:
        return Unavailable("environment_away", f"The server at {self._url} does not answer as OpenEnv's do: "
                           f"{why}"[:400], url=self._url)


ENVIRONMENT = EnvironmentKind(
    name="openenv", title="OpenEnv", about=ABOUT, open=OpenEnv, count=lambda: ITEMS, steps=40,
    options={ADDRESS: "the server's address"})
