"""Tasksets of verifiers: what may run them is asked for by name; where the package is installed (330 MB: not in the
test environment; `pip install "verifiers>=0.4,<0.5"` and this file), a conversation and tools are played to the end."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput, Unavailable
from core.domain.host_rights import HostRight, rights_of
from core.domain.message import ToolCall
from core.domain.step import Observation
from core.domain.task import AgentSettings
from core.environments import apart
from core.environments.adapters import verifiers
from core.environments.environment import Environment
from core.environments.registry import environment_task, open_environment, open_here

TASKSETS = Path(__file__).parents[2] / "support" / "tasksets"
IS_HERE = importlib.util.find_spec("verifiers") is not None


def test_a_task_that_names_a_package_asks_for_its_code() -> None:
    task = environment_task("verifiers", taskset="gsm8k-v1", config='{"split": "train"}')
    right = HostRight("code", "gsm8k-v1", '{"split": "train"}')
    assert rights_of(task, AgentSettings()) == (right,)
    assert "gsm8k-v1" in right.sentence and "split" in right.sentence


def test_only_a_package_s_plain_name_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifiers, "require_package", lambda *_: None)
    for name in ("", "os.path", "../x", "a b", "-x"):
        with pytest.raises(InvalidInput, match="Name the installed taskset"):
            open_here(environment_task("verifiers", taskset=name).environment)


class ScriptedSeat:
    """An episode's questions, as the real one's have been recorded; it ends behind the last answer."""

    def __init__(self, *questions: dict[str, object]) -> None:
        self.questions, self.answers, self.question = list(questions), [], {}
        self.episode = self

    async def waits(self) -> bool:
        if self.questions:
            self.question = self.questions.pop(0)
            return True
        return False

    def answer(self, message: dict[str, object]) -> None:
        self.answers.append(message)

    def stop(self) -> None:
        self.questions.clear()

    async def leave(self) -> None:
        """Nothing is held."""

    def exception(self) -> BaseException | None:
        return KeyError("reward")

    async def begin(self, task: object) -> ScriptedSeat:
        return self

    def task(self, item: int) -> None:
        """Each is the same."""


def test_what_is_new_is_shown_and_a_call_that_is_none_goes_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = {"type": "function", "function": {"name": "price", "parameters": {"type": "object"}}}
    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What does it cost?"}]
    answer = {"role": "tool", "content": [{"type": "text", "text": "3"}]}
    then = [*first, {"role": "assistant", "content": None}, answer]
    seat = ScriptedSeat({"messages": first, "tools": [tool]}, {"messages": then, "tools": [tool]})
    monkeypatch.setattr(verifiers, "require_package", lambda *_: None)
    monkeypatch.setattr(verifiers, "_table", lambda *_: seat)

    async def played() -> None:
        task = environment_task("verifiers", taskset="shop-v1")
        place = open_here(task.environment)
        assert (await place.reset(task, 0)).output.text == "Be brief.\n\nWhat does it cost?"
        assert [one.name for one in place.tools()] == ["reply", "price"]
        assert (await _act(place, "reply", '{"words": "3"}')).is_error and not seat.answers
        assert (await _act(place, "price", '{"thing": "pen"}')).output.text == "3"
        assert seat.answers[0]["tool_calls"][0]["function"] == {"name": "price", "arguments": '{"thing": "pen"}'}
        with pytest.raises(Unavailable, match="KeyError"):
            await place.score()

    asyncio.run(played())


async def _act(place: Environment, name: str, arguments: str) -> Observation:
    return await place.act(place.read(ToolCall(id="c", name=name, arguments=arguments)), 1)


@pytest.mark.skipif(not IS_HERE, reason="verifiers is not installed")
@pytest.mark.timeout(900)
def test_a_conversation_and_tools_are_played_to_their_end_by_the_real_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TASKSETS), *sys.path]))
    apart._processes.cache_clear()

    async def played(taskset: str, *calls: tuple[str, str]) -> tuple[list[str], float | None]:
        task = environment_task("verifiers", item=0, taskset=taskset)
        place = open_environment(task.environment)
        seen = [(await place.reset(task, 0)).output.text]
        seen += [(await _act(place, *call)).output.text for call in calls]
        total = (await place.score())[0].total
        await place.close()
        return seen, total

    async def all_played() -> None:
        guess = "tiphys-guess-v1"
        assert await played(guess, ("reply", '{"text": "4"}'), ("reply", '{"text": "0"}')) == (
            ["Guess a number.", "Lower.", "The task is over; reward 1."], 100.0)
        assert (await played(guess, ("reply", '{"text": "4"}')))[1] == 0.0, "what is not over is scored as it is"
        assert await played("tiphys-shop-v1", ("shop_price", '{"thing": "pen"}'), ("reply", '{"text": "3"}')) == (
            ["What does a pen cost?", "3", "The task is over; reward 1."], 100.0)
        with pytest.raises(Unavailable, match="no-such-taskset"):
            await played("no-such-taskset")

    try:
        asyncio.run(all_played())
    finally:
        apart._processes().close()
        apart._processes.cache_clear()
