"""Control actions; and what a restarted runner finds: jobs, streams, an action that had begun."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path

import docker
import pytest
from support.sandboxes import Acting, Box, Recorder, acting, box

from core.actions.registry import parse_call
from core.actions.runner import RunnerState
from core.aio import TaskScope
from core.domain.events import TerminalOutput
from core.domain.message import ToolCall


def test_think_eval_finish_and_older_names(place: Box) -> None:
    async def work(at: Acting) -> None:
        assert (await at.do("think", thought="hm")).status == "finished"
        seen = await at.do("eval")
        assert (seen.call_id, seen.output.text) == ("call-2", "Score: 50")
        assert (await at.do("finish")).status == "finished"
        assert at.sink.calls == ["evaluate 2", "finish 3"]
        hint = await at.do("view_hint")
        assert hint.error is not None and hint.error.kind == "no_hint"
        await at.do("create_file", filename="hint.md", content="look left")
        assert (await at.do("view_hint")).output.text == "look left"
        for tool in ("null", "no_such_tool"):
            seen = await at.do(tool)
            assert (seen.status, seen.error and seen.error.kind) == ("refused", "malformed")
        assert (await at.do("run_command")).status == "refused"

    acting(place, work)


def test_sleep_is_woken_by_advice_and_by_an_interrupt(place: Box) -> None:
    async def work(at: Acting) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, at.sink.woken.set)
        seen = await at.do("sleep", sleep_time=60)
        assert seen.data["reason"] == "guidance" and seen.data["slept_s"] < 60 and not seen.is_error
        at.sink.woken.clear()

        async def interrupt() -> None:
            while not await at.runner.interrupt():
                await asyncio.sleep(0.02)

        seen, _ = await asyncio.gather(at.do("sleep", sleep_time=60), interrupt())
        assert (seen.status, seen.error and seen.error.kind) == ("killed", "interrupted")
        assert (await at.do("sleep", sleep_time=-5)).data["reason"] == "time"

    acting(place, work)


def joined(sinks: list[Recorder]) -> bytes:
    facts = [(f, s) for s in sinks for f in s.of(TerminalOutput)]
    assert [f.offset for f, _ in facts] == [sum(f.size for f, _ in facts[:n]) for n in range(len(facts))]
    return b"".join(f.data or s.blobs[f.blob] for f, s in facts)


def test_a_restarted_runner_misses_no_byte_and_no_end_of_a_job(place: Box) -> None:
    states: list[RunnerState] = []

    async def first(at: Acting) -> None:
        text = "for i in $(seq 60); do echo tick $i; sleep 0.02; done; (exit 5)"
        seen = await at.do("run_command", command=text, wait_for_completion=False)
        assert seen.status == "running"
        await at.do("create_file", filename="f", content="x\n")
        states.append(at.runner.state())

    async def second(at: Acting) -> None:
        at.step = 10
        woke = await at.do("sleep", sleep_time=30)
        assert (woke.exit_code, woke.error and woke.error.kind, woke.data["finished_jobs"][0]["step"]) == \
            (5, "exit_code", 1)
        assert (await at.do("get_file_info")).data["total_lines"] == 1
        await at.runner.flush()
        states.append(at.runner.state())

    sinks = [acting(place, first)]
    journalled = [f for f in sinks[0].of(TerminalOutput) if f.offset + f.size <= states[0].offsets["main/main"]]
    sinks[0].facts = list(journalled)
    sinks.append(acting(place, second, states[0]))
    stream = joined(sinks)
    assert all(b"tick %d\r\n" % n in stream for n in range(1, 61))
    assert states[1].jobs == () and states[1].offsets["main/main"] == len(stream)


def test_a_command_that_had_begun_is_found_and_not_run_again(place: Box) -> None:
    text = "echo once >> log; read x; (exit 3)"
    call = ToolCall(id="c-1", name="run_command", arguments=json.dumps({"command": text}))
    lost = ToolCall(id="c-2", name="create_file", arguments='{"filename": "x"}')

    async def begin(at: Acting) -> None:
        async with TaskScope("dying") as scope:
            scope.spawn(at.runner.run(parse_call(call), 7), name="run")
            while not (await at.runner._hosts["main"].terminals.jobs()):
                await asyncio.sleep(0.02)

    async def again(at: Acting) -> None:
        seen = await at.runner.recover(parse_call(call), 7)
        assert (seen.status, seen.call_id) == ("running", "c-1") and seen.job
        await at.runner._hosts["main"].terminals.write("main", b"\n")
        woke = await at.do("sleep", sleep_time=20)
        assert (woke.job, woke.exit_code) == (seen.job, 3)
        ended = await at.runner.recover(parse_call(call), 7)
        assert (ended.status, ended.exit_code) == ("finished", 3)
        assert (await at.do("run_command", command="cat log")).output.text == "once"
        unknown = await at.runner.recover(parse_call(lost), 8)
        assert (unknown.status, unknown.error and unknown.error.kind) == ("killed", "interrupted")

    acting(place, begin)
    acting(place, again)


@pytest.mark.docker
def test_a_killed_container_is_an_observation_and_the_next_action_works(tmp_path: Path) -> None:
    async def work(at: Acting) -> None:
        await at.do("run_command", command="echo kept > kept")
        begun = await at.do("run_command", command="sleep 100", wait_for_completion=False)
        client = docker.from_env()
        client.containers.get(at.runner._hosts["main"].name).kill()  # type: ignore[attr-defined]
        client.close()
        seen = await at.do("open_file", path="kept")
        assert (seen.status, seen.error and seen.error.kind) == ("failed", "unavailable")
        assert seen.error is not None and "started again" in seen.error.message
        after = await at.do("run_command", command="cat kept; pwd; id -u")
        assert after.exit_code == 0, after.error
        assert after.output.text.startswith("kept\n/workspace\n")
        assert after.data["finished_jobs"][0]["job"] == begun.job
        assert after.output.start >= at.runner.state().offsets.get("main/main", 0) - 10_000

    with box("docker", tmp_path) as made:
        sink = acting(made, work)
        facts = sink.of(TerminalOutput)
        assert [f.offset for f in facts] == sorted(f.offset for f in facts)
        assert all(b.offset >= a.offset + a.size for a, b in itertools.pairwise(facts))
