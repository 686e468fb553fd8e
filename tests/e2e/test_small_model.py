"""The loop with a real small language model as the agent: its answers may be poor, the loop must not care."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.parts import ROOT, Parts, stopped, wait
from support.tiny_model import thin_smollm2

STEPS = 2


@contextmanager
def endpoint(model: Path) -> Iterator[str]:
    """An OpenAI-compatible endpoint that serves a model; its address."""
    command = [sys.executable, "-m", "core.llm.serve_local", "--model", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def make_task(home: Path, url: str) -> None:
    """The task that adds up numbers, for that model, ending after two steps."""
    folder = home / "tasks" / "sum-with-smollm2"
    shutil.copytree(ROOT / "resources" / "tasks" / "sum-numbers", folder)
    told = (folder / "task.toml").read_text().partition("[agent.model]")[0]
    told = told.replace('id = "sum-numbers"', 'id = "sum-with-smollm2"').replace("steps = 40", f"steps = {STEPS}")
    (folder / "task.toml").write_text(
        f'{told}[agent.model]\nkind = "openai"\nname = "smollm2"\nbase_url = "{url}"\nactions = "text"\n'
        "max_output_tokens = 40\ntemperature = 0.0\n")


@pytest.mark.docker
@pytest.mark.model
@pytest.mark.timeout(420)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_session_of_a_real_model_over_http_ends_by_its_limit_with_exact_contexts(tmp_path: Path) -> None:
    whole = Parts(tmp_path / "home")
    whole.home.mkdir()
    with endpoint(thin_smollm2()) as url:
        make_task(whole.home, url)
        whole.start_server()
        session = whole.tiphys("run", "sum-with-smollm2", "--allow")[0]["session"]
        with stopped(whole, session):
            wait(lambda: whole.trajectory(session).row.state in ("finished", "failed", "stopped"), "it ends", 360)
            row = whole.trajectory(session).row
            assert (row.state, row.reason, row.steps) == ("finished", "limit_steps", STEPS)
            assert row.tokens  # the endpoint counts, and what it counts is in the log
            [told] = whole.tiphys("show", session, "--step", str(STEPS), "--context")
    contents = [message["content"] for message in told["steps"][0]["context"]]
    assert "numbers.txt" in "".join(contents)
    assert any(message["role"] == "assistant" for message in told["steps"][0]["context"])
