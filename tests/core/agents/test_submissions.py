"""A score of 0 is for what the agent did not hand in; all else that goes wrong is failed, said, and costs nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents import Stage, turns
from support.sandboxes import box, need_engine

from core.agents.sink import Sink
from core.agents.submissions import Submissions
from core.domain.errors import Conflict
from core.domain.events import ScoreGiven
from core.domain.step import Observation
from core.domain.task import Evaluator, Host, Limits, Task
from core.llm.scripted import ScriptedModel, read_script
from core.sandbox.kinds import open_sandbox
from core.sandbox.sandbox import Sandbox
from core.tasks import submission
from core.tasks.catalogue import Catalogue
from core.tasks.handing_in import HandingIn

TASK = """
id = "t"
title = "T"
description = "Do it."
[evaluator]
script = "evaluate.py"
submission = ["out"]
"""


class Handing:
    """A real sandbox, a real task folder and a real journal; `evaluate` is what the agent's action calls."""

    def __init__(self, folder: Path, script: str = "print('{\"total\": 70}')") -> None:
        place = folder / "tasks/t"
        place.mkdir(parents=True)
        (place / "task.toml").write_text(TASK)
        (place / "evaluate.py").write_text(script)
        self.script = place / "evaluate.py"
        self.task = Task(id="t", title="T", description="Do it.", limits=Limits(evaluations=3),
                         evaluator=Evaluator(script="evaluate.py", submission=("out",), timeout_s=20))
        self.stage = Stage(folder / "journal", ScriptedModel(read_script(turns(1))), evaluator=self.task.evaluator)
        self.catalogue = Catalogue([folder / "tasks"])

    async def evaluate(self, host: Sandbox, check: Callable[[], None] = lambda: None) -> tuple[ScoreGiven, Observation]:
        handing_in = HandingIn(self.task, self.catalogue, host, None, check)
        submissions = Submissions(self.stage.journal, self.stage.steps, self.task, handing_in)
        seen = await Sink(self.stage.journal, self.stage.steps, self.stage.signals, submissions).evaluate(1)
        return self.stage.facts(ScoreGiven)[-1], seen  # type: ignore[return-value]

    @property
    def used(self) -> int:
        return self.stage.steps.progress.evaluations


@pytest.fixture
def handing(tmp_path: Path) -> Handing:
    (tmp_path / "journal").mkdir()
    return Handing(tmp_path)


def test_three_different_things(handing: Handing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "agent")
    monkeypatch.setattr(submission, "MAX_FILES", 2)

    async def work(host: Sandbox) -> None:
        missing, _ = await handing.evaluate(host)
        assert (missing.total, missing.failed) == (0.0, False) and "out was not handed in" in missing.message
        assert handing.used == 1 and not caplog.messages

        for name in ("one", "two", "three"):
            await host.write_file(f"{host.workspace}/out/{name}", b"x")
        large, seen = await handing.evaluate(host)
        assert (large.total, large.failed) == (None, True) and handing.used == 1, "it costs no evaluation"
        assert (missing.reason, large.reason) == ("not_handed_in", "submission_too_large")
        assert "more than 2 files" in large.message
        assert seen.error is not None and seen.error.kind == "submission_too_large" and seen.status == "failed"
        assert "Evaluations left: 3." in seen.output.text

        await host.run(["rm", "out/two", "out/three"])
        scored, _ = await handing.evaluate(host)
        assert scored.total == 70.0 and handing.used == 2
        await host.stop()
        away, seen = await handing.evaluate(host)
        assert (away.total, away.failed) == (None, True) and handing.used == 2
        assert "was not scored" in away.message
        assert seen.error is not None and seen.error.kind == "submission_unreadable"

    with box("local", tmp_path) as one:
        one.use(work)
    assert len(caplog.messages) == 2 and "2 files" in caplog.messages[0], "the log says why, too"


@pytest.mark.docker
def test_a_container_that_is_gone_is_an_outage_and_no_missing_file(handing: Handing, tmp_path: Path) -> None:
    need_engine()

    async def work(host: Sandbox) -> None:
        await host.remove()
        away, _ = await handing.evaluate(host)
        assert (away.total, away.failed) == (None, True) and handing.used == 0, away.message

    with box("docker", tmp_path) as one:
        one.use(work)


def test_an_evaluator_that_changed_or_is_gone_runs_nothing(handing: Handing, tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    def refuse() -> None:
        raise Conflict("task_not_allowed", "Task t asks for what nobody allowed.")

    async def work(host: Sandbox) -> None:
        await host.write_file(f"{host.workspace}/out/a", b"x")
        handing.script.write_text(f"open({str(marker)!r}, 'w')")
        changed, _ = await handing.evaluate(host, refuse)
        assert changed.failed and "nobody allowed" in changed.message and handing.used == 0 and not marker.exists()
        handing.script.unlink()
        gone, _ = await handing.evaluate(host)
        assert gone.failed and "evaluate.py" in gone.message and handing.used == 0

    with box("local", tmp_path) as one:
        one.use(work)


def test_an_engine_out_of_reach_is_said(handing: Handing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    host = open_sandbox("docker", "s1", Host(name="main"), tmp_path)
    score, _ = asyncio.run(handing.evaluate(host))
    assert score.failed and score.total is None and handing.used == 0
    assert "engine" in score.message, score.message
