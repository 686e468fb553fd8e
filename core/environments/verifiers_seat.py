"""The seat that a session takes in an episode of verifiers (0.4): whatever the episode asks its model, the session
answers. Its tasks, tools, users and rewards stay its own. Imported by the worker that plays one, and nowhere else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import verifiers.v1 as vf
from verifiers.v1.clients import Client
from verifiers.v1.harnesses.utils.mcp import call_mcp, connect_mcp
from verifiers.v1.interception import InterceptionServer
from verifiers.v1.utils.loaders import env_config_type, load_environment

from core.aio import TaskScope
from core.domain.errors import InvalidInput
from core.environments.seat import Ended, Seat

_HARNESS = "tiphys_seat"
_CLIENT = vf.EvalClientConfig(base_url="http://127.0.0.1:9/v1", api_key_var="TIPHYS_NO_SUCH_API_KEY")
"""Never asked: its place is taken."""
_BY_TRACE: dict[str, EpisodeSeat] = {}


class TasksetTable:
    """One taskset with what serves its episodes; all sessions of this process that play it share it."""

    def __init__(self, taskset: str, config: dict[str, Any]) -> None:
        sys.modules[_HARNESS] = sys.modules[__name__]
        kind = env_config_type(taskset)
        roles = [name for name, field in kind.model_fields.items() if isinstance(field.default, vf.AgentConfig)]
        if len(roles) != 1:
            raise InvalidInput("bad_environment", f"{taskset} has the agents {', '.join(roles)}: one can play.")
        seat = {"harness": {"id": _HARNESS}, "runtime": {"type": "subprocess"}}
        self._environment = load_environment(kind.model_validate(
            {"taskset": {**config, "id": taskset}, roles[0]: seat, "interception": {"type": "server"}}))
        self._rest: Iterator[vf.Task] = iter(self._environment.taskset)
        self._tasks: list[vf.Task] = []
        self._stack, self._is_serving = AsyncExitStack(), False
        self._scope = TaskScope("episodes")

    def task(self, item: int) -> vf.Task:
        """Raises InvalidInput for an item that there is none of."""
        while len(self._tasks) <= item:
            found = next(self._rest, None)
            if found is None:
                raise InvalidInput("bad_environment", f"This taskset has {len(self._tasks):,} tasks, so no {item}.")
            self._tasks.append(found)
        return self._tasks[item]

    async def begin(self, task: vf.Task) -> EpisodeSeat:
        """An episode of a task, as it runs."""
        if not self._is_serving:
            await self._serve()
            self._is_serving = True
        seat, context = EpisodeSeat(), vf.ModelContext(model="session", client=_CLIENT)
        seat.sit(self._scope.spawn(self._environment.run_episode(task, context, on_trace=seat.take_trace),
                                   name="episode"))
        return seat

    async def _serve(self) -> None:
        await self._stack.enter_async_context(self._environment.serving())
        server = self._environment._interception
        assert isinstance(server, InterceptionServer)
        server.clients[_CLIENT.model_dump_json()] = _SessionClient()


class EpisodeSeat(Seat):
    """One episode and what knows it by its trace."""

    def __init__(self) -> None:
        super().__init__()
        self._trace: vf.Trace | None = None

    def take_trace(self, trace: vf.Trace) -> None:
        """An episode's run has begun: what asks in its name asks here."""
        self._trace = trace
        _BY_TRACE[trace.id] = self

    def stop(self) -> None:
        if self._trace is not None:
            self._trace.stop("max_turns")
        self.answer({"role": "assistant", "content": ""})

    def outcome(self, result: vf.Episode) -> Ended:
        problems = [*result.errors, *(one for trace in result.traces for one in trace.errors)]
        if not result.ok:
            return Ended(problem="; ".join(f"{one.type}: {one.message}" for one in problems[:3]) or "it is not ok")
        trace = result.traces[-1]
        return Ended(trace.reward, {name: one.value for name, one in trace.rewards.items() if one is not None})

    async def leave(self) -> None:
        await super().leave()
        if self._trace is not None:
            _BY_TRACE.pop(self._trace.id, None)


class _SessionClient(Client):  # type: ignore[misc]
    """The model of all episodes of this process: the sessions that play them."""

    async def get_response(self, dialect: Any, body: dict[str, Any], sampling: Any, session_id: str | None = None,
                           turn: Any = None, headers: Any = None) -> vf.Response:
        message = await _BY_TRACE[session_id or ""].asks(body)
        raw = {"id": "session", "object": "chat.completion", "created": 0, "model": "session",
               "choices": [{"index": 0, "message": message,
                            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}],
               "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
        response = dialect.parse_response(dialect.validate_response(raw))
        response.raw = raw
        return response


class SeatHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """A chat with tools, in this process: until an answer calls none."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_MCP = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx: vf.ModelContext, trace: vf.Trace, runtime: vf.Runtime, endpoint: str, secret: str,
                     mcp_urls: dict[str, str], data: vf.TaskData) -> vf.ProgramResult:
        """One segment of the chat."""
        system, prompt = self.resolve_prompt(data)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        messages += [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [
            one.model_dump(mode="json", exclude_none=True) for one in prompt or []]
        servers = {"mcpServers": {name: {"url": url, "timeout": self.config.tool_timeout}
                                  for name, url in mcp_urls.items()}}
        async with AsyncExitStack() as stack:
            tools, *lines = await connect_mcp(servers, stack) if mcp_urls else ([], {}, {})
            while calls := await self._turn(trace, endpoint, secret, messages, tools):
                for call in calls:
                    messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"],
                                     "content": await _called(call["function"], *lines)})
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def _turn(self, trace: vf.Trace, endpoint: str, secret: str, messages: list[dict[str, Any]],
                    tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The calls of the next answer; none where it is the last, or a limit or a rule of the task's ended it."""
        asked = {"model": "session", "messages": messages} | ({"tools": tools} if tools else {})
        status, body = await _post(f"{endpoint}/chat/completions", secret, asked)
        if status != 200 and trace.stop_condition is None:
            raise RuntimeError(f"the episode's server answers {status}: {body[:300]!r}")
        if status != 200:
            return []
        message = json.loads(body)["choices"][0]["message"]
        messages.append(message)
        return list(message.get("tool_calls") or [])


async def _called(function: dict[str, Any], dispatch: dict[str, tuple[str, str]], servers: dict[str, Any]) -> Any:
    """What a tool answers, or why it did not: that is the model's to read."""
    try:
        return await call_mcp(servers, dispatch, function["name"], json.loads(function["arguments"]))
    except Exception as error:  # noqa: BLE001 - the program that verifiers ships tells it in the same way
        return f"error: {error}"


async def _post(url: str, secret: str, fields: dict[str, Any]) -> tuple[int, bytes]:
    """Status and body of an answer of this process's own server, which may take as long as a person."""
    parts, body = urlsplit(url), json.dumps(fields).encode()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 26)
    try:
        writer.write(f"POST {parts.path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {secret}\r\n"
                     f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        head, _, found = (await reader.read()).partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), found
    finally:
        writer.close()


__all__ = ["SeatHarness"]
