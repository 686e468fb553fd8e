"""A person acts in the agent's place in a real sandbox, and each process is killed in the middle of it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.parts import Parts, stopped, wait
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.tiny_model import make_model

from core.domain.events import ActionAsked, HandedBack, StepAdded, TakenOver, decode_event
from core.store import log
from core.store.sqlite import connect

pytestmark = pytest.mark.timeout(240)

TASK = """
id = "ledger"
title = "A ledger"
description = "Write lines into a ledger."
[limits]
steps = 60
[evaluator]
script = "evaluate.py"
submission = ["ledger"]
[agent.model]
kind = "scripted"
script = "script.toml"
"""
EVALUATE = """
import json, pathlib, sys
print(json.dumps({"total": 50, "message": pathlib.Path(sys.argv[1], "ledger").read_text()}))
"""
SCRIPT = "pace_s = 600.0\n" + 4 * '[[turn]]\nthought = "a person acts instead"\n' + """
[[turn]]
[[turn.calls]]
tool = "run_command"
arguments = {command = "echo agent >> ledger", session_id = "main", wait_for_completion = true}
[[turn]]
[[turn.calls]]
tool = "finish"
"""
PACE = "TIPHYS_SCRIPT_PACE"


@pytest.fixture
def whole(tmp_path: Path) -> Parts:
    made = Parts(tmp_path / "home")
    folder = made.home / "tasks" / "ledger"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    (folder / "script.toml").write_text(SCRIPT)
    (folder / "evaluate.py").write_text(EVALUATE)
    return made


def line(words: str, name: str = "main") -> str:
    """What the typist fills in to write words into the ledger."""
    return f"act tool=run_command\tcommand={words} >> ledger\tsession_id={name}\twait_for_completion=true"


def there(session: str, name: str) -> bool:
    """Whether a file is in the workspace of a session's container."""
    found = subprocess.run(["docker", "ps", "-q", "--filter", f"label=tiphys.session={session}"], capture_output=True,
                           text=True, check=True).stdout.split()
    return subprocess.run(["docker", "exec", found[0], "test", "-e", f"/workspace/{name}"], check=False).returncode == 0


@pytest.mark.docker
def test_whoever_dies_while_a_person_acts_each_action_is_done_once_and_bears_their_name(whole: Parts) -> None:
    whole.start_server()
    session = str(whole.tiphys("run", "ledger")[0]["session"])
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).open_step is not None, "the model is asked")
        _through_the_window(whole, session)
        _through_the_command_line(whole, session)
        whole.env[PACE] = "0"
        whole.start_server()
        whole.kill_runner(session)
        whole.tiphys("hand-back", session)
        wait(lambda: whole.trajectory(session).row.state == "finished", "the agent goes on to its end")
        _check(whole, session)


def _through_the_window(whole: Parts, session: str) -> None:
    """The runner dies while the person's command runs, then the window with one on its way."""
    whole.open_window(session)
    assert whole.type("take") == "yours"
    assert whole.type(line("echo one")) == "asked"
    assert whole.type("steps 1") == "steps 1"
    assert whole.type(line("touch began; sleep 2; echo two")) == "asked"
    wait(lambda: there(session, "began"), "the command runs")
    whole.kill_runner(session)
    assert whole.type("steps 2") == "steps 2"
    assert whole.trajectory(session).row.held_by, "a new runner leaves it with the person"
    assert whole.type(line("echo three")) == "asked"
    whole.kill_window()  # it had stored what it was to send, and sent it or not
    whole.open_window(session)
    assert whole.type("steps 3") == "steps 3"
    whole.kill_window()


def _through_the_command_line(whole: Parts, session: str) -> None:
    """The server dies while a person waits for what comes back."""
    command = [sys.executable, "-m", "core.cli", "act", session, "run_command", "session_id=main",
               "command=touch again; sleep 2; echo four >> ledger", "wait_for_completion=true", "--json"]
    with subprocess.Popen(command, env=whole.env, stdout=subprocess.PIPE, text=True) as act:
        wait(lambda: there(session, "again"), "the command runs")
        whole.kill_server()
        whole.start_server()
        told, _ = act.communicate(timeout=60)
    assert act.returncode == 0 and json.loads(told)
    whole.kill_server()


def _check(whole: Parts, session: str) -> None:
    facts = [decode_event(body).fact for body in whole.bodies(whole.home / "server.db", session)]
    heads = [fact.head for fact in facts if isinstance(fact, StepAdded)]
    person = whole.trajectory(session).steps[0].head.author
    assert [head.author for head in heads] == [person] * 4 + ["", ""] and person
    assert whole.trajectory(session).scores[-1].message.split() == ["one", "two", "three", "four", "agent"]
    assert facts.count(HandedBack(step=5, reason="asked")) == 1 and not whole.trajectory(session).row.held_by
    assert {fact.person for fact in facts if isinstance(fact, TakenOver)} == {person}


def test_one_session_of_a_rollout_is_taken_over_while_the_server_dies_and_the_others_go_on(
        tmp_path: Path, textcraft: Path) -> None:  # noqa: F811
    whole = Parts(tmp_path / "home")
    whole.env["PYTHONPATH"] += f"{os.pathsep}{textcraft}"
    whole.home.mkdir()
    words = ["rollout", "textcraft", "--items", "0:3", "--local", str(make_model(tmp_path / "model")), "--max-tokens",
             "2", "--steps", "1000", "--json"]
    whole.start_server()
    with stopped(whole, "none"), subprocess.Popen([sys.executable, "-m", "core.cli", *words], env=whole.env,
                                                  stdout=subprocess.DEVNULL) as rollout:
        try:
            wait(lambda: sum(steps_of(whole).values()) >= 3, "sessions play")
            name = next(iter(steps_of(whole)))
            whole.tiphys("take-over", name)
            wait(lambda: whole.trajectory(name).offered is not None, "it is the person's")
            command = [sys.executable, "-m", "core.cli", "act", name, "act", "command=inventory", "--json"]
            with subprocess.Popen(command, env=whole.env, stdout=subprocess.DEVNULL) as act:
                wait(lambda: was_asked(whole, name), "the person's word is in the log")
                whole.kill_server()
                whole.start_server()
                assert act.wait(60) == 0
            before = steps_of(whole)
            wait(lambda: all(steps > before[one] for one, steps in steps_of(whole).items() if one != name), "they play")
            told = whole.trajectory(name)
            assert [entry.head.author for entry in told.steps].count(told.row.held_by) == 1 and told.row.held_by
        finally:
            rollout.kill()


def was_asked(whole: Parts, session: str) -> bool:
    """Whether a person asked for an action."""
    bodies = whole.bodies(whole.home / "server.db", session)
    return any(isinstance(decode_event(body).fact, ActionAsked) for body in bodies)


def steps_of(whole: Parts) -> dict[str, int]:
    """How many steps each session has."""
    with contextlib.closing(connect(whole.home / "server.db", readonly=True)) as conn:
        return {row.session: row.steps for row in log.rows(conn)}
