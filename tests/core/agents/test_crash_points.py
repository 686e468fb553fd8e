"""The agent is killed before and after every commit, question and action; the next one must go on exactly."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents import Crash, Log, Outside, Stage, memory

from core.domain.context import MessageRef, apply_delta
from core.domain.events import (
    GuidanceAnswered,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceWithdrawn,
    SessionStateChanged,
    StepAdded,
    StepStarted,
)
from core.domain.step import decode_body
from core.llm.scripted import ScriptedModel, read_script

SCRIPT = """
pace_s = 0.0
[[turn]]
thought = "one"
calls = [{ tool = "run_command", arguments = { command = "a" } }, { tool = "ls", arguments = { command = "b" } }]
[[turn]]
thought = "two, and no call at all"
[[turn]]
thought = "three"
calls = [{ tool = "run_command", arguments = { command = "c" } }]
[[turn]]
thought = "four"
calls = [{ tool = "finish" }]
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """The process dies here, not the machine: what was written stays."""
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        yield Path(folder)


def make_log() -> Log:
    log = Log()
    log.guide("g1", "first")
    log.guide("g2", "second")
    log.change("g2", "r1", "second, edited")
    log.guide("g3", "never")
    log.change("g3", "r2", None)
    log.guide("g4", "later")
    log.change("g1", "r3", "too late")
    return log


LOG = make_log()
"""The one that every life reads: a server's log keeps its events' ids."""


class Life:
    """Lives until it crashes at the `at`-th boundary; what the server sends depends only on how far it came."""

    def __init__(self, folder: Path, at: int) -> None:
        self.folder, self.at, self.passed = folder, at, 0
        self.died = ""
        self.log = LOG

    def boundary(self, name: str, when: str) -> None:
        self.passed += 1
        if self.passed == self.at:
            self.died = f"{name} {when}"
            raise Crash(f"{name} {when}")

    def live(self) -> bool:
        """Whether it lived to its end."""
        stage = None
        try:
            stage = Stage(self.folder, ScriptedModel(read_script(SCRIPT)), boundary=self.boundary)
            asyncio.run(self._work(stage))
        except Crash:
            return False
        finally:
            if stage is not None:
                stage.close()
        return True

    async def _work(self, stage: Stage) -> None:
        """Two pieces of advice are there at the start, the rest comes while step 1 is worked on."""
        stage.inbox.take(1, self.log.bodies[:2] if stage.steps.progress.steps == 0 else self.log.bodies)
        begin = stage.steps.begin

        def begun() -> object:
            opened = begin()
            if opened.number == 2:
                stage.inbox.take(1, self.log.bodies)
            return opened

        stage.steps.begin = begun  # type: ignore[method-assign,assignment]
        await stage.agent.run()


def count_points(folder: Path) -> int:
    life = Life(folder, 0)
    assert life.live()
    return life.passed


def check(folder: Path) -> None:
    stage = Stage(folder, ScriptedModel(read_script(SCRIPT)))
    try:
        _check_steps(stage)
        _check_guidance(stage)
        _check_contexts(stage)
    finally:
        stage.close()


def check_nothing_repeated(folder: Path, died: str) -> None:
    """An answer that was stored is not asked for again; an action is lost only when it died around it."""
    outside = Outside(folder)
    assert len(outside.read(outside.asked)) == 4 + (died in ("model after", "answered before")), died
    acts = outside.read(outside.acts)
    assert len(acts) == 3 - (died in ("act before", "intend after") and len(acts) == 2), died


def _check_steps(stage: Stage) -> None:
    assert [f.number for f in stage.facts(StepStarted)] == [1, 2, 3, 4]
    assert [f.head.number for f in stage.facts(StepAdded)] == [1, 2, 3, 4]
    assert [f.state for f in stage.facts(SessionStateChanged)] == ["running", "finished"]
    acts = [tuple(act) for act in stage.outside.read(stage.outside.acts)]
    assert len(acts) == len(set(acts)), "an action was carried out twice"
    for fact in stage.facts(StepAdded):
        body = decode_body(stage.journal.blob(fact.body))
        for action, observation in zip(body.actions, body.observations, strict=True):
            lost = observation.error is not None and observation.error.kind == "interrupted"
            done = (body.number, action.call_id) in acts
            assert done or lost or action.tool == "finish"


def _check_guidance(stage: Stage) -> None:
    delivered = {f.guidance: f.step for f in stage.facts(GuidanceDelivered)}
    assert [f.guidance for f in stage.facts(GuidanceDelivered)] == sorted(delivered), "out of order or twice"
    assert set(delivered) <= {"g1", "g2", "g3", "g4"} and {"g1", "g2", "g4"} <= set(delivered)
    assert {f.guidance: f.step for f in stage.facts(GuidanceAnswered)} == delivered
    decided = stage.facts((GuidanceEdited, GuidanceWithdrawn, GuidanceChangeRefused))
    assert sorted(f.request for f in decided) == ["r1", "r2", "r3"], "each change is decided once"
    for fact in stage.facts(GuidanceChangeRefused):
        assert fact.step == delivered[fact.guidance]
    assert ("g3" in delivered) != any(f.guidance == "g3" for f in stage.facts(GuidanceWithdrawn))
    edited = any(f.guidance == "g2" for f in stage.facts(GuidanceEdited))
    contents = "\n".join(content for _, _, messages in stage.outside.read(stage.outside.asked)
                         for _, content in messages)
    assert ("second, edited" in contents) == edited and "too late" not in contents


def _check_contexts(stage: Stage) -> None:
    asked: dict[int, list[object]] = {}
    for step, _, messages in stage.outside.read(stage.outside.asked):
        assert asked.setdefault(step, messages) == messages, f"step {step} was asked with two different contexts"
    refs: list[MessageRef] = []
    for fact in stage.facts(StepAdded):
        refs = apply_delta(refs, fact.context)
        stored = [[m.role, m.content] for m in (stage.journal.message(r) for r in refs)]
        assert stored == asked[fact.head.number]
        assert fact.completion is not None
        for started in stage.facts(StepStarted):
            if started.number == fact.head.number:
                sources = [r.source for r in refs]
                assert all(f"guidance:{g}" in sources for g in started.guidance)


def test_killed_at_every_boundary(place: Path) -> None:
    points = count_points(place / _made(place, "whole"))
    check(place / "whole")
    assert points > 40
    for at in range(1, points + 1):
        folder = place / _made(place, f"at-{at}")
        life = Life(folder, at)
        assert not life.live()
        assert Life(folder, 0).live()
        check(folder)
        check_nothing_repeated(folder, life.died)


@pytest.mark.parametrize("seed", range(12))
def test_killed_again_and_again(place: Path, seed: int) -> None:
    at = 3 + seed
    for _ in range(60):
        if Life(place, at).live():
            break
        at = 4 + (at * 5 + seed) % 9
    else:
        assert Life(place, 0).live()
    check(place)


def _made(folder: Path, name: str) -> str:
    (folder / name).mkdir()
    return name
