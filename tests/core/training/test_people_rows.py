"""What people said is read from the log of a session that a policy played: the same answers without the advice."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from study.people_start import AdvisedEnvironment, Adviser, advise
from study.small_policy import make
from support.letter_game import use_letter_game

from core.domain.errors import InvalidInput
from core.domain.events import (
    ActionAsked,
    Branched,
    Fact,
    GuidanceQueued,
    HandBackAsked,
    Placed,
    SessionCreated,
    TakeoverAsked,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.ids import new_id
from core.domain.task import Limits, Task
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.environments.registry import environment_task, open_environment
from core.rollouts.roll_out import ROLLOUT_AGENT
from core.rollouts.session_log import StoreLog
from core.store.home import Home

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A policy of random weights, and the home of its log."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    use_letter_game()
    place = tmp_path_factory.mktemp("people")
    folder = make("letters", place / "model", width=16, layers=1)
    model = AutoModelForCausalLM.from_pretrained(str(folder)).eval()
    return model, AutoTokenizer.from_pretrained(str(folder)), Home(place / "home")


def play_one(policy, before: tuple[Fact, ...], after: tuple[Fact, ...] = ()):
    """A session of three steps, before and after which a person says something."""
    from core.agents.playing import play
    from core.aio import TaskScope
    from core.llm.local_policy import LocalPolicy
    from core.rollouts.batching import Batcher, PolicySession
    from core.rollouts.rollout import rollout_of

    model, tokenizer, home = policy
    task = msgspec.structs.replace(environment_task("letters", item=1), limits=Limits(steps=3, evaluations=None))
    settings = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
        ROLLOUT_AGENT.model, max_output_tokens=6))
    created = SessionCreated(task=task, agent=settings)

    async def run():
        batcher = Batcher(LocalPolicy(model, tokenizer, temperature=1.0), lambda: 1)
        async with StoreLog(home) as store, TaskScope("test") as scope:
            scope.spawn(batcher.run(), name="policy")
            async with store.session(new_id(), created) as session:
                for fact in before:
                    await advise(store, session, fact)
                await play(session.journal, session.inbox, session.signals, task, settings,
                           PolicySession(batcher, "1"), environment=open_environment(task.environment))
                for fact in after:
                    await advise(store, session, fact)
                return rollout_of(session.journal.session, [created, *session.journal.facts()], session.journal.blob)

    return asyncio.run(run())


def test_answers_behind_advice_come_as_pairs_and_a_masked_one_does_not(policy) -> None:
    from core.export.source import LogSource
    from core.training.people_rows import PlainContexts, verdict_values

    model, tokenizer, home = policy
    rollout = play_one(policy, (GuidanceQueued(guidance=new_id(), text="Do: b"),),
                       (VerdictGiven(step=3, value="mask"), VerdictGiven(step=2, value="keep")))
    with contextlib.closing(LogSource(home.server_db)) as source:
        pairs = PlainContexts(source, model, tokenizer).without_advice(rollout, "g")
        assert verdict_values(source.trajectory(rollout.session)) == {2: 1.0, 3: -1.0}
    assert [int(pair.plain.steps.max()) for pair in pairs] == [1, 2]
    for advised, plain in pairs:
        assert np.array_equal(advised.ids[advised.own], plain.ids[plain.own]) and plain.own.any()
        assert len(plain.ids) < len(advised.ids) and "goal b" in tokenizer.decode(plain.ids)
        exact = np.asarray(rollout.rows[0].ids)[: advised.ids.size]
        assert np.array_equal(exact, advised.ids), "with advice, the tokens are those that the policy saw"


def test_what_a_person_did_in_the_policys_place_is_a_row_and_what_the_policy_did_is_none(policy) -> None:
    from core.export.source import LogSource
    from core.training.people_rows import PlainContexts

    model, tokenizer, home = policy
    wanted = ActionAsked(tool="act", arguments=json.dumps({"command": "c"}))
    rollout = play_one(policy, (TakeoverAsked(), wanted, HandBackAsked()))
    with contextlib.closing(LogSource(home.server_db)) as source:
        (row,) = PlainContexts(source, model, tokenizer).corrections(rollout.session, "g")
        assert [entry.head.author for entry in source.trajectory(rollout.session).steps] == ["adviser", "", ""]
    assert tokenizer.decode(row.ids[row.own]) == "Action: c<|end|>" and set(row.steps[row.own]) == {1}
    assert tokenizer.decode(row.ids[~row.own]).endswith("<|assistant|>")


def branch(name: str, parent: str, step: int) -> Trajectory:
    task = Task(id="t", title="T", description="d")
    facts = [SessionCreated(task=task), Branched(parent=parent, step=step, group="q")]
    author = Author(kind="server", name="server")
    return fold(name, [Placed(session=name, seq=n, body=encode_event(make_event(fact, author)))
                       for n, fact in enumerate(facts, 1)])


def test_branches_of_one_step_are_paired_best_against_worst() -> None:
    from core.training.people_rows import branch_pairs

    branches = [(branch("a", "p", 4), 0.2), (branch("b", "p", 4), 0.9), (branch("c", "p", 7), 0.5),
                (branch("d", "p", 4), 0.5), (branch("e", "p", 7), 0.5)]
    after, pairs = branch_pairs(branches, 0.1)
    assert after == {"a": 4, "b": 4, "c": 7, "d": 4, "e": 7} and pairs == [("b", "a")]
    alone = fold("x", [])
    with pytest.raises(InvalidInput, match="branched off from no other"):
        branch_pairs([(alone, 1.0)], 0.1)


def test_an_adviser_errs_as_often_as_it_is_told_to_and_notes_what_it_would_have_done(tmp_path: Path) -> None:
    import random

    use_letter_game()
    assert {Adviser(0.0, random.Random(1)).word("a", ["a", "b"]) for _ in range(20)} == {"a"}
    words = [Adviser(0.5, random.Random(n)).word("a", ["a", "b"]) for n in range(100)]
    assert 30 < words.count("b") < 70
    task = environment_task("letters", item=1)
    heard: list[str] = []

    async def run() -> AdvisedEnvironment:
        async def say(text: str) -> None:
            heard.append(text)

        environment = AdvisedEnvironment(open_environment(task.environment), task, Adviser(0.0, random.Random(1)), say)
        await environment.reset(task, 0)
        from core.domain.step import Action

        for step, letter in enumerate("cb", 1):
            await environment.act(Action(call_id="", tool="act", arguments={"command": letter}), step)
        return environment

    assert asyncio.run(run()).choices == {1: ("c", "b"), 2: ("b", "b")}
    assert heard == ["Do: b", "Do: b"]
