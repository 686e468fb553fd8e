"""An environment's code is foreign: whatever it does, one session ends with it, and the log holds no number that is
none."""

from __future__ import annotations

import asyncio
import math

import msgspec
import pytest
from support.letter_game import LetterGame

from core.domain.errors import Unavailable
from core.domain.step import Action, Observation, Output
from core.domain.task import EnvironmentSettings
from core.environments import registry
from core.environments.environment import EnvironmentKind
from core.environments.guarded import GuardedEnvironment
from core.environments.line_tool import LONGEST_SEEN, line_tool, seen
from core.environments.registry import environment_task
from core.llm.scripted import ScriptedModel, read_script
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.session_log import StoreLog
from core.store.home import Home
from core.tasks.scoring import Outcome


class Hostile(LetterGame):
    """Does what its task's seed says; 0: plays as it should."""

    def __init__(self, settings: EnvironmentSettings) -> None:
        super().__init__(settings)
        self.how = HOW[settings.seed]
        if self.how == "made":
            raise KeyError("made")

    async def reset(self, task, seed):
        if self.how == "reset":
            raise RuntimeError("dead")
        return await super().reset(task, seed)

    async def act(self, action, step):
        if isinstance(self.how, float):
            return seen("x", reward=self.how)
        if self.how == "act":
            raise ValueError("dead")
        return await super().act(action, step)

    async def score(self):
        if self.how == "score":
            return Outcome(total=math.nan), b""
        return await super().score()

    async def close(self):
        if self.how == "close":
            raise OSError("gone")


SETTINGS = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
    ROLLOUT_AGENT.model, actions="native"))
HOW = ("", math.nan, -math.inf, 1e300, "act", "reset", "score", "made", "close")


def test_of_many_sessions_each_hostile_one_ends_alone_and_is_never_learnt_from(tmp_path, monkeypatch):
    kind = EnvironmentKind(name="hostile", title="H", about="A", open=Hostile, count=lambda: 4, steps=1)
    monkeypatch.setitem(registry.ENVIRONMENTS, "hostile", kind)
    script = read_script('[[turn]]\n[[turn.calls]]\ntool = "act"\narguments = {command = "a"}')

    async def rolled():
        async with StoreLog(Home(tmp_path)) as log:
            return await roll_out(lambda task: ScriptedModel(script), [
                environment_task("hostile", seed=seed) for seed in range(len(HOW))], log=log, settings=SETTINGS)

    ended = asyncio.run(rolled())
    whole = [how for how, one in zip(HOW, ended, strict=True) if one.is_whole]
    assert whole == ["", "close"] and ended[0].score == 100.0
    assert {one.reason for one in ended if not one.is_whole} == {"environment_failed"}
    assert all(math.isfinite(one.reward) for one in ended)


class Odd(LetterGame):
    async def reset(self, task, seed):
        await asyncio.sleep(60)

    async def act(self, action, step):
        text = "\ud800" + "y" * 10_000_000
        return Observation(call_id="", output=Output(text=text, total_chars=len(text)))

    def tools(self):
        return [msgspec.structs.replace(line_tool("x"), name="\ud800")]


def test_waiting_for_ever_ten_megabytes_and_names_that_are_no_text():
    odd = GuardedEnvironment(Odd(EnvironmentSettings(kind="odd")), "odd", patience_s=0.01)
    with pytest.raises(Unavailable, match="environment odd failed: reset ended with TimeoutError"):
        asyncio.run(odd.reset(environment_task("textcraft"), 0))
    with pytest.raises(Unavailable, match="its tools cannot be told"):
        odd.tools()
    shown = asyncio.run(odd.act(Action(call_id="", tool="act", arguments={"command": "a"}), 1)).output
    assert len(shown.text) == LONGEST_SEEN and shown.truncated and shown.total_chars == 10_000_001
    assert shown.text.startswith("?yy")
