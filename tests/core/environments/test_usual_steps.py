"""A task of an environment that names no limit of steps has the environment's own, and its log says which."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput
from core.environments.registry import ENVIRONMENTS, environment_task
from core.protocol.operations import CreateSession
from core.server.authority import Authority
from core.store import log
from core.store.home import Home
from core.store.schema import open_log

TASK = """
id = "{id}"
title = "Craft"
description = "Craft what the goal says."
[environment]
kind = "{kind}"
{limits}
[agent.model]
kind = "scripted"
"""


@pytest.mark.parametrize(("kind", "limits", "steps"), [
    ("textcraft", "", ENVIRONMENTS["textcraft"].steps),
    ("babyai", "[limits]\nwall_s = 60", ENVIRONMENTS["babyai"].steps), ("textcraft", "[limits]\nsteps = 7", 7)])
def test_a_session_begins_with_the_usual_steps(tmp_path: Path, kind: str, limits: str, steps: int) -> None:
    home = Home(tmp_path)
    folder = home.tasks / "one"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK.format(id="one", kind=kind, limits=limits))

    async def create() -> None:
        async with Authority(home) as authority:
            await authority.do("s", CreateSession(task="one"))

    asyncio.run(create())
    conn = open_log(home.server_db)
    [created] = [placed.event.fact for placed in log.read_all(conn, "s", 1)]
    conn.close()
    assert created.task.limits.steps == steps and steps < 4000
    assert created.task.limits.wall_s == (60.0 if "wall_s" in limits else None)
    assert environment_task(kind).limits.steps == ENVIRONMENTS[kind].steps


def test_an_environment_that_there_is_none_of_is_refused_before_it_begins(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.tasks / "one").mkdir(parents=True)
    (home.tasks / "one" / "task.toml").write_text(TASK.format(id="one", kind="chess", limits=""))

    async def create() -> None:
        async with Authority(home) as authority:
            await authority.do("s", CreateSession(task="one"))

    with pytest.raises(InvalidInput, match="no environment 'chess'"):
        asyncio.run(create())
