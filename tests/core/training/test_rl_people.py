"""A run that learns from people: what they said in another home's sessions, and nothing of it as the policy's own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from study.people_start import advise

from core.domain.errors import InvalidInput
from core.domain.events import (
    ActionAsked,
    Fact,
    GuidanceQueued,
    HandBackAsked,
    SessionCreated,
    TakeoverAsked,
    VerdictGiven,
)
from core.domain.ids import new_id
from core.domain.task import Limits
from core.environments.registry import environment_task, open_environment
from core.rollouts.roll_out import ROLLOUT_AGENT
from core.rollouts.session_log import StoreLog
from core.store.home import Home
from core.training.policy_rows import load_rows
from core.training.rl_settings import RlSettings, read_rl_settings

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("jinja2")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

MINE = json.dumps({"command": "c"})


@pytest.fixture(scope="module")
def model(letter_policy) -> Path:
    return letter_policy


@pytest.fixture(scope="module")
def home(model, tmp_path_factory) -> Home:
    """Two sessions of a group, one of them taken over, one of a held-out item, and one of advice and verdicts."""
    made = Home(tmp_path_factory.mktemp("lab"))
    play(model, made, [(1, (TakeoverAsked(), ActionAsked(tool="act", arguments=MINE), HandBackAsked()), ()),
                       (1, (), ()), (3, (GuidanceQueued(guidance=new_id(), text="Do: d"),), ()),
                       (2, (GuidanceQueued(guidance=new_id(), text="Do: c"),),
                        (VerdictGiven(step=1, value="keep"),))])
    return made


def play(model: Path, home: Home, wanted: list[tuple[int, tuple[Fact, ...], tuple[Fact, ...]]]) -> None:
    """Sessions of two steps, before and behind which a person says something; those of an item are a group."""
    from core.agents.playing import play as played
    from core.aio import TaskScope
    from core.llm.local_policy import LocalPolicy
    from core.rollouts.batching import Batcher, PolicySession

    settings = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
        ROLLOUT_AGENT.model, max_output_tokens=4))

    async def run() -> None:
        batcher = Batcher(LocalPolicy.load(model), lambda: 1)
        async with StoreLog(home) as store, TaskScope("test") as scope:
            scope.spawn(batcher.run(), name="policy")
            for number, (item, before, after) in enumerate(wanted):
                task = msgspec.structs.replace(environment_task("letters", item=item), limits=Limits(
                    steps=2, evaluations=None))
                created = SessionCreated(task=task, agent=settings, group=f"g{item}")
                async with store.session(new_id(), created) as session:
                    for fact in before:
                        await advise(store, session, fact)
                    await played(session.journal, session.inbox, session.signals, task, settings,
                                 PolicySession(batcher, str(number)), environment=open_environment(task.environment))
                    for fact in after:
                        await advise(store, session, fact)

    asyncio.run(run())


def settings(model: Path, out: Path, **more) -> RlSettings:
    return RlSettings(**{"model": str(model), "out": str(out), "kind": "letters", "tasks": 2, "group": 2, "limit": 2,
                         "max_tokens": 4, "updates": 2, "learning_rate": 3e-3, "device": "cpu", "items": "0-2",
                         "test_items": "3", "test_every": 9, **more})


def test_a_dry_run_says_what_there_is_and_writes_nothing(model, home, tmp_path):
    from core.training.rl import plan_rl

    chosen = settings(model, tmp_path / "run", people=("corrections", "advice", "verdicts"), people_from=str(home.path))
    plan = plan_rl(chosen)
    assert (plan.items, plan.test_items, plan.sessions_an_update) == (3, 1, 4)
    advised = plan.people["advice"]
    assert advised and plan.people == {"corrections": 1, "advice": advised, "branches": 0, "verdicts": 1}
    assert plan.left_out == {"held_out": 1} and not (tmp_path / "run").exists()


def test_each_kind_is_learnt_once_an_update_and_a_killed_run_learns_the_same(model, home, tmp_path):
    from core.training.rl import run_rl
    from core.training.rl_state import RunFolder

    more = {"people": ("corrections", "advice", "verdicts"), "people_from": str(home.path), "save_every": 9}
    told = []
    run_rl(settings(model, tmp_path / "whole", **more), told.append)
    assert all(set(m.people) == {"corrections", "advice", "verdicts"} for m in told[1:])
    assert all(m.people_count["corrections"] == 1 and m.people["corrections"] < 0 for m in told[1:])
    cut = settings(model, tmp_path / "cut", **more)
    with contextlib.suppress(ZeroDivisionError), pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "add_metric", lambda self, metric: 1 / (1 - metric.update))
        run_rl(cut)
    play(model, home, [(1, (TakeoverAsked(), ActionAsked(tool="act", arguments=MINE), HandBackAsked()), ())])
    run_rl(msgspec.structs.replace(cut, updates=1))
    first = [Path(tmp_path / name / "people" / "00001.npz") for name in ("whole", "cut")]
    assert [row.session for row in load_rows(first[0])] == [row.session for row in load_rows(first[1])]


def test_the_change_is_that_of_plain_torch(model, home, tmp_path):
    """Nothing is played that differs within its group, so what changes is by the corrections alone."""
    from transformers import AutoModelForCausalLM

    from core.training.rl import run_rl

    chosen = settings(model, tmp_path, people=("corrections",), people_from=str(home.path), people_gamma=0.0,
                      people_weight=2.0, updates=1, loss="rejection", threshold=1.0, items="0", limit=1, clip=1e9)
    run_rl(chosen)
    rows = load_rows(tmp_path / "people" / "00001.npz")
    net = AutoModelForCausalLM.from_pretrained(str(model), dtype=torch.float32)
    adam = torch.optim.AdamW(net.parameters(), chosen.learning_rate, weight_decay=0.0)
    if any(row.reward >= 1 for row in load_rows(tmp_path / "rollouts" / "00001.npz")):
        pytest.skip("this start says the letter by chance")
    loss = -sum(_logprobs(net, row.ids)[row.own[1:]].mean() for row in rows) / len({row.session for row in rows})
    (2.0 * loss).backward()
    adam.step()
    ours = AutoModelForCausalLM.from_pretrained(str(tmp_path / "model"), dtype=torch.float32)
    for row in rows:
        torch.testing.assert_close(_logprobs(ours, row.ids)[row.own[1:]], _logprobs(net, row.ids)[row.own[1:]],
                                   rtol=0, atol=1e-4)


def _logprobs(net, ids):
    ids = torch.tensor(ids)
    return net(input_ids=ids[None]).logits[0, :-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]


def test_another_models_tokens_teach_nothing_but_what_people_did_does(model, home, tmp_path):
    from study.small_policy import make

    from core.training.rl import plan_rl

    other = make("letters", tmp_path / "other", width=16, layers=1)
    words = json.loads((other / "tokenizer.json").read_text())
    vocabulary = words["model"]["vocab"]
    vocabulary |= {f" {letter}": vocabulary[f" {after}"] for letter, after in zip("abcd", "bcda", strict=True)}
    (other / "tokenizer.json").write_text(json.dumps(words))
    chosen = settings(other, tmp_path / "run", people=("corrections", "advice", "verdicts"), people_from=str(home.path))
    plan = plan_rl(chosen)
    assert plan.people["corrections"] >= 1 and plan.people["advice"] == plan.people["verdicts"] == 0
    assert plan.left_out["other_tokens"] >= 3


def test_a_session_that_a_person_acted_in_is_in_no_group_and_in_no_export(model, home, tmp_path):
    from core.training.group_export import members_of, sessions_in
    from core.training.rl_play import Played, Stage

    members, left_out = members_of(home.server_db, sessions_in(home.server_db))
    assert left_out.taken_over >= 1
    from core.rollouts.rollout import stored_rollout
    from core.store.sqlite import connect

    with contextlib.closing(connect(home.server_db, readonly=True)) as conn:
        ended = [stored_rollout(conn, name) for name in sessions_in(home.server_db)]
    mine = [one for one in ended if one.people]
    assert all(one.people == {1: "adviser"} for one in mine)
    assert all(1 not in np.asarray(row.steps)[np.asarray(row.is_own, bool)] for one in mine for row in one.rows)
    assert not {one.session for one in mine} & {row.session for m in members for row in m.rows}
    stage, facts = object.__new__(Stage), Played()
    stage._masked = lambda session: set()
    rows = stage._rows(ended, "g", facts)
    assert facts.taken_over == len(mine) and len(facts.rewards) == len(ended) - len(mine)
    assert {row.session for row in rows} == {one.session for one in ended if not one.people}


@pytest.mark.parametrize(("changed", "why"), [
    ({"people": ("advice",)}, "people_from has to name"), ({"people_from": "x"}, "only with people"),
    ({"people": ("advice",), "people_from": "x", "people_gamma": 0.5}, "only with people=corrections"),
    ({"people": ("advice",), "people_from": "x", "beta": 0.5}, "only with the loss dpo")])
def test_a_setting_that_would_have_no_effect_is_refused(model, tmp_path, changed, why):
    with pytest.raises(InvalidInput, match=why):
        settings(model, tmp_path, **changed).check()
    settings(model, tmp_path, people=("branches",), people_from="x", beta=0.5).check()
    assert read_rl_settings({"model": "m", "out": "o", "kind": "k", "people": "advice,verdicts", "people_from": "x"}
                            ).people == ("advice", "verdicts")
