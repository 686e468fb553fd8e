"""Tasksets of verifiers: what may run them is asked for by name; where the package is installed (330 MB: not in the
test environment; `pip install "verifiers>=0.4,<0.5"`, or "verifiers<0.4" for its older interface, and this file), one
answer, a conversation and tools are played to the end."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from collections.abc import Iterator
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
from core.environments.seat import Ended

TASKSETS = Path(__file__).parents[2] / "support" / "tasksets"
IS_HERE = importlib.util.find_spec("verifiers") is not None
IS_OLDER = IS_HERE and importlib.util.find_spec("verifiers.envs") is not None
IS_NEW = IS_HERE and not IS_OLDER


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

    def ended(self) -> Ended:
        return Ended(problem="KeyError: reward")

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


@pytest.fixture
def _workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers that find the tasksets of the tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TASKSETS), *sys.path]))
    apart._processes.cache_clear()
    yield
    apart._processes().close()
    apart._processes.cache_clear()


async def _played(taskset: str, *calls: tuple[str, str], **options: str) -> tuple[list[str], float | None]:
    task = environment_task("verifiers", item=0, taskset=taskset, **options)
    place = open_environment(task.environment)
    try:
        seen = [(await place.reset(task, 0)).output.text]
        seen += [(await _act(place, *call)).output.text for call in calls]
        return seen, (await place.score())[0].total
    finally:
        await place.close()


@pytest.mark.skipif(not IS_NEW, reason="verifiers 0.4 is not installed")
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_workers")
def test_a_conversation_and_tools_are_played_to_their_end_by_the_real_package() -> None:
    async def all_played() -> None:
        guess = "tiphys-guess-v1"
        assert await _played(guess, ("reply", '{"text": "4"}'), ("reply", '{"text": "0"}')) == (
            ["Guess a number.", "Lower.", "The task is over; reward 1."], 100.0)
        assert (await _played(guess, ("reply", '{"text": "4"}')))[1] == 0.0, "what is not over is scored as it is"
        assert await _played("tiphys-shop-v1", ("shop_price", '{"thing": "pen"}'), ("reply", '{"text": "3"}')) == (
            ["What does a pen cost?", "3", "The task is over; reward 1."], 100.0)
        with pytest.raises(Unavailable, match="no-such-taskset"):
            await _played("no-such-taskset")
        with pytest.raises(Unavailable, match=r"verifiers<0\.4"):
            await _played("tiphys-older")

    asyncio.run(all_played())


@pytest.mark.skipif(not IS_OLDER, reason="verifiers before 0.4 is not installed")
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_workers")
def test_one_answer_tools_and_turns_of_the_older_interface_are_played_to_their_end() -> None:
    right, wrong = ("reply", '{"text": "3"}'), ("reply", '{"text": "4"}')
    asked, over = "What does a pen cost, 0?", "The task is over; reward 1."

    async def all_played() -> None:
        assert await _played("tiphys-older", right) == ([asked, over], 100.0)
        assert (await _played("tiphys-older", wrong))[1] == 0.0
        assert await _played("tiphys-older", right, config='{"kind": "eval"}') == (
            ["Be brief.\n\n" + asked, over], 100.0)
        tool = ("price", '{"thing": "pen"}')
        assert await _played("tiphys-older", tool, right, config='{"kind": "tool"}') == ([asked, "3", over], 100.0)
        assert await _played("tiphys-older", wrong, right, config='{"kind": "turns"}') == (
            [asked, "Lower.", over], 100.0)
        assert (await _played("tiphys-older", wrong, config='{"kind": "turns"}'))[1] == 0.0, "scored as it is"
        assert (await _played("tiphys-older", wrong, wrong, config='{"kind": "turns"}'))[0][-1] == "Lower."
        with pytest.raises(Unavailable, match="no_such"):
            await _played("tiphys-older", config='{"no_such": 1}')

    asyncio.run(all_played())
