"""`tiphys take-over`, `act` and `hand-back` on the hosts of a real session: all of its agent's actions, by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.parts import Parts, stopped, wait

TASK = """id = "look"
title = "Look around"
description = "Look around."
[agent]
sandbox = "local"
[agent.model]
kind = "scripted"
script = '''
[[turn]]
pace_s = 600.0
[[turn.calls]]
tool = "think"
arguments = { thought = "never" }
[[turn]]
thought = "done"
[[turn.calls]]
tool = "finish"
'''
"""


@pytest.mark.timeout(600)
def test_a_person_works_on_the_hosts_by_the_agents_own_actions(tmp_path: Path) -> None:
    (tmp_path / "tasks/look").mkdir(parents=True)
    (tmp_path / "tasks/look/task.toml").write_text(TASK)
    parts = Parts(tmp_path)
    parts.start_server()
    with stopped(parts, "none"):
        session = parts.tiphys("run", "look", "--allow")[-1]["session"]
        parts.tiphys("act", session, "run_command", "command=ls", status=1)
        parts.tiphys("take-over", session)
        wait(lambda: parts.trajectory(session).offered is not None, "the session is taken over")
        tools = {tool["name"]: tool for tool in parts.tiphys("act", session)}
        assert len(tools) > 20 and "command" in tools["run_command"]["parameters"]["properties"]
        [made] = parts.tiphys("act", session, "run_command", "command=echo $((40 + 2)) > answer; cat answer",
                              "--thought", "Count.")
        assert (made["step"], made["status"], made["text"].strip()) == (1, "finished", "42")
        [read] = parts.tiphys("act", session, "open_file", "--json-arguments", json.dumps({"path": "answer"}))
        assert read["step"] == 2 and "42" in read["text"]
        assert "bad_action" in _refused(parts, session, "fly")
        parts.tiphys("hand-back", session)
        wait(lambda: parts.trajectory(session).row.state == "finished", "the agent has ended it")
        steps = parts.tiphys("show", session)[0]["steps"]
        assert [step["author"] for step in steps][:2] == ["root", "root"] and steps[-1]["author"] is None
        assert steps[0]["thought"] == "Count." and steps[-1]["actions"][0]["tool"] == "finish"


def _refused(parts: Parts, session: str, tool: str) -> str:
    command = [sys.executable, "-m", "core.cli", "act", session, tool, "a=b"]
    done = subprocess.run(command, env=parts.env, capture_output=True, text=True, check=False)
    assert done.returncode
    return done.stderr
