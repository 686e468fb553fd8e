"""A person acts in the agent's place: each action theirs in the log, the agent's own turn in its context."""

from __future__ import annotations

import asyncio
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.agents import Crash, Log, Stage, memory, turns

from core.agents.delivery import MOST_ACTS, Inbox
from core.agents.journal import Journal
from core.agents.states import watch_stall
from core.aio import TaskScope
from core.domain.attention import Thresholds
from core.domain.context import apply_delta
from core.domain.events import (
    ActionAsked,
    AttentionRaised,
    ControlAsked,
    GuidanceDelivered,
    HandBackAsked,
    HandedBack,
    SessionContinued,
    StepAdded,
    StepStarted,
    TakenOver,
    TakeoverAsked,
    ThresholdsSet,
    decode_event,
    make_event,
)
from core.domain.message import Message
from core.domain.session import SessionRow, advance
from core.domain.step import decode_body
from core.domain.task import Limits
from core.domain.verdict import Author
from core.llm.model import Completion, OnText, Request
from core.llm.scripted import ScriptedModel, read_script

ADA, LI = Author(kind="person", name="Ada"), Author(kind="person", name="Li")


class AtWork(ScriptedModel):
    """A script whose first answer never comes, as from a slow endpoint."""

    def __init__(self, script: str) -> None:
        super().__init__(read_script(script))
        self.asked, self.cut, self.is_slow = 0, 0, True

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        self.asked += 1
        try:
            while self.is_slow:
                await asyncio.sleep(0.002)
        except asyncio.CancelledError:
            self.cut += 1
            raise
        return await super().complete(request, on_text)


def asked(tool: str = "run_command", thought: str = "", **arguments: object) -> ActionAsked:
    return ActionAsked(tool=tool, arguments=json.dumps(arguments), thought=thought)


class Person:
    """What people say to one session, as the server would write it."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.log = stage, Log()

    def say(self, *facts: object, by: Author = ADA) -> None:
        for fact in facts:
            self.log.add(fact, by)
        self.log.give(self.stage.inbox)
        self.stage.signals.ring()


def run(stage: Stage, *others: object) -> None:
    async def both() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(stage.agent.run(), *others)

    asyncio.run(both())


async def until(holds: object) -> None:
    while not holds():
        await asyncio.sleep(0.002)


def authors(stage: Stage) -> list[str]:
    return [fact.head.author for fact in stage.facts(StepAdded)]


def context(stage: Stage, number: int) -> list[Message]:
    refs = ()
    for fact in stage.facts(StepAdded)[:number]:
        refs = apply_delta(refs, fact.context)
    return [stage.journal.message(ref) for ref in refs]


@pytest.mark.parametrize("native", [True, False])
def test_a_call_under_way_is_cut_off_and_the_agent_goes_on_with_the_persons_steps_as_its_own(tmp_path, native):
    model = AtWork(turns(3))
    stage = Stage(tmp_path, model, native=native, limits=Limits(steps=4))
    person = Person(stage)

    async def take_over() -> None:
        await until(lambda: model.asked)
        person.log.guide("g1", "read this")
        person.say(TakeoverAsked())
        await until(lambda: stage.facts(TakenOver))
        assert model.cut == 1 and not stage.facts(StepAdded)
        person.say(asked(command="ls", thought="I look."), asked("sleep", sleep_time=0.0), HandBackAsked())
        model.is_slow = False

    run(stage, take_over())
    assert authors(stage) == ["Ada", "Ada", "", ""] and model.asked == 3
    first, second, third, _ = stage.facts(StepAdded)
    events = [e.id for e in map(decode_event, person.log.bodies) if isinstance(e.fact, ActionAsked)]
    assert [first.asked, second.asked, third.asked] == [*events, ""]
    body = decode_body(stage.journal.blob(first.body))
    assert body.thought == "I look." and body.actions[0].arguments == {"command": "ls"} and not first.sampled
    assert stage.outside.read(stage.outside.acts)[0][0] == 1, "it was really carried out"
    assert stage.facts(TakenOver)[0].person == "Ada" and stage.facts(HandedBack) == [HandedBack(step=3, reason="asked")]
    assert [f.step for f in stage.facts(GuidanceDelivered)] == [2], "step 1 had begun"
    own = [m for m in context(stage, 3) if m.role == "assistant"]
    assert len(own) == 2 and "I look." in own[0].content, "the agent reads them as its own turns"
    assert bool(own[0].tool_calls) is native and ("<action>" in own[0].content) is not native


def test_who_says_nothing_for_a_while_has_it_no_more_and_what_comes_late_is_said_to_be_undone(tmp_path):
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(1))))
    person = Person(stage)
    person.say(TakeoverAsked(idle_s=0.02))

    async def too_late() -> None:
        await until(lambda: stage.facts(HandedBack))
        person.say(asked(command="late"))

    run(stage, too_late())
    idle, late = stage.facts(HandedBack)
    assert (idle.reason, late.reason, len(late.dropped)) == ("idle", "not_taken_over", 1)
    assert authors(stage) == ["", ""]


def test_the_end_a_limit_a_stop_and_another_person_end_it(tmp_path):
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(3))))
    person = Person(stage)
    person.say(TakeoverAsked(), asked(command="mine"))
    person.say(TakeoverAsked(), by=LI)
    person.say(asked(command="still mine"))
    person.say(asked("finish"), asked(command="more"), by=LI)
    run(stage)
    assert authors(stage) == ["Li"]
    late, taken, over = stage.facts(HandedBack)
    assert (late.reason, taken.reason, over.reason, len(over.dropped)) == ("not_taken_over", "asked", "over", 1)
    assert [f.person for f in stage.facts(TakenOver)] == ["Li"]


def test_who_asks_for_more_than_can_wait_is_told_so_and_has_it_still(tmp_path):
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(1))))
    person = Person(stage)
    person.say(TakeoverAsked(), *(asked(command=str(n)) for n in range(MOST_ACTS + 3)))
    dropped = stage.facts(HandedBack)
    assert [(one.reason, len(one.dropped)) for one in dropped] == [("too_many", 1)] * 3
    assert len(stage.inbox.acts) == MOST_ACTS and stage.inbox.takeover.person == "Ada"
    row = SessionRow(session="s", held_by="Ada")
    assert advance(row, 1, make_event(dropped[0], ADA)).held_by == "Ada"


def test_stop_pause_and_stalls_while_it_is_taken_over(tmp_path):
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(3))))
    person = Person(stage)
    person.say(TakeoverAsked(), ThresholdsSet(thresholds=Thresholds(stall_min=1e-6)))

    async def talk() -> None:
        await until(lambda: stage.facts(TakenOver))
        async with TaskScope("test") as scope:
            watch = scope.spawn(watch_stall(stage.journal, stage.inbox, 0.002), name="stall")
            await asyncio.sleep(0.02)
            watch.cancel()
        person.say(ControlAsked(control="pause"))
        await until(lambda: stage.steps.progress.state == "paused")
        person.say(asked(command="later"))
        await asyncio.sleep(0.01)
        assert not authors(stage), "paused is paused"
        person.say(ControlAsked(control="resume"))
        await until(lambda: authors(stage))
        person.say(ControlAsked(control="stop"))

    run(stage, talk())
    assert not [f for f in stage.facts(AttentionRaised) if f.kind == "stall"], "a person who thinks is no stall"
    assert stage.steps.progress.state == "stopped" and stage.facts(HandedBack)[-1].reason == "over"
    assert stage.inbox.takeover is None
    person.say(SessionContinued())
    assert stage.inbox.continued is not None


def test_a_killed_runner_carries_each_of_a_persons_actions_out_once():
    """Whatever transaction of the journal the process dies before or after."""
    places = 0
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        while _dies_at(places, Path(folder) / str(places)):
            places += 1
    assert places > 10, "every place was tried"


def _dies_at(place: int, folder: Path) -> bool:
    """Kill a session at a place, and look at what the next runner makes of it; False where it ended before."""
    folder.mkdir()
    left, script = [place], read_script(turns(0))

    def boundary(name: str, when: str) -> None:
        if stage_is_ready:
            left[0] -= 1
            if left[0] < 0:
                raise Crash

    stage_is_ready = False
    stage = Stage(folder, ScriptedModel(script), boundary=boundary)
    Person(stage).say(TakeoverAsked(), asked(command="a"), asked(command="b"), HandBackAsked())
    stage_is_ready = True
    try:
        run(stage)
    except Crash:
        pass
    else:
        return False
    finally:
        stage.close()
    again = Stage(folder, ScriptedModel(script))
    run(again)
    assert authors(again) == ["Ada", "Ada", ""], place
    assert [f.number for f in again.facts(StepStarted)] == [1, 2, 3], place
    done = [act[0] for act in again.outside.read(again.outside.acts)]
    assert set(done) <= {1, 2} and len(done) == len(set(done)), (place, done)
    again.close()
    return True


def test_nobody_waits_where_nobody_has_taken_over(tmp_path):
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(3))))
    Person(stage).say(HandBackAsked(), asked(command="not mine"))
    run(stage)
    assert authors(stage) == ["", "", "", ""] and not stage.facts(TakenOver)
    journal = Journal(tmp_path / "other.db", "s2")
    assert Inbox(journal).halts is False
    journal.close()


def test_that_a_step_waited_for_a_person_is_none_of_its_time(tmp_path):
    """Neither of the one that they write, nor of the one that the agent goes on with after them."""
    model = AtWork(turns(2))
    stage = Stage(tmp_path, model, limits=Limits(steps=2))
    person, waited = Person(stage), []

    async def takes_twice() -> None:
        await until(lambda: model.asked == 1)
        person.say(TakeoverAsked(idle_s=60))
        await until(lambda: stage.facts(TakenOver))
        waited.append(datetime.now(UTC))
        person.say(asked(command="true"))
        await until(lambda: len(stage.facts(StepAdded)) == 1)
        model.is_slow = False
        waited.append(datetime.now(UTC))
        person.say(HandBackAsked())

    run(stage, takes_twice())
    heads = [fact.head for fact in stage.facts(StepAdded)]
    assert [head.author for head in heads] == ["Ada", ""]
    assert all(head.started_at >= since for head, since in zip(heads, waited, strict=True))
