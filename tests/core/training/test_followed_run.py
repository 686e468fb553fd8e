"""Roll-outs beside a run that still learns: nobody plays with weights that are too far behind."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from support.eventually import eventually
from support.letter_game import use_letter_game

from core.aio import TaskScope
from core.domain.errors import InvalidInput, Unavailable
from core.environments.registry import environment_task
from core.rollouts.followed_run import FollowedRun
from core.rollouts.roll_out import roll_out
from core.rollouts.session_log import StoreLog
from core.store.home import Home

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def run(letter_policy, tmp_path_factory) -> Path:
    from core.training.rl import run_rl
    from core.training.rl_settings import RlSettings

    use_letter_game()
    out = tmp_path_factory.mktemp("followed") / "run"
    run_rl(RlSettings(model=str(letter_policy), out=str(out), kind="letters", tasks=1, group=4, limit=1, max_tokens=4,
                      updates=3, keep=3, device="cpu"))
    shutil.rmtree(out / "model")  # it has not come to its end
    return out


def load(folder: Path, update: int):
    from core.llm.local_policy import LocalPolicy

    return LocalPolicy.load(folder, name="run", version=update)


def followed(run: Path, folder: Path, most: int, lacking: int, **more) -> tuple[FollowedRun, Path]:
    """The run as it is before the weights of its last updates are saved."""
    copy = shutil.copytree(run, folder / "run")
    for update in range(4 - lacking, 4):
        shutil.move(copy / "policy" / f"{update:05d}", folder / f"{update:05d}")
    return FollowedRun(copy, most, load, **more), copy


async def played(policy: FollowedRun, home: Path):
    async with StoreLog(Home(home)) as log:
        return await roll_out(policy, [environment_task("letters", item=1)], log=log, group_size=2)


def test_it_waits_for_newer_weights_and_the_log_says_whose_they_were(run, tmp_path):
    policy, copy = followed(run, tmp_path, most=1, lacking=2)
    assert policy.version == 1

    async def watched():
        async with TaskScope("roll-out") as scope:
            task = scope.spawn(played(policy, tmp_path / "home"), name="played")
            await eventually(lambda: policy.is_waiting)
            assert not task.done(), "update 3 was made, and these are the weights of update 1"
            shutil.move(tmp_path / "00002", copy / "policy" / "00002")
            return await task

    ended = asyncio.run(watched())
    assert [one.versions for one in ended] == [[2], [2]] and all(one.is_whole for one in ended)
    assert policy.version == 2 and policy.changes == 1 and policy.waited_s > 0


def test_nearer_weights_play_on_and_those_of_a_run_that_is_over_too(run, tmp_path):
    policy, copy = followed(run, tmp_path, most=1, lacking=1)
    assert [one.versions for one in asyncio.run(played(policy, tmp_path / "home"))] == [[2], [2]]
    assert (policy.changes, policy.waited_s) == (0, 0.0)
    (copy / "model").mkdir()
    strict = FollowedRun(copy, 0, load)
    assert [one.versions for one in asyncio.run(played(strict, tmp_path / "other"))] == [[2], [2]]


def test_a_run_that_says_nothing_more_and_one_that_is_none_are_told(run, tmp_path):
    policy, _ = followed(run, tmp_path, most=0, lacking=3, patience_s=0.3)
    assert policy.version == 0, "the weights that the run began with"
    with pytest.raises(Unavailable) as silent:
        asyncio.run(policy.answer([]))
    assert silent.value.code == "run_silent"
    with pytest.raises(InvalidInput) as none:
        FollowedRun(tmp_path, 1, load)
    assert none.value.code == "no_run"
