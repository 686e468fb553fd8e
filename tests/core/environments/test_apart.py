"""What computes without ever waiting is ended, alone: those that share its process go on where they were."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest

from core.domain.errors import InvalidInput, Unavailable
from core.domain.message import ToolCall
from core.environments import apart, registry
from core.environments.registry import environment_task, open_environment
from core.llm.scripted import ScriptedModel, read_script
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.session_log import StoreLog
from core.store.home import Home

_PACKAGE = '''
import os, sys
class Game:
    def reset(self, num_players, seed):
        self.moves, self.news, self.state = [], [(-1, f"round {seed}")], self
        self.turn, self.game_info = 0, {}
    def step(self, move):
        print("games may print")
        os.write(1, b"and so may what they are written in")
        while "hang" in move:
            pass
        if "die" in move:
            os._exit(3)
        self.moves.append(move)
        self.turn += 1
        self.news.append((-1, " ".join(self.moves)))
        return len(self.moves) == 3, {}
    def get_observation(self):
        news, self.news = self.news, []
        return 0, news
    def close(self):
        return {0: 1.0}, {}
def make(name):
    return Game()
'''
SETTINGS = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
    ROLLOUT_AGENT.model, actions="native"))


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package of that name, in one worker that gives up soon."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "textarena.py").write_text(_PACKAGE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *sys.path]))
    kind = msgspec.structs.replace(registry.ENVIRONMENTS["textarena"], answer_s=1.0)
    monkeypatch.setitem(registry.ENVIRONMENTS, "textarena", kind)
    monkeypatch.setattr(apart, "MOST", 1)
    apart._processes.cache_clear()
    yield
    apart._processes().close()
    apart._processes.cache_clear()


def _script(*moves: str) -> ScriptedModel:
    return ScriptedModel(read_script("\n".join(
        f'[[turn]]\n[[turn.calls]]\ntool = "act"\narguments = {{command = "{move}"}}' for move in moves)))


def _call(move: str) -> ToolCall:
    return ToolCall(id="c", name="act", arguments=f'{{"command": "{move}"}}')


def test_one_that_hangs_and_one_that_dies_end_alone_and_the_others_play_on(games: None, tmp_path: Path) -> None:
    """All share one process, which is ended in the middle of everybody's game."""
    plays = [("a", "b", "c"), ("a", "hang", "c"), ("d", "e", "f"), ("a", "die", "c"), ("g", "h", "i")]

    async def rolled():
        async with StoreLog(Home(tmp_path)) as log:
            return await roll_out(lambda task: _script(*plays[task.environment.seed]), [
                environment_task("textarena", seed=seed) for seed in range(len(plays))], log=log, settings=SETTINGS)

    ended = asyncio.run(rolled())
    assert [one.is_whole for one in ended] == [True, False, True, False, True]
    assert [one.score for one in ended if one.is_whole] == [100.0] * 3
    assert {one.reason for one in ended if not one.is_whole} == {"environment_failed"}
    assert [one.steps for one in ended] == [3, 1, 3, 1, 3]


def test_a_session_that_is_stopped_meanwhile_waits_for_nothing(games: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = msgspec.structs.replace(registry.ENVIRONMENTS["textarena"], answer_s=300.0)
    monkeypatch.setitem(registry.ENVIRONMENTS, "textarena", kind)

    async def stopped() -> str:
        task = environment_task("textarena")
        place, other = open_environment(task.environment), open_environment(task.environment)
        await place.reset(task, 3)
        await other.reset(task, 4)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(place.act(place.read(_call("hang")), 1), 0.1)
        await place.close()
        seen = await other.act(other.read(_call("x")), 1)
        assert other.read(ToolCall(id="c", name="fly", arguments="{}")).malformed
        await other.close()
        return seen.output.text

    assert asyncio.run(stopped()) == "x"


def test_what_cannot_be_made_there_is_said_here(games: None) -> None:
    for item, error in ((10_000, InvalidInput), (0, None)):
        task = environment_task("textarena", item=item)
        place = open_environment(task.environment)
        if error is None:
            assert asyncio.run(place.reset(task, 1)).output.text == "round 100"
            continue
        with pytest.raises(error, match="no 10000"):
            asyncio.run(place.reset(task, 0))


def test_a_game_that_goes_otherwise_the_second_time_is_found_out(games: None) -> None:
    async def played() -> None:
        task = environment_task("textarena")
        place = open_environment(task.environment)
        await place.reset(task, 3)
        await place.act(place.read(_call("x")), 1)
        request, before = place._played[0]
        seen = msgspec.structs.replace(before.seen, done=True)
        place._played[0] = (request, msgspec.structs.replace(before, seen=seen))
        place._process._process.close()
        with pytest.raises(Unavailable, match="another result"):
            await place.score()
        await place.close()

    asyncio.run(played())


_SLOW = '''
import os, pathlib
log = pathlib.Path(os.environ["IMPORTS"])
log.write_text(log.read_text() + f"{os.getpid()}\\n")
'''


@pytest.fixture
def stem(tmp_path: Path, games: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same games behind an import that says in a file whenever it is made; a worker for each of two games."""
    (tmp_path / "imports").write_text("")
    (tmp_path / "site" / "slow_to_import.py").write_text(_SLOW)
    (tmp_path / "site" / "textarena.py").write_text("import slow_to_import" + _PACKAGE)
    monkeypatch.setenv("IMPORTS", str(tmp_path / "imports"))
    kind = msgspec.structs.replace(registry.ENVIRONMENTS["textarena"], imports=("slow_to_import", "no_such_module"))
    monkeypatch.setitem(registry.ENVIRONMENTS, "textarena", kind)
    monkeypatch.setattr(apart, "MOST", 2)
    monkeypatch.setattr(apart, "PLACES", 1)
    return tmp_path / "imports"


def test_workers_share_one_import_and_end_alone(stem: Path) -> None:
    """Of two workers one is ended in an endless move and one dies; both are begun anew without a second import."""
    async def played() -> list[str]:
        task = environment_task("textarena")
        hangs, dies = open_environment(task.environment), open_environment(task.environment)
        for one in (hangs, dies):
            await one.reset(task, 3)
        for one, move in ((hangs, "hang"), (dies, "die")):
            with pytest.raises(Unavailable):
                await one.act(one.read(_call(move)), 1)
        again = []
        for one in (hangs, dies):
            await one.reset(task, 3)
            again.append((await one.act(one.read(_call("x")), 1)).output.text)
            await one.close()
        return again

    assert asyncio.run(played()) == ["x", "x"]
    importers = stem.read_text().split()
    assert len(importers) == 1
    assert all(int(number) != os.getpid() for number in importers)


def test_a_stem_that_ended_is_begun_again(stem: Path) -> None:
    async def moved(times: int) -> None:
        task = environment_task("textarena")
        place = open_environment(task.environment)
        await place.reset(task, 3)
        assert (await place.act(place.read(_call("x")), 1)).output.text == "x"
        await place.close()
        assert len(stem.read_text().split()) == times

    asyncio.run(moved(1))
    os.kill(int(stem.read_text()), signal.SIGKILL)
    while not apart._processes()._all[0]._process.is_over:  # its workers end with it, a little later
        time.sleep(0.01)
    asyncio.run(moved(2))
    apart._processes().close()
    for number in stem.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(number), 0)
