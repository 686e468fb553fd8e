"""Going on after everything was lost, and another way, with real servers, runners and sandboxes."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import docker
import msgspec
import pytest
from support.parts import Parts, stopped, wait

from core.agents.context import WorkingLine
from core.domain.events import SnapshotTaken, StepAdded
from core.domain.step import decode_body
from core.store import blobs
from core.store.sqlite import connect, scalar

pytestmark = pytest.mark.timeout(420)

TASK = """
id = "ledger"
title = "A ledger"
description = "Write lines into a ledger."
hosts = [{ name = "main" }, { name = "side" }]
[limits]
steps = 60
[evaluator]
script = "evaluate.py"
submission = ["ledger"]
[agent]
sandbox = "SANDBOX"
[agent.snapshots]
every_steps = 3
[agent.model]
kind = "scripted"
script = "script.toml"
"""
EVALUATE = """
import json, pathlib, sys
lines = pathlib.Path(sys.argv[1], "ledger").read_text().split()
print(json.dumps({"total": min(100, 5 * len(lines) + 60 * ("advised" in lines)), "message": f"{len(lines)} lines"}))
"""
LINES = 8
PACE = "TIPHYS_SCRIPT_PACE"
"""Seconds between two answers: so many that a busy machine's command reaches the session before its last line."""


def script() -> str:
    """Every step adds a line and shows all; advice adds one more, once."""
    def turn(command: str) -> str:
        return (f'[[turn]]\nthought = "a line"\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n'
                f'command = "{command}"\nsession_id = "main"\nwait_for_completion = true\n')

    lines = "".join(turn(f"echo {n} >> ledger; cat ledger") for n in range(1, LINES + 1))
    branch = turn("echo advised >> ledger; cat ledger").replace("turn", "branch.turn")
    return ("pace_s = 0.3\n" + lines + '[[turn]]\n[[turn.calls]]\ntool = "finish"\n'
            + '[[branch]]\nname = "advice"\nwhen = "advise"\nback = true\n' + branch)


def of_kind(kind: str, home: Path) -> Parts:
    made = Parts(home)
    folder = made.home / "tasks" / "ledger"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK.replace("SANDBOX", kind))
    (folder / "script.toml").write_text(script())
    (folder / "evaluate.py").write_text(EVALUATE)
    made.kind = kind  # type: ignore[attr-defined]
    return made


@pytest.fixture(params=["local", pytest.param("docker", marks=pytest.mark.docker)])
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> Parts:
    return of_kind(request.param, tmp_path / "home")


def run(whole: Parts) -> str:
    words = ["--unconfined", "--allow"] if whole.kind == "local" else []  # type: ignore[attr-defined]
    return str(whole.tiphys("run", "ledger", *words)[0]["session"])


def facts(whole: Parts, session: str, kind: type) -> list[object]:
    return [fact for fact in whole.facts(session) if isinstance(fact, kind)]


def observed(whole: Parts, session: str, step: int) -> str:
    fact = next(f for f in facts(whole, session, StepAdded) if f.head.number == step)
    with contextlib.closing(connect(whole.home / "server.db", readonly=True)) as conn:
        return str(decode_body(blobs.get(conn, fact.body)).observations[0].output.text)


def lose_everything(whole: Parts, session: str) -> list[str]:
    """SIGKILL for all processes; the journal's folder, the containers and their volumes go. What the agent was to read.
    """
    with contextlib.closing(connect(whole.home / "sessions" / session / "journal.db", readonly=True)) as conn:
        working = scalar(conn, "SELECT value FROM slot WHERE key = 'working'")
    whole.kill_runner(session)
    whole.kill_server()
    if whole.kind == "docker":  # type: ignore[attr-defined]
        client = docker.from_env()
        for container in client.containers.list(all=True, filters={"label": f"tiphys.session={session}"}):
            container.remove(force=True)
        for volume in client.volumes.list(filters={"label": f"tiphys.session={session}"}):
            volume.remove(force=True)
        client.close()
    shutil.rmtree(whole.home / "sessions" / session)
    return [line.ref.hash for line in msgspec.json.decode(working, type=list[WorkingLine])]


def test_a_session_of_which_all_is_lost_goes_on_from_a_snapshot_with_the_same_context(whole: Parts) -> None:
    whole.env[PACE] = "2.5"
    whole.start_server()
    session = run(whole)
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).row.steps >= 4, "four steps")
        whole.tiphys("pause", session)
        wait(lambda: whole.trajectory(session).row.state == "paused", "the pause")
        [taken] = whole.tiphys("snapshot", session)
        assert taken["cause"] == "person" and {one["kind"] for one in taken["not_saved"]} >= {"shell", "temporary"}
        step = taken["step"]
        working = lose_everything(whole, session)
        whole.env[PACE] = "0"
        [restored] = whole.tiphys("restore-session", session)
        assert (restored["step"], restored["journal"]) == (step, "restored")
        whole.start_server()
        whole.tiphys("resume", session)
        wait(lambda: whole.trajectory(session).row.state == "finished", "the end")
        again = whole.trajectory(session)
        assert [ref.hash for ref in again.context(step + 1)][:-1] == working, "the very bytes, and the note"
        assert [entry.head.number for entry in again.steps] == list(range(1, LINES + 2))
        assert observed(whole, session, step + 1).split() == [str(n) for n in range(1, step + 2)]
        wait(lambda: whole.tiphys("snapshots", session)[-1]["cause"] == "end", "the snapshot that follows the end")
        listed = whole.tiphys("snapshots", session)
        assert any(one["cause"] == "steps" for one in listed)
        assert all(one["here"] for one in listed)
        assert len(facts(whole, session, SnapshotTaken)) == len(listed)


def test_a_finished_session_whose_host_was_lost_continues_with_its_files(whole: Parts) -> None:
    whole.start_server()
    session = run(whole)
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).row.state == "finished", "the end")
        wait(lambda: not whole.runners(session), "the runner ends")
        if whole.kind == "docker":  # type: ignore[attr-defined]
            client = docker.from_env()
            for container in client.containers.list(all=True, filters={"label": f"tiphys.session={session}"}):
                container.remove(force=True)
            for volume in client.volumes.list(filters={"label": f"tiphys.session={session}"}):
                volume.remove(force=True)
            client.close()
        else:
            for folder in (whole.home / "sessions" / session / "local").iterdir():
                shutil.rmtree(folder)
        steps = whole.trajectory(session).row.steps
        whole.tiphys("continue", session, "--guide", "advise", "--steps", "10")
        wait(lambda: whole.trajectory(session).row.state == "finished", "it goes on")
        assert observed(whole, session, steps + 1).split() == [*(str(n) for n in range(1, LINES + 1)), "advised"]
        assert whole.trajectory(session).row.score == 100


def test_branches_with_and_without_advice_share_the_past_and_differ_by_the_advice(whole: Parts) -> None:
    whole.env[PACE] = "1.5"
    whole.start_server()
    session = run(whole)
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).row.steps >= 4, "four steps")
        whole.tiphys("guide", session, "advise")
        wait(lambda: whole.trajectory(session).row.state == "finished", "the end")
        [guidance] = whole.trajectory(session).guidance.values()
        step = guidance.delivered_step - 1
        group = ["--group", "question"]
        [given] = whole.tiphys("branch", session, "--step", str(step), *group, "--arm", "with")
        lacking = whole.tiphys("branch", session, "--step", str(step), "--without", guidance.id, *group)
        earlier = whole.tiphys("branch", session, "--step", "2", *group, "--arm", "early")
        undone = whole.tiphys("branch", session, "--step", "2", "--no-replay", *group, "--arm", "undone")
        for one in (given, *lacking, *earlier, *undone):
            wait(lambda one=one: whole.trajectory(one["session"]).row.state == "finished", "a branch ends")
        assert whole.trajectory(given["session"]).row.score == whole.trajectory(session).row.score == 100
        assert {whole.trajectory(one["session"]).row.score for one in lacking} == {40}
        for one in (given, *lacking):
            branch = whole.trajectory(one["session"])
            assert branch.steps[0].head.number == step + 1, "its past is the other's"
            assert [r.hash for r in branch.context(step + 1)][:step] == [
                r.hash for r in whole.trajectory(session).context(step + 1)][:step]
            assert (branch.row.parent, branch.row.group) == (session, "question")
        assert [s.head.number for s in whole.trajectory(earlier[0]["session"]).steps][:2] == [1, 2], "taken again"
        assert whole.trajectory(earlier[0]["session"]).row.score == 40
        assert whole.tiphys("branch", session, "--step", str(step + 1), "--without", guidance.id, status=1) == []
        for one in (given, *lacking, *earlier, *undone):
            whole.stop(one["session"])


def test_the_recorded_answers_lead_to_the_same_state_or_the_first_difference_is_named(tmp_path: Path) -> None:
    whole = of_kind("local", tmp_path / "home")
    lines = script()
    (whole.home / "tasks/ledger/script.toml").write_text(lines.replace("pace_s = 0.3", "pace_s = 0.0"))
    whole.start_server()
    session = run(whole)
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).row.state == "finished", "the end")
        [same] = whole.tiphys("replay", session)
        assert (same["is_same"], same["steps"]) == (True, LINES + 1)
        again = whole.trajectory(same["replay"])
        assert (again.row.state, again.row.reason, again.row.score) == ("finished", "replayed", 40)
        (whole.home / "tasks/ledger/script.toml").write_text(lines.replace("echo 7 >>", "echo $RANDOM$RANDOM >>"))
        other = run(whole)
        wait(lambda: whole.trajectory(other).row.state == "finished", "the end of the other")
        [differs] = whole.tiphys("replay", other, status=1)
        assert differs["difference"]["step"] == 7 and differs["difference"]["what"] == "line 7 of the output"
        for one in (same["replay"], other, differs["replay"]):
            whole.stop(one)


def test_whether_an_advice_helped_is_answered_by_branches_on_both_sides(tmp_path: Path) -> None:
    whole = of_kind("local", tmp_path / "home")
    whole.env[PACE] = "1.5"
    whole.start_server()
    session = run(whole)
    with stopped(whole, session):
        wait(lambda: whole.trajectory(session).row.steps >= 3, "three steps")
        whole.tiphys("guide", session, "advise")
        wait(lambda: whole.trajectory(session).row.state == "finished", "the end")
        [guidance] = whole.trajectory(session).guidance.values()
        [found] = whole.tiphys("counterfactual", session, guidance.id, "--times", "2", "--wait")
        given, lacking = found["arms"]
        assert (given["name"], given["mean"], given["ended"]) == ("with", 100, 2)
        assert (lacking["name"], lacking["scores"], lacking["interval"]) == ("without", [40, 40], [40, 40])
        assert found["differences"] == [{"arm": "with", "other": "without", "mean": 60, "interval": [60, 60]}]
        parts = {one["session"]: one for one in found["partings"]}
        assert found["against"] == session and all(not parts[one].get("step") for one in given["sessions"])
        assert {parts[one]["step"] for one in lacking["sessions"]} == {guidance.delivered_step}
        assert "advised" in parts[lacking["sessions"][0]]["other_title"]
        assert whole.tiphys("compare", found["group"]) == [found]
        for one in parts:
            whole.stop(one)
