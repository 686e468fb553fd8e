"""A session that ended goes on: once for each word, wherever it is killed, with the very context that it had."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents import Crash, Log, Stage, memory, turns

from core.domain.context import MessageRef, apply_delta
from core.domain.events import (
    GuidanceDelivered,
    SessionContinued,
    SessionStateChanged,
    StepAdded,
)
from core.domain.task import Budget, Limits
from core.llm.scripted import ScriptedModel, read_script

SCRIPT = turns(2) + '\n[[turn]]\nthought = "more"\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n' \
                    'command = "d"\n[[turn]]\nthought = "end"\n[[turn.calls]]\ntool = "finish"'


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        yield Path(folder)


def more(**budget: float) -> Log:
    log = Log()
    log.add(SessionContinued(more=Budget(**budget)))  # type: ignore[arg-type]
    log.guide("g", "look again")
    return log


LOG = more()


def live(folder: Path, log: Log | None = None, at: int = 0, limits: Limits = Limits()) -> int:
    """One life, which ends at the `at`-th boundary; how many it passed."""
    passed = 0

    def boundary(name: str, when: str) -> None:
        nonlocal passed
        passed += 1
        if passed == at:
            raise Crash(name)

    stage = None
    try:
        stage = Stage(folder, ScriptedModel(read_script(SCRIPT)), boundary=boundary, limits=limits)
        if log is not None:
            log.give(stage.inbox)
        asyncio.run(stage.agent.run())
    except Crash:
        pass
    finally:
        if stage is not None:
            stage.close()
    return passed


def contexts(stage: Stage) -> dict[int, list[list[str]]]:
    refs: list[MessageRef] = []
    found = {}
    for fact in stage.facts(StepAdded):
        refs = apply_delta(refs, fact.context)
        found[fact.head.number] = [[m.role, m.content] for m in map(stage.journal.message, refs)]
    return found


def check(folder: Path) -> None:
    stage = Stage(folder, ScriptedModel(read_script(SCRIPT)))
    try:
        assert [f.head.number for f in stage.facts(StepAdded)] == [1, 2, 3, 4, 5]
        assert [f.state for f in stage.facts(SessionStateChanged)] == ["running", "finished", "running", "finished"]
        assert [f.step for f in stage.facts(GuidanceDelivered)] == [4]
        held = contexts(stage)
        assert held[4][: len(held[3]) - 1] == held[3][:-1], "the context goes on; the note alone is another"
        said = [text for _, text in held[4]]
        assert sum("This session had ended (finished)" in text for text in said) == 1
        assert sum("look again" in text for text in said) == 1
        asked = {}
        for step, _, messages in stage.outside.read(stage.outside.asked):
            assert asked.setdefault(step, messages) == messages
        acts = stage.outside.read(stage.outside.acts)
        assert len(acts) == len({tuple(act) for act in acts}), "nothing is done twice"
    finally:
        stage.close()


def test_it_goes_on_once_wherever_it_is_killed(place: Path) -> None:
    (place / "whole").mkdir()
    live(place / "whole")
    points = live(place / "whole", LOG)
    check(place / "whole")
    assert points > 15
    for at in range(1, points + 1):
        folder = place / f"at-{at}"
        folder.mkdir()
        live(folder)
        live(folder, LOG, at)
        live(folder, LOG)
        check(folder)


def test_the_word_is_taken_once_though_the_log_is_read_again(place: Path) -> None:
    live(place)
    live(place, LOG)
    stage = Stage(place, ScriptedModel(read_script(SCRIPT)))
    stage.inbox.rewind()
    stage.close()
    live(place, LOG)
    check(place)


def test_a_limit_leaves_so_much_more_than_was_used(place: Path) -> None:
    limits = Limits(steps=1)
    live(place, limits=limits)
    live(place, more(steps=1), limits=limits)
    stage = Stage(place, ScriptedModel(read_script(SCRIPT)), limits=limits)
    try:
        assert [f.head.number for f in stage.facts(StepAdded)] == [1, 2]
        assert [f.reason for f in stage.facts(SessionStateChanged)][1::2] == ["limit_steps", "limit_steps"]
        assert any("step 2 of 2" in text for _, text in contexts(stage)[2])
    finally:
        stage.close()
