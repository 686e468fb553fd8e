"""Real commands that work on several samples, attached: each sample is a session of its own, steered by itself.

`make agents` installs them and runs this; one that is not installed is passed over.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conformance.agents import FOLDER
from support.gateway_stand import KEY, GatewayStand, standing
from support.scripted_upstream import ADVICE, Received, Script, items_of, steps_in

from core.domain.events import GuidanceAnswered
from core.domain.session import SessionRow
from core.store import log
from core.store.sqlite import connect

INSPECT = '''
from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import bash

@task
def three():
    return Task(dataset=[Sample(input=f"TASK-MAIN {n}: repair calc.py.", target="x") for n in range(3)],
                solver=react(tools=[bash(timeout=60)]), sandbox="local")
'''
TASKSETS = Path(__file__).parents[1] / "support/tasksets"
VERIFIERS = """vf-eval tiphys_repair_v1 --model scripted --num-rollouts 2 --env.agent.runtime.type subprocess \
  --push False --client.base-url "$OPENAI_BASE_URL" --client.api-key-var OPENAI_API_KEY"""
COMMANDS = {
    "inspect": ("responses", 3, ["inspect", "eval", "task.py", "--model", "openai/scripted", "--display", "plain"]),
    "verifiers": ("chat", 4, ["sh", "-c", VERIFIERS]),
}
pytestmark = pytest.mark.timeout(600)


def cli(stand: GatewayStand, *words: str) -> list[str]:
    return [sys.executable, "-m", "core.cli", "--home", str(stand.home), *words]


def rows(stand: GatewayStand) -> list[SessionRow]:
    with contextlib.closing(connect(stand.home / "server.db", readonly=True)) as conn:
        return [*log.rows(conn)]


def variables(name: str, folder: Path) -> dict[str, str]:
    path = f"{FOLDER / 'py' / name / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(folder), "TEST_UPSTREAM_TOKEN": KEY, "PYTHONPATH": os.pathsep.join(
        (str(Path(__file__).parents[2]), str(TASKSETS)))}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if (FOLDER / "py" / name / "bin").exists() else
                                               pytest.mark.skip(reason="not installed")) for name in COMMANDS])
def test_each_sample_is_a_session_that_is_steered_by_itself(name: str, tmp_path: Path) -> None:
    dialect, count, command = COMMANDS[name]
    steered = threading.Event()

    def hold(got: Received) -> None:
        if got.is_main and steps_in(items_of(dialect, json.loads(got.raw))) >= 2:
            steered.wait(300)

    (tmp_path / "task.py").write_text(INSPECT)
    for stand in standing(tmp_path, Script(subagents=False, before=hold)):
        attach = cli(stand, "attach", "--samples", "--dialect", dialect, "--base-url", f"{stand.upstream.url}/v1",
                     "--key-env", "TEST_UPSTREAM_TOKEN", "--model", "scripted", "--", *command)
        with (tmp_path / "said").open("wb") as out, subprocess.Popen(
                attach, cwd=tmp_path, env=variables(name, tmp_path), stdout=out, stderr=out) as process:
            try:
                steer(stand, process, count, tmp_path)
            except BaseException:
                process.terminate()
                raise
            finally:
                steered.set()
            assert process.wait(200) == 0, (tmp_path / "said").read_text()[-3000:]
        judge(stand, count)


def steer(stand: GatewayStand, process: subprocess.Popen[bytes], count: int, folder: Path) -> None:
    """Give each session an advice of its own, once all of them are at work."""
    until = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < until:
        if (stand.home / "server.port").exists() and [row.steps >= 2 for row in rows(stand)] == [True] * count:
            break
        time.sleep(0.3)
    at_work = rows(stand)
    assert [row.steps for row in at_work] == [2] * count, (folder / "said").read_text()[-3000:]
    for row in at_work:
        subprocess.run(cli(stand, "guide", row.session, advice(row.session)), check=True, timeout=60,
                       env=variables("inspect", folder), capture_output=True)


def advice(session: str) -> str:
    return f"Please {ADVICE}, not plain.txt ({session})."


def judge(stand: GatewayStand, count: int) -> None:
    """Each went its way to the end with its own advice and no other's, and the logs are what the endpoint was sent."""
    ended = rows(stand)
    assert [(row.state, row.reason) for row in ended] == [("finished", "finished")] * count
    assert all(len(stand.facts(GuidanceAnswered, row.session)) == 1 for row in ended)
    sent = [r.raw for r in stand.upstream.received]
    logged = [raw for _, raw in stand.requests_in_log([row.session for row in ended]).values()]
    assert sorted(logged) == sorted(sent)
    given = [[r.text.count(advice(row.session)) for row in ended] for r in stand.upstream.main]
    assert all(sum(counts) <= 1 for counts in given)
    assert all(sum(counts[at] for counts in given) >= 3 for at in range(count)), given
