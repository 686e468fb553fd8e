"""Sessions on hosts out of the pool, with every process real: server, runner, engines, SSH."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.engines import SecondEngine, processes_on_machines, second_engine, ssh_machine, ssh_server
from support.parts import Parts, stopped, wait

from core.domain.events import HostPlaceChanged, TerminalOutput

SIZE = 700 << 20
"""Far beyond what was once copied through memory; sparse on this disk."""

TASK = """
id = "large"
title = "T"
description = "d"
workspace = "workspace"
shared_folder = {shared}

{hosts}

[agent.model]
kind = "scripted"
script = '''
{turns}
[[turn]]
thought = "done"
[[turn.calls]]
tool = "finish"
'''
"""
TURN = """
[[turn]]
thought = "t"
[[turn.calls]]
tool = "run_command"
[turn.calls.arguments]
computer_ip = "{host}"
command = "{command}"
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[SecondEngine]:
    """One for all: each would have the sandbox's image brought there anew."""
    with second_engine() as made:
        yield made


def make_task(home: Path, hosts: str, turns: list[tuple[str, str]], shared: bool = False) -> Path:
    folder = home / "tasks/large"
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace/readme").write_text("words\n")
    text = "".join(TURN.format(host=host, command=command) for host, command in turns)
    (folder / "task.toml").write_text(TASK.format(hosts=hosts, turns=text, shared=str(shared).lower()))
    return folder


def outputs(whole: Parts, session: str) -> list[str]:
    """What the session's commands printed."""
    shown = whole.tiphys("show", session)[0]
    return [json.dumps(step) for step in shown["steps"]]


def peak(pid: int) -> int:
    """The most memory that a process has held, in bytes."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10
    return 0


@pytest.mark.docker
@pytest.mark.timeout(400)
def test_a_large_workspace_is_streamed_and_two_hosts_work_together(tmp_path: Path) -> None:
    whole = Parts(tmp_path / "home")
    two = '[[hosts]]\nname = "one"\nmemory_mb = 512\n[[hosts]]\nname = "two"\nmemory_mb = 512\n'
    folder = make_task(whole.home, two, [
        ("one", "stat -c %s big && cp readme /shared && (cd /shared && python3 -m http.server 8000 >/dev/null 2>&1 &)"),
        ("two", "stat -c %s big && cat /shared/readme && for n in 1 2 3 4 5 6 7 8 9; do "
                "curl -sf http://one:8000/readme && break; sleep 0.3; done"),
    ], shared=True)
    with (folder / "workspace/big").open("wb") as file:
        file.truncate(SIZE)
    whole.start_server()
    session = whole.tiphys("run", "large")[0]["session"]
    most = 0
    with stopped(whole, session):
        until = time.monotonic() + 300
        while whole.trajectory(session).row.state not in ("finished", "failed") and time.monotonic() < until:
            most = max([most, *(peak(pid) for pid in whole.runners(session))])
            time.sleep(0.1)
        row = whole.trajectory(session).row
        assert (row.state, row.reason) == ("finished", "finished")
        steps = outputs(whole, session)
    assert str(SIZE) in steps[0] and str(SIZE) in steps[1] and steps[1].count("words") >= 2
    assert 0 < most < SIZE // 2, f"the runner held {most >> 20} MiB"


@pytest.mark.docker
@pytest.mark.timeout(400)
def test_a_session_is_placed_on_an_engine_and_a_machine_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: SecondEngine
) -> None:
    with ssh_server(tmp_path / "ssh", monkeypatch) as url:
        whole = Parts(tmp_path / "home")
        hosts = '[[hosts]]\nname = "one"\nmemory_mb = 512\n[[hosts]]\nname = "lab"\nmachine = "lab1"\ngpus = 1\n'
        make_task(whole.home, hosts, [("one", "cat readme; ls /dev/nvidia* 2>&1 | head -1"),
                                      ("lab", "cat readme; echo gpu $CUDA_VISIBLE_DEVICES in $PWD")])
        whole.tiphys("hosts", "add", "far", f"{url}{engine.socket}")
        whole.tiphys("hosts", "add", "lab1", url, "--machine", "--gpus", "7")
        whole.tiphys("hosts", "add", "nowhere", "ssh://127.0.0.1:1", status=1)
        whole.tiphys("hosts", "add", "local", "--cpus", "0.1")  # full for this task: it goes elsewhere
        whole.start_server()
        whole.tiphys("run", "large", status=1)  # a plain machine is asked for by name, and allowed by a person
        session = whole.tiphys("run", "large", "--allow")[0]["session"]
        with stopped(whole, session):
            wait(lambda: whole.trajectory(session).row.state in ("finished", "failed"), "the session ends", 240)
            row = whole.trajectory(session).row
            assert (row.state, row.reason) == ("finished", "finished")
            placed = {f.host: (f.place, f.gpus) for f in whole.facts(session) if isinstance(f, HostPlaceChanged)}
            assert placed == {"one": ("far", ()), "lab": ("lab1", ("7",))}
            first, second = outputs(whole, session)[:2]
            assert "words" in first and "words" in second and "gpu 7" in second and ".tiphys-hosts" in second
            shutil.rmtree(Path.home() / ".tiphys-hosts" / session)
            wait(lambda: not [x for x in whole.tiphys("hosts", "list") if x.get("sessions")], "all is taken back", 60)


def shown(whole: Parts, session: str) -> str:
    """All that the log tells of a session's terminals, as it stands."""
    return b"".join(f.data for f in whole.facts(session) if isinstance(f, TerminalOutput)).decode("utf-8", "replace")


def states(whole: Parts, session: str) -> list[tuple[str, str]]:
    """Where each host was placed, lost and found again, in order."""
    return [(f.host, f.state) for f in whole.facts(session) if isinstance(f, HostPlaceChanged)]


def kill_daemon(base: Path) -> None:
    """What a plain machine runs for a session, as a power cut would; its files stay."""
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and str(base).encode() in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), 9)


JOB = """
[[turn]]
thought = "t"
[[turn.calls]]
tool = "run_command"
[turn.calls.arguments]
command = "echo begun $((6*7)); sleep 600"
session_id = "beside"
wait_for_completion = false
[[turn]]
thought = "t"
[[turn.calls]]
tool = "sleep"
[turn.calls.arguments]
sleep_time = 500
"""


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_an_engine_that_is_killed_and_started_again_in_the_middle_of_a_command_and_of_a_wait(
    tmp_path: Path, engine: SecondEngine
) -> None:
    whole = Parts(tmp_path / "home")
    folder = make_task(whole.home, '[[hosts]]\nname = "one"\nmemory_mb = 256\n', [
        ("one", "echo safe > note; echo near $((6*7)); sleep 600"), ("one", "JOB"),
        ("one", "cat note; echo $((6*8))")])
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text(text.replace(TURN.format(host="one", command="JOB"), JOB))
    whole.tiphys("hosts", "add", "far", engine.url)
    whole.tiphys("hosts", "add", "local", "--cpus", "0.1")
    whole.start_server()
    session = whole.tiphys("run", "large", "--allow")[0]["session"]
    with stopped(whole, session):
        wait(lambda: "near 42" in shown(whole, session), "a command is at work", 120)
        engine.restart()
        wait(lambda: whole.trajectory(session).row.steps == 2, "the next job is at work, and waited for", 120)
        engine.restart()
        wait(lambda: whole.trajectory(session).row.state in ("finished", "failed"), "the session ends", 120)
        row = whole.trajectory(session).row
        assert (row.state, row.reason) == ("finished", "finished")
        assert "safe\r\n48" in shown(whole, session), "the files are there"
        command, _, waited, *_ = outputs(whole, session)
        assert "was started again: its files are there, its sessions and programs are gone" in command
        assert "woke because a job ended" in waited and "without an exit code" in waited


def state_of(whole: Parts, session: str) -> tuple[str, str]:
    row = whole.trajectory(session).row
    return row.state, row.reason


def queue_place(whole: Parts, session: str) -> int | None:
    return whole.trajectory(session).row.queue_place


@pytest.mark.docker
@pytest.mark.timeout(400)
def test_hosts_that_are_lost_in_the_middle_of_an_action_are_told_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: SecondEngine
) -> None:
    with ssh_machine(tmp_path / "ssh", monkeypatch) as ssh:
        whole = Parts(tmp_path / "home")
        hosts = '[[hosts]]\nname = "one"\nmemory_mb = 512\n[[hosts]]\nname = "lab"\nmachine = "lab1"\ngpus = 1\n'
        make_task(whole.home, hosts, [("one", "echo far $((6*7)); until [ -e go ]; do sleep 1; done; echo ov$((1+1))"),
                                      ("lab", "echo safe > note; echo near $((6*7)); sleep 600"),
                                      ("lab", "cat note; echo again $((6*8))"), ("one", "echo back $((6*9))")])
        whole.tiphys("hosts", "add", "far", f"{ssh.url}{engine.socket}")
        whole.tiphys("hosts", "add", "lab1", ssh.url, "--machine", "--gpus", "7")
        whole.tiphys("hosts", "add", "local", "--cpus", "0.1")
        whole.start_server()
        session = whole.tiphys("run", "large", "--allow")[0]["session"]
        with stopped(whole, session):
            wait(lambda: "far 42" in shown(whole, session), "the engine's host is at work", 120)
            waiting = [whole.tiphys("run", "large", "--allow")[0]["session"] for _ in range(2)]
            wait(lambda: [queue_place(whole, one) for one in waiting] == [1, 2], "two wait in their order", 60)
            ssh.stop()
            wait(lambda: ("one", "lost") in states(whole, session), "the loss is told", 120)
            wait(lambda: state_of(whole, session) == ("waiting", "host"), "the agent waits; it gives up no step", 60)
            engine.carry_out("touch", "/workspace/go")  # only now: the program goes on while nobody can reach it
            assert [queue_place(whole, one) for one in waiting] == [1, 2]
            ssh.start()
            wait(lambda: "near 42" in shown(whole, session), "the way is back, and the machine at work", 120)
            ssh.stop()
            kill_daemon(Path.home() / ".tiphys-hosts" / session)
            ssh.start()
            wait(lambda: whole.trajectory(session).row.state in ("finished", "failed"), "the session ends", 240)
            assert whole.trajectory(session).row.state == "finished"
            wait(lambda: queue_place(whole, waiting[1]) == 1, "the queue goes on", 120)
            for one in waiting:
                whole.tiphys("stop", one)
            left = (session, *waiting)
            wait(lambda: not any(processes_on_machines(one) for one in left), "nothing is left there", 60)
            text = shown(whole, session)
            assert "ov2" in text, "the program that went on was found, with its terminal"
            assert "safe\r\nagain 48" in text and "back 54" in text, "files are there, and both hosts are worked on"
        for base in (Path.home() / ".tiphys-hosts" / one for one in (session, *waiting)):
            shutil.rmtree(base, ignore_errors=True)
