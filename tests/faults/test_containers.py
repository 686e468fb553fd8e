"""Agents in real containers, which are killed with everybody else, now and then together with their engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.run import one
from faults.stand import Settings
from support.sandboxes import need_engine

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def test_killed_containers_and_engines_break_no_promise(tmp_path: Path) -> None:
    need_engine()
    faults = ("kill container", "kill engine", "kill runner", "kill server", "kill client", "reset")
    told = one(
        Settings(name="containers", seed=31, seconds=25.0, clients=2, rate=8.0, steps=14, pace_s=0.2, pause_s=1.0,
                 sandbox="docker", faults=faults, patience_s=120.0),
        tmp_path,
    )  # fmt: skip
    assert told["examples"] == []
    assert (told["lost"], told["repeated"], told["disordered"], told["other"]) == (0, 0, 0, 0)
    assert told.get("over"), "it came to rest"
    assert told["faults"].get("kill container", 0) >= 1 and told["acts"] >= 4, "it was a real run"
