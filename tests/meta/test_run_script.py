"""`make run` ends with the status of its work: a signal while the engine ends makes no failure of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "packaging/setup/run.sh"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The script among programs that only say where it is: the work, and the engine's end, go on until told."""
    setup, tools = tmp_path / "packaging/setup", tmp_path / ".venv/bin"
    setup.mkdir(parents=True)
    tools.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    wait = 'touch "$1"; while [ ! -e "$1.over" ]; do sleep 0.05; done'
    words = {setup / "run.sh": RUN.read_text(), setup / "system.sh": "true", tmp_path / "bin/id": "echo 0",
             setup / "engine.sh": f'[ "$1" = start ] || {{ set -- stopping; {wait}; }}',
             tools / "python": "exit 0", tools / "tiphys": f"set -- working; {wait}; echo results"}
    for path, text in words.items():
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return tmp_path


def until(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path.name
        time.sleep(0.02)


@pytest.mark.parametrize(("stage", "sent", "status"), [
    ("working", signal.SIGTERM, 143), ("working", signal.SIGINT, 130), ("stopping", signal.SIGTERM, 0),
    ("stopping", signal.SIGINT, 0)])
def test_the_status_is_that_of_the_work(tree: Path, stage: str, sent: signal.Signals, status: int) -> None:
    env = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}"}
    run = subprocess.Popen([tree / "packaging/setup/run.sh"], env=env, stdout=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's & ignores it
    stages = ("working", "stopping")
    for one in stages:
        until(tree / one)
        if one == stage:
            run.send_signal(sent)
            time.sleep(0.1)  # it is handled when what runs in front has ended: it must be there before
        (tree / f"{one}.over").touch()
    assert run.wait(60) == status
