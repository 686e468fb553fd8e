"""The command family, with real shells."""

from __future__ import annotations

import asyncio

import pytest
from support.sandboxes import Acting, Box, acting

from core.domain.events import TerminalOutput
from core.domain.step import Observation
from core.domain.task import AgentSettings


def kind(observation: Observation) -> str:
    return observation.error.kind if observation.error else ""


def test_a_command_has_its_exit_code_output_and_range(place: Box) -> None:
    async def work(at: Acting) -> None:
        good = await at.do("run_command", command="echo one\nprintf '\\r10%%\\r99%%\\n'; cat <<X\ntwo\nX")
        assert (good.status, good.exit_code, good.error) == ("finished", 0, None)
        assert good.output.text == "one\n99%\ntwo"
        assert good.output.terminal == "main/main" and good.output.end > good.output.start
        bad = await at.do("run_command", command="ls nothing-here", session_id="other")
        assert bad.is_error and bad.exit_code == 2 and kind(bad) == "exit_code"
        assert "nothing-here" in bad.output.text and bad.output.terminal == "main/other"
        assert bad.started_at is not None and bad.ended_at is not None and bad.ended_at >= bad.started_at
        await at.runner.flush()
        raw = b"".join(f.data or at.sink.blobs[f.blob] for f in at.sink.of(TerminalOutput) if f.terminal == "main")
        assert b"two" in raw[good.output.start : good.output.end]
        assert at.runner.offsets()["main/main"] == len(raw)

    acting(place, work)


def test_long_output_is_cut_and_kept_whole_as_a_blob(place: Box) -> None:
    async def work(at: Acting) -> None:
        seen = await at.do("run_command", command="seq 1 5000")
        output = seen.output
        assert output.truncated and len(output.text) < 2100 and output.text.startswith("1\n2\n")
        assert output.text.endswith("\n4999\n5000") and output.total_chars == len("\n".join(map(str, range(1, 5001))))
        assert at.sink.blobs[output.blob].decode().split("\n") == [str(n) for n in range(1, 5001)]
        flood = await at.do("run_command", command="head -c 9000000 /dev/zero | tr '\\0' x; echo; echo end; (exit 3)")
        assert flood.exit_code == 3 and flood.output.text.endswith("\nend") and flood.output.total_chars >= 9_000_000

    acting(place, work, settings=AgentSettings(output_chars=2000))


def test_a_job_goes_on_and_its_late_failure_is_laid_to_its_own_call(place: Box) -> None:
    async def work(at: Acting) -> None:
        begun = await at.do("run_command", command="echo part; read x; echo late; (exit 9)", wait_for_completion=False)
        assert begun.status == "running" and begun.job and begun.error is None and begun.output.text == "part"
        busy = await at.do("run_command", command="echo no")
        assert (busy.status, kind(busy)) == ("refused", "busy")
        other = await at.do("run_command", command="echo yes", session_id="second")
        assert other.exit_code == 0 and other.job != begun.job
        answer = await at.do("input_in_session", session_id="main", input_text="go")
        assert "late" in answer.output.text and answer.error is None
        row = answer.data["finished_jobs"][0]
        assert (row["job"], row["exit_code"], row["step"], row["call_id"]) == (begun.job, 9, 1, "call-1")
        again = await at.do("get_session_output", session_id="main")
        assert "finished_jobs" not in again.data and again.error is None and "late" in again.output.text

    acting(place, work)


def test_sleep_ends_when_a_job_does_and_carries_its_failure(place: Box) -> None:
    async def work(at: Acting) -> None:
        begun = await at.do("run_command", command="sleep 1.2; (exit 4)", timeout=0.1)
        assert begun.status == "running"
        woke = await at.do("sleep", sleep_time=60)
        assert woke.data["reason"] == "job" and woke.data["slept_s"] < 60
        assert (woke.job, woke.exit_code, kind(woke)) == (begun.job, 4, "exit_code")
        assert "step 1" in woke.output.text
        after = await at.do("sleep", sleep_time=0.05)
        assert after.data["reason"] == "time" and after.error is None and not after.job

    acting(place, work)


def test_looking_at_sessions(place: Box) -> None:
    async def work(at: Acting) -> None:
        assert "open" in (await at.do("create_session", session_id="a")).output.text
        assert "existed" in (await at.do("create_session", session_id="a")).output.text
        made = await at.do("create_session")
        assert len(made.data["session_id"]) == 8
        await at.do("run_command", session_id="a", command="for i in 1 2 3 4 5; do echo row $i; done")
        tail = await at.do("get_session_output", session_id="a", start_lines=3, end_lines=1)
        assert tail.output.text == "row 4\nrow 5"
        assert "row 1" in (await at.do("get_session_output", session_id="a", since_timestamp=0)).output.text
        assert "row 5" in (await at.do("get_session_recent_output", session_id="a", seconds=60)).output.text
        await at.do("clear_session_buffer", session_id="a")
        assert "row" not in (await at.do("get_session_output", session_id="a")).output.text
        await at.do("run_command", session_id="a", command="sleep 60", wait_for_completion=False)
        status = await at.do("get_session_status", session_id="a")
        assert status.data["status"]["completed"] is False and status.data["status"]["children_count"] == 1
        assert (await at.do("check_session_idle", session_id="a")).data["is_idle"] is False
        sessions = await at.do("list_sessions")
        assert sessions.data["sessions"]["main:a"]["is_idle"] is False
        killed = await at.do("kill_session_processes", session_id="a")
        assert [p["cmd"] for p in killed.data["killed_processes"]] == ["sleep 60"]
        assert (await at.do("check_session_idle", session_id="a")).data["is_idle"] is True
        assert (await at.do("close_session", session_id="a")).data["num_closed_sessions"] == 1
        gone = await at.do("get_session_output", session_id="a")
        assert (gone.status, kind(gone)) == ("failed", "not_found")
        assert (await at.do("close_all_sessions")).data["num_closed_sessions"] == 1
        assert (await at.do("list_sessions")).output.text == "No session is open."

    acting(place, work)


def test_input_goes_only_to_a_program_that_runs(place: Box) -> None:
    async def work(at: Acting) -> None:
        await at.do("create_session", session_id="main")
        idle = await at.do("input_in_session", session_id="main", input_text="rm x")
        assert (idle.status, kind(idle)) == ("refused", "not_waiting")
        await at.do("run_command", command="cat", timeout=0.2)
        assert "hello" in (await at.do("input_in_session", session_id="main", input_text="hello")).output.text
        ended = await at.do("input_in_session", session_id="main", input_text="\u0004")
        assert ended.data["is_busy"] is False
        assert (await at.do("run_command", command="echo clean")).output.text == "clean"

    acting(place, work)


@pytest.mark.parametrize("text", ["sleep 60", "trap '' INT; while :; do sleep 0.2; done"])
def test_a_person_can_interrupt_any_command(place: Box, text: str) -> None:
    async def work(at: Acting) -> None:
        async def interrupt() -> None:
            while (await at.runner._hosts["main"].run(["test", "-e", "begun"])).exit_code:
                await asyncio.sleep(0.05)
            assert await at.runner.interrupt()

        command = f"echo begun; : > begun; {text}"
        seen, _ = await asyncio.gather(at.do("run_command", command=command, timeout=100), interrupt())
        assert (seen.status, kind(seen)) == ("killed", "interrupted")
        assert seen.exit_code in (130, 137) and "begun" in seen.output.text
        assert (await at.do("run_command", command="echo free")).output.text.endswith("free")
        assert not await at.runner.interrupt()

    acting(place, work)


def test_an_unknown_host_is_named_with_the_known_ones(place: Box) -> None:
    async def work(at: Acting) -> None:
        lost = await at.do("run_command", command="true", computer_ip="mian")
        assert kind(lost) == "no_host" and lost.error is not None and "Did you mean main" in lost.error.message

    acting(place, work)
