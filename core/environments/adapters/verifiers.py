"""Tasksets of verifiers (0.4), and its environments of before: a question, a conversation or tools; scored by their own
rewards, in the worker."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.domain.host_rights import PACKAGE, PACKAGE_SETTINGS
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import EnvironmentKind
from core.environments.extra import MORE, require_package
from core.environments.line_tool import reward_in, seen
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

ABOUT = "You are given a task. Do what it says: `reply` says something, and where there are other tools, they act."
REPLY = ToolSpec(name="reply", description="Say something: an answer, a move, what the task asks for.", parameters={
    "type": "object", "properties": {"text": {"type": "string", "description": "What you say."}}, "required": ["text"]})
ITEMS = 100_000
"""An item is a task's place in the taskset; only the taskset knows how many it has."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\Z")


@cache
def _table(taskset: str, config: str) -> Any:
    """Raises InvalidInput, Unavailable, and whatever the package raises."""
    settings, is_older = msgspec.json.decode(config, type=dict), _is_older(taskset)
    if is_older and find_spec("verifiers.envs") is not None:
        from core.environments.verifiers_older import EnvironmentTable

        return EnvironmentTable(taskset, settings)
    from core.environments.verifiers_seat import TasksetTable

    try:
        return TasksetTable(taskset, settings)
    except (AttributeError, ImportError, TypeError, ValueError) as error:
        if is_older:  # a package may have both
            raise _other_version(taskset) from error
        raise


def _is_older(name: str) -> bool:
    """Whether a package has the interface of before 0.4; its code is not run, for it may need what is not here."""
    found = find_spec(name.replace("-", "_"))
    origin = Path(found.origin) if found is not None and found.origin else None
    return origin is not None and origin.suffix == ".py" and "load_environment" in origin.read_text(encoding="utf-8")


def _other_version(name: str) -> Unavailable:
    return Unavailable("no_environment_extra", f"{name} is written for verifiers before 0.4, which is not here: "
                       'pip install "verifiers<0.4".', package="verifiers<0.4")


class VerifiersTaskset:
    """One episode."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        require_package("verifiers", "verifiers")
        name, config = settings.options.get(PACKAGE, ""), settings.options.get(PACKAGE_SETTINGS, "{}")
        if not _NAME.match(name):
            raise InvalidInput("bad_environment", "Name the installed taskset: option taskset, as gsm8k-v1.")
        try:
            self._table = _table(name, config)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("bad_environment", f"The option config is no JSON object: {error}.") from error
        except ModuleNotFoundError as error:
            raise Unavailable("no_environment_extra", f"The taskset {name} cannot be loaded: {str(error)[:200]}.",
                              package=name) from error
        self._task = self._table.task(settings.item)
        self._seat: Any = None
        self._tools: list[ToolSpec] = []
        self._read = 0
        self._reward: float | None = None
        self._parts: dict[str, float] = {}

    def tools(self) -> list[ToolSpec]:
        """`reply`, and the tools of the task as it stands."""
        return [REPLY, *self._tools]

    def read(self, call: ToolCall) -> Action:
        """The action of a call; its tool judges the fields."""
        name, given, problem = read_arguments(call)
        return Action(call_id=call.id, tool=name, arguments=given, malformed=problem)

    async def reset(self, task: Task, seed: int) -> Observation:
        """The task's prompt. Raises Unavailable."""
        await self.close()
        self._read, self._reward = 0, None
        self._seat = await self._table.begin(self._task)
        return await self._next(None)

    async def act(self, action: Action, step: int) -> Observation:
        """Say something or call a tool; what comes back, and at the end the reward. Raises Unavailable."""
        if self._reward is not None:
            return seen("The task is over.", reward=0.0, done=True, problem="not_done")
        if action.tool != REPLY.name:
            function = {"name": action.tool, "arguments": json.dumps(action.arguments)}
            self._seat.answer({"role": "assistant", "content": None, "tool_calls": [
                {"id": action.call_id or f"call-{step}", "type": "function", "function": function}]})
        elif not isinstance(text := action.arguments.get("text"), str) or set(action.arguments) != {"text"}:
            return seen("reply takes one argument, text.", reward=0.0, problem="not_done")
        else:
            self._seat.answer({"role": "assistant", "content": text})
        return await self._next(0.0)

    async def score(self) -> tuple[Outcome, bytes]:
        """The reward, of 100; an episode that is not over ends here, and is scored as it is. Raises Unavailable."""
        if self._reward is None:
            self._seat.stop()
            while await self._seat.waits():
                self._seat.stop()
            self._ended()
        return Outcome(total=100.0 * min(1.0, max(0.0, self._reward or 0.0))), b""

    def state(self) -> bytes:
        """The rewards and metrics by their names, when it is over."""
        return msgspec.json.encode({"over": self._reward is not None, "reward": self._reward} | self._parts)

    async def close(self) -> None:
        """Leave the episode, also one that is not over."""
        if self._seat is not None:
            seat, self._seat = self._seat, None
            await seat.leave()

    async def _next(self, reward: float | None) -> Observation:
        """What the episode says before it asks again, or how it ended."""
        if not await self._seat.waits():
            self._ended()
            return seen(f"The task is over; reward {self._reward:g}.", reward=self._reward, done=True)
        question = self._seat.question
        self._tools = [ToolSpec(name=one["name"], description=one.get("description", ""),
                                parameters=one.get("parameters", {}))
                       for one in (tool["function"] for tool in question.get("tools", []))]
        if any(tool.name == REPLY.name for tool in self._tools):
            raise self._failed("it has a tool that is called reply, too")
        messages = question["messages"]
        new = messages[self._read:] if len(messages) > self._read else messages
        self._read = len(messages) + 1
        return seen("\n\n".join(filter(None, (_words(one) for one in new if one.get("role") != "assistant"))),
                    reward=reward)

    def _ended(self) -> None:
        """Take the rewards of an episode that is over. Raises Unavailable where it failed."""
        ended = self._seat.ended()
        self._reward = reward_in(ended.reward)
        if ended.problem or self._reward is None:
            raise self._failed(ended.problem or f"its reward is {ended.reward!r}")
        self._parts = ended.parts

    def _failed(self, why: str) -> Unavailable:
        return Unavailable("environment_failed", f"The environment verifiers failed: {why[:400]}.", kind="verifiers")


def _words(message: dict[str, Any]) -> str:
    """The text of a message; what is no text is named."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
    return content or ""


def _count() -> int:
    require_package("verifiers", "verifiers")
    return ITEMS


ENVIRONMENT = EnvironmentKind(
    name="verifiers", title="verifiers", about=ABOUT, open=VerifiersTaskset, count=_count, steps=40,
    options={PACKAGE: "the installed taskset or environment", PACKAGE_SETTINGS: "its own settings, a JSON object"},
    packages=("verifiers",), extra=MORE, apart=True, answer_s=600.0,
    imports=("core.environments.verifiers_seat",))
