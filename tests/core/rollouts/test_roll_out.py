"""Roll-outs of a small real model: whole logs, exact tokens, groups, and the same again of the same seed."""

from __future__ import annotations

import asyncio
from contextlib import closing

import msgspec
import pytest
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.tiny_model import make_model

from core.domain.errors import InvalidInput
from core.domain.events import StepAdded, decode_event
from core.domain.message import Message
from core.domain.sampled import decode_sampled
from core.domain.step import decode_body
from core.domain.task import EnvironmentSettings, Limits, Task
from core.domain.trajectory import fold
from core.environments.registry import ENVIRONMENTS, environment_task
from core.llm.model import Completion, EndpointError, Request, estimate_tokens
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.rollout import Rollout, rollout_of
from core.rollouts.session_log import StoreLog
from core.store import blobs, log
from core.store.home import Home
from core.store.schema import open_log

pytest.importorskip("torch")
pytestmark = [pytest.mark.usefixtures("textcraft"),
              pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")]
SHORT = msgspec.structs.replace(ROLLOUT_AGENT.model, max_output_tokens=8)
SETTINGS = msgspec.structs.replace(ROLLOUT_AGENT, model=SHORT)


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    from core.llm.local_policy import LocalPolicy

    return LocalPolicy.load(make_model(tmp_path_factory.mktemp("tiny")), version=3)


class Planned:
    """Plays the right commands of an item."""

    name = "plan"

    def __init__(self, task: Task) -> None:
        self._commands = ENVIRONMENTS["textcraft"].plan(task.environment)

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        from datetime import UTC, datetime

        now = datetime.now(UTC)
        text = f"Thought: go on.\nAction: {self._commands[request.step - 1]}"
        return Completion(message=Message(role="assistant", content=text), started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        """Nothing is held."""


def rolled(home: Home, model: object, items: range = range(2), **more: object) -> list[Rollout]:
    async def run() -> list[Rollout]:
        async with StoreLog(home) as store:
            tasks = [environment_task("textcraft", item=i) for i in items]
            return await roll_out(model, tasks, log=store, **{"settings": SETTINGS, **more})

    return asyncio.run(run())


def test_rows_hold_what_was_sampled_and_the_log_tells_the_same(policy, tmp_path):
    home = Home(tmp_path)
    made = rolled(home, policy, group_size=3, limits=Limits(steps=4), seed=7)
    assert len({r.group for r in made[:3]}) == 1 and made[0].group != made[3].group and len(made) == 6
    with closing(open_log(home.server_db)) as conn:
        for one in made:
            told = list(log.read_all(conn, one.session))
            facts = [decode_event(p.body).fact for p in told]
            assert rollout_of(one.session, facts, lambda name: blobs.get(conn, name)) == one
            row = fold(one.session, told).row
            assert (row.group, row.state, row.reason, row.score) == (one.group, "finished", "limit_steps", 0.0)
            for fact in (fact for fact in facts if isinstance(fact, StepAdded)):
                answer, body = decode_sampled(blobs.get(conn, fact.sampled)), decode_body(blobs.get(conn, fact.body))
                assert answer.ids and body.thought.strip() in "".join(answer.texts)
    row = made[0].rows[0]
    assert len(made[0].rows) == 1 and row.policy == policy.name and set(row.versions) == {-1, 3}
    assert [s for s in dict.fromkeys(row.steps) if s] == [1, 2, 3, 4] and row.temperature == 1.0
    assert made[0].is_whole and made[0].tokens == sum(row.is_own) <= 32


def test_log_probabilities_are_those_of_one_pass_over_the_row(policy, tmp_path):
    import torch

    row = rolled(Home(tmp_path), policy, range(1), limits=Limits(steps=3))[0].rows[0]
    with torch.inference_mode():
        logits = policy._model(torch.tensor([row.ids])).logits[0].float()
    whole = torch.log_softmax(logits, -1)
    for at, is_own in enumerate(row.is_own):
        if is_own:
            assert abs(float(whole[at - 1, row.ids[at]]) - row.logprobs[at]) < 1e-4


def test_the_same_seed_answers_the_same_whoever_stands_beside(policy, tmp_path):
    alone = rolled(Home(tmp_path / "a"), policy, range(1), limits=Limits(steps=3), seed=1)
    among = rolled(Home(tmp_path / "b"), policy, range(3), limits=Limits(steps=3), seed=1)
    other = rolled(Home(tmp_path / "c"), policy, range(1), limits=Limits(steps=3), seed=2)
    assert alone[0].rows[0].ids == among[0].rows[0].ids != other[0].rows[0].ids


def test_goals_are_reached_by_those_who_know_the_way(tmp_path):
    made = rolled(Home(tmp_path), Planned, range(5), group_size=2, at_once=3)
    assert [r.score for r in made] == [100.0] * 10 and all(r.reward == 1 and r.is_whole for r in made)
    assert made[0].step_rewards == {1: 0.0, 2: 1.0} and not made[0].rows and not made[0].errors


class Refusing:
    """A policy that refuses all that is asked of it, each in the other way."""

    name, version = "no", 0

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def answer(self, requests: list[Request]) -> list[object]:
        if isinstance(self.error, EndpointError):
            return [self.error] * len(requests)
        raise self.error

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        """Nothing is held."""


def test_what_a_policy_refuses_is_the_session_s_end_and_a_defect_ends_the_roll_out(tmp_path):
    made = rolled(Home(tmp_path / "a"), Refusing(EndpointError("endpoint_refused", "The template refuses it.")))
    assert [(r.state, r.reason, r.score) for r in made] == [("failed", "policy_refused", None)] * 2
    with pytest.raises(RuntimeError, match="out of memory"):
        rolled(Home(tmp_path / "b"), Refusing(RuntimeError("out of memory")))
    with closing(open_log(Home(tmp_path / "b").server_db)) as conn:
        assert {row.state for row in log.rows(conn)} == {"failed"}


def test_a_task_on_hosts_is_refused_and_so_is_an_unknown_item(tmp_path):
    async def run(task: Task) -> list[Rollout]:
        async with StoreLog(Home(tmp_path)) as store:
            return await roll_out(Planned, [task], log=store, settings=SETTINGS)

    with pytest.raises(InvalidInput, match="no environment"):
        asyncio.run(run(Task(id="hosted", title="t", description="d")))
    task = environment_task("textcraft")
    beyond = msgspec.structs.replace(task, environment=EnvironmentSettings(kind="textcraft", item=99))
    told = asyncio.run(run(beyond))[0]
    assert (told.state, told.reason, told.score) == ("failed", "bad_environment", None) and not told.is_whole


@pytest.mark.parametrize("items", ["0:9999", "-1", "2:2", "9999"])
def test_items_that_there_are_none_of_are_refused_before_a_session_is_made(items, tmp_path):
    from click.testing import CliRunner

    from core.cli.root import root

    asked = CliRunner().invoke(root, ["--home", str(tmp_path / "home"), "rollout", "textcraft", f"--items={items}",
                                      "--plan"])
    assert asked.exit_code != 0 and not (tmp_path / "home" / "server.db").exists()
