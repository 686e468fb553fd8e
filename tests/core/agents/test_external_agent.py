"""An agent that is not ours, through runner, gateway, server and replica: watched exactly, steered, killed, paused."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support.gateway_stand import KEY, SESSION, GatewayStand, standing
from support.sandboxes import need_engine
from support.scripted_upstream import ADVICE, Script
from support.wire import until

from core.domain.events import ExchangeMade, NoteAdded, SessionStateChanged, StepAdded, SummaryAdded
from core.domain.message import Message, decode_message
from core.domain.step import StepBody, decode_body
from core.domain.task import Budget, Limits, SnapshotRules
from core.domain.trajectory import Trajectory
from core.export.options import ExportOptions
from core.export.samples import SampleCollector
from core.llm.model import ToolSpec
from core.protocol.messages import Ack, Nak
from core.protocol.operations import BranchSession, ContinueSession

TEXT = f"Please {ADVICE}, not plain.txt."
DIALECTS = ("chat", "anthropic", "responses", "gemini")


@pytest.fixture
def script() -> Script:
    return Script(subagents=False)


@pytest.fixture
def stand(tmp_path: Path, script: Script) -> Iterator[GatewayStand]:
    yield from standing(tmp_path, script)


def judge(stand: GatewayStand) -> None:
    """The log is what the endpoint was sent, request by request, and the advice stands in each once or not at all."""
    sent = [r.raw for r in stand.upstream.received]
    logged = stand.requests_in_log()
    assert sorted(raw for _, raw in logged.values()) == sorted(sent)
    for fact, raw in logged.values():
        assert raw.decode().count(TEXT) == fact.guided <= 1


async def guided(stand: GatewayStand, client, after: int) -> None:
    await until(lambda: len(stand.upstream.main) >= after, seconds=30)
    await stand.guide(client, TEXT)


def agent_pid(stand: GatewayStand, word: bytes = b"scripted_agent.py") -> int:
    """A process of the session whose command has a word that ends so; 0 without one."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
            environ = path.with_name("environ").read_bytes()
        except OSError:
            continue
        if any(w.endswith(word) for w in words) and str(stand.folder).encode() in environ:
            return int(path.parent.name)
    return 0


def texts(stand: GatewayStand, trajectory: Trajectory, step: int) -> list[tuple[str, str, str]]:
    """Role, source and text of a step's context."""
    found = [(ref, decode_message(stand.blob(ref.hash))) for ref in trajectory.context(step)]
    return [(message.role, ref.source, message.content) for ref, message in found]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_becomes_steps_and_takes_advice(stand: GatewayStand, dialect: str) -> None:
    stand.upstream.script.pace_s = 0.1

    async def main() -> None:
        async with stand.session(stand.own(dialect)) as client:
            await guided(stand, client, 2)
            check_session(stand, await stand.over(client), dialect)

    asyncio.run(main())
    judge(stand)


def check_session(stand: GatewayStand, trajectory: Trajectory, dialect: str) -> None:
    assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
    heads = [s.head for s in trajectory.steps]
    assert [h.number for h in heads] == list(range(1, 8))
    assert [h.kind for h in heads] == ["shell"] * 6 + ["message"]
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()
    assert {Path(f.path).name for f in trajectory.files} >= {"guided.txt", "calc.py"}
    (guidance,) = trajectory.guidance.values()
    assert guidance.state == "answered" and guidance.delivered_step in (2, 3, 4)
    body = decode_body(stand.blob(trajectory.steps[2].body))
    assert [a.arguments["command"] for a in body.actions] == ["echo one", "echo two"]
    assert [o.output.text.split()[0] for o in body.observations] == ["one", "two"]
    assert trajectory.row.tokens and heads[0].usage.output_tokens == 20
    at = guidance.delivered_step
    context = texts(stand, trajectory, 7)
    assert context[0][0] == "system"
    sources = [source for _, source, _ in context]
    assert f"guidance:{guidance.id}" in sources and next(s for s in sources if s.startswith("step:")) == "step:1"
    place = sources.index(f"guidance:{guidance.id}")
    assert sources[place - 1] == f"step:{at - 1}" and sources[place + 1] == f"step:{at}"
    completions = [trajectory.steps[n].completion.hash for n in range(6)]
    answers = [ref.hash for ref in trajectory.context(7) if ref.role == "assistant"]
    if dialect != "gemini":  # which names its calls anew
        assert answers == completions, "what the model wrote is what later contexts hold"
    assert KEY not in (stand.folder / "runner.log").read_text()


def test_parts_die_at_any_moment_and_nothing_is_lost_or_said_twice(stand: GatewayStand) -> None:
    dice = random.Random(3)
    stand.upstream.script.pace_s = 0.15

    async def main() -> None:
        async with stand.session(stand.own("anthropic")) as client:
            await until(lambda: len(stand.upstream.main) >= 2, seconds=30)
            await stand.guide(client, TEXT)
            for _ in range(4):
                await asyncio.sleep(0.3 + dice.random() * 0.4)
                stand.kill_runner()
                stand.start_runner()
            trajectory = await stand.over(client)
            assert trajectory.row.state == "finished", stand.said()
            (guidance,) = trajectory.guidance.values()
            assert guidance.state == "answered"

    asyncio.run(main())
    logged = stand.requests_in_log()
    assert {raw for _, raw in logged.values()} >= {r.raw for r in stand.upstream.received if r.status == 200}
    first = next(n for n, r in enumerate(stand.upstream.received) if TEXT in r.text)
    assert [r.text.count(TEXT) for r in stand.upstream.received[first:]] == [1] * len(stand.upstream.received[first:])
    numbers = [f.head.number for f in stand.facts(StepAdded)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()


def test_a_killed_agent_is_taken_up_again(stand: GatewayStand) -> None:
    stand.upstream.script.pace_s = 0.2

    async def main() -> None:
        async with stand.session(stand.own("chat")) as client:
            await guided(stand, client, 2)
            await until(lambda: len(stand.upstream.main) >= 4, seconds=30)
            os.kill(agent_pid(stand), signal.SIGKILL)
            trajectory = await stand.over(client)
            assert trajectory.row.state == "finished", stand.said()

    asyncio.run(main())
    judge(stand)


def test_an_agent_that_dies_at_once_again_and_again_ends_the_session(stand: GatewayStand) -> None:
    async def main() -> None:
        settings = stand.own("chat")
        async with stand.session(type(settings)(**{**{f: getattr(settings, f) for f in settings.__struct_fields__},
                                                   "command": "echo no such luck; exit 7", "resume": ""})) as client:
            row = (await stand.over(client)).row
            assert (row.state, row.reason) == ("failed", "agent_died")

    asyncio.run(main())


def test_a_compaction_is_a_summary_and_the_advice_is_said_once_more(stand: GatewayStand) -> None:
    stand.upstream.script.pace_s = 0.1

    async def main() -> None:
        async with stand.session(stand.own("responses", "--compact-at 4")) as client:
            await guided(stand, client, 2)
            trajectory = await stand.over(client)
            assert trajectory.row.state == "finished", stand.said()
            (guidance,) = trajectory.guidance.values()
            assert guidance.repeated_steps == [5]
            (summary,) = stand.facts(SummaryAdded)
            assert isinstance(summary, SummaryAdded)
            assert (summary.first, summary.last) == (1, 4) and "calc.py was read" in summary.text
            assert summary.completion is not None and len(trajectory.summary_context(summary)) > 8
            assert [s for _, s, _ in texts(stand, trajectory, 5)][1:] == [
                f"summary:{summary.id}", f"guidance:{guidance.id}"]

    asyncio.run(main())
    judge(stand)
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()


@pytest.mark.parametrize("script", [Script(pace_s=0.3)])
def test_a_subagent_is_a_session_below_its_callers_step_and_is_steered_by_itself(stand: GatewayStand) -> None:
    """Its advice stands in its requests alone; a killed runner takes it up; it is paused by itself and never stopped
    by itself; it ends when its caller goes on."""
    async def main() -> None:
        async with stand.session(stand.own("chat", "--subagents")) as client:
            await until(lambda: bool(stand.subagents()), seconds=30)
            (row,) = stand.subagents()
            await stand.control(client, "pause", row.session)
            refused = await stand.control(client, "stop", row.session)
            assert isinstance(refused, Nak) and refused.code == "subagent"
            await until(lambda: stand.trajectory(row.session).row.state == "paused", seconds=30)
            await stand.guide(client, TEXT, row.session)
            stand.kill_runner()
            stand.start_runner()
            await stand.control(client, "resume", row.session)
            trajectory = await stand.over(client)
            assert trajectory.row.state == "finished", stand.said()

    asyncio.run(main())
    judge(stand)
    (row,) = stand.subagents()
    assert (row.caller, row.caller_step, row.state, row.title) == (SESSION, 4, "finished", "SUBTASK: say hello")
    called = stand.trajectory(row.session)
    assert [s.head.kind for s in called.steps] == ["shell", "message"]
    (guidance,) = called.guidance.values()
    assert (guidance.state, guidance.delivered_step) == ("answered", 2)
    assert not any(TEXT in r.text for r in stand.upstream.main)
    assert (stand.workspace / "plain.txt").exists()
    body = decode_body(stand.blob(stand.trajectory().steps[3].body))
    assert "Subtask done." in body.observations[0].output.text


def test_a_pause_holds_the_request_and_what_is_typed_meanwhile_is_bound_to_it(stand: GatewayStand) -> None:
    stand.upstream.script.pace_s = 0.1

    async def main() -> None:
        async with stand.session(stand.own("chat")) as client:
            await until(lambda: len(stand.upstream.main) >= 2, seconds=30)
            await stand.control(client, "pause")
            await until(lambda: stand.trajectory().row.state == "paused", seconds=30)
            asked = len(stand.upstream.received)
            await stand.guide(client, TEXT)
            await asyncio.sleep(0.5)
            assert len(stand.upstream.received) == asked
            await stand.control(client, "resume")
            (guidance,) = (await stand.over(client)).guidance.values()
            held = next(f for f, _ in stand.requests_in_log().values() if f.held_s)
            assert guidance.delivered_step == held.step == asked + 1

    asyncio.run(main())
    judge(stand)


def test_a_person_stops_it_and_a_limit_ends_it(stand: GatewayStand, tmp_path: Path) -> None:
    stand.upstream.script.pace_s = 0.2

    async def stopped() -> None:
        async with stand.session(stand.own("chat")) as client:
            await until(lambda: len(stand.upstream.main) >= 3, seconds=30)
            await stand.control(client, "stop")
            row = (await stand.over(client)).row
            assert (row.state, row.reason) == ("stopped", "stopped_by_person") and row.steps >= 2
            assert not agent_pid(stand)

    asyncio.run(stopped())
    for other in standing(tmp_path / "other", Script(subagents=False)):
        async def limited(other: GatewayStand = other) -> None:
            async with other.session(other.own("chat"), Limits(steps=3)) as client:
                row = (await other.over(client)).row
                assert (row.state, row.reason, row.steps) == ("finished", "limit_steps", 3), other.said()

        asyncio.run(limited())
        assert len(other.upstream.received) == 3


def test_a_session_that_ended_by_a_limit_goes_on_with_more_and_with_advice(stand: GatewayStand) -> None:
    async def main() -> None:
        async with stand.session(stand.own("chat"), Limits(steps=2)) as client:
            assert (await stand.over(client)).row.reason == "limit_steps"
            more = ContinueSession(more=Budget(steps=20), guidance="g1", text=TEXT)
            reply = await client.answer(await client.send(SESSION, more))
            assert isinstance(reply, Ack), reply
            stand.start_runner()
            trajectory = await stand.over(client)
            assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
            assert trajectory.guidance["g1"].delivered_step == 3

    asyncio.run(main())
    judge(stand)
    assert (stand.workspace / "guided.txt").exists()


@pytest.mark.parametrize("script", [Script(subagents=False, first="sleep 300")])
def test_an_interrupt_ends_what_the_agent_runs_and_not_the_agent(stand: GatewayStand) -> None:
    async def main() -> None:
        async with stand.session(stand.own("chat")) as client:
            await until(lambda: agent_pid(stand, b"300") > 0, seconds=30)
            await stand.control(client, "interrupt")
            trajectory = await stand.over(client)
            assert trajectory.row.state == "finished", stand.said()
            assert len(trajectory.steps) == 7 and trajectory.steps[0].head.title == "bash sleep 300"

    asyncio.run(main())


@pytest.mark.parametrize("script", [Script(subagents=False, fail_at=2)])
def test_an_answer_that_fails_is_logged_and_is_no_step(stand: GatewayStand) -> None:
    async def main() -> None:
        async with stand.session(stand.own("chat")) as client:
            assert (await stand.over(client)).row.state == "finished", stand.said()

    asyncio.run(main())
    judge(stand)
    failed, again = (f for f, _ in stand.requests_in_log().values() if f.step == 3)
    assert (failed.status, failed.relation, again.status, again.relation) == (503, "extends", 200, "retry")
    assert "Overloaded" in failed.problem and b"Overloaded" in stand.blob(failed.answer)
    assert not stand.facts(NoteAdded)


@pytest.mark.docker
def test_in_a_container_without_a_network_it_reaches_its_gateway_and_nothing_else(stand: GatewayStand) -> None:
    """The endpoint's own address is out of reach in there; the gateway's token opens nothing outside."""
    need_engine()
    port = stand.upstream.url.rpartition(":")[2]
    look = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null && echo reached > reached.txt"

    async def main() -> None:
        settings = stand.contained("chat", look)
        async with stand.session(settings) as client:
            trajectory = await stand.over(client, 100)
            assert trajectory.row.state == "finished", stand.said()
            assert "plain.txt" in {Path(f.path).name for f in trajectory.files}
            assert "reached.txt" not in {Path(f.path).name for f in trajectory.files}
            assert [s.head.kind for s in trajectory.steps] == ["shell"] * 6 + ["message"]

    asyncio.run(main())
    judge(stand)
    assert all(KEY not in text for text in (str(stand.facts(ExchangeMade)), stand.said()))


@pytest.mark.docker
def test_in_a_container_its_protocol_asks_a_person_and_its_runner_may_die_before_the_answer(stand: GatewayStand
                                                                                           ) -> None:
    need_engine()

    def asks() -> bool:
        return stand.trajectory().row.reason == "asks_for_leave"

    async def main() -> None:
        async with stand.session(stand.contained_by_protocol()) as client:
            await until(asks, seconds=60)
            assert "touch it" in stand.facts(SessionStateChanged)[-1].detail and not stand.upstream.received
            stand.kill_runner()
            stand.start_runner()
            await stand.control(client, "resume")
            trajectory = await stand.over(client, 100)
            assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
            assert [s.head.number for s in trajectory.steps] == [1]
            assert "touched.txt" in {Path(f.path).name for f in trajectory.files}

    asyncio.run(main())
    judge(stand)
    assert len(stand.upstream.received) == 1, "it was allowed once"
    assert len([note for note in stand.facts(NoteAdded) if "Ask first" in note.text]) == 1, "its plan is told once"


def test_its_session_exports_as_ours_do_with_the_advice_in_it(stand: GatewayStand) -> None:
    stand.upstream.script.pace_s = 0.1

    async def main() -> None:
        async with stand.session(stand.own("chat")) as client:
            await guided(stand, client, 2)
            await stand.over(client)

    asyncio.run(main())
    trajectory = stand.trajectory()
    samples = list(SampleCollector(trajectory, Payloads(stand), ExportOptions(unjudged="keep")).samples())
    (sample,) = samples
    assert [p.step for p in sample.parts if p.state == "kept"] == [1, 2, 3, 4, 5, 6, 7]
    assert not sample.rebuilt and [t.name for t in sample.tools] == ["bash"]
    assert sum(TEXT in p.message.content for p in sample.parts) == 1


class Payloads:
    """Payloads of a stand's log, as exports ask for them."""

    def __init__(self, stand: GatewayStand) -> None:
        self._stand = stand

    def message(self, name: str) -> Message:
        return decode_message(self._stand.blob(name))

    def body(self, name: str) -> StepBody:
        return decode_body(self._stand.blob(name))

    def tools(self, name: str) -> tuple[ToolSpec, ...]:
        return msgspec.json.decode(self._stand.blob(name), type=tuple[ToolSpec, ...]) if name else ()


def test_its_files_and_its_own_record_are_saved_and_it_goes_on_from_them_when_its_host_is_lost(stand: GatewayStand
                                                                                                ) -> None:
    stand.upstream.script.pace_s = 0.2
    rules = SnapshotRules(every_steps=1, every_min=0)

    async def main() -> None:
        async with stand.session(stand.own("chat", snapshots=rules), Limits(steps=3)) as client:
            await until(lambda: len(stand.upstream.main) >= 2, seconds=30)
            await stand.control(client, "pause")
            await until(lambda: stand.trajectory().row.state == "paused", seconds=30)
            await stand.control(client, "snapshot")
            await until(lambda: any(one.cause == "person" for one in stand.snapshots()), seconds=30)
            await stand.control(client, "resume")
            assert (await stand.over(client)).row.reason == "limit_steps"
            taken = stand.snapshots()
            assert {"steps", "person", "end"} <= {one.cause for one in taken} and taken[-1].step == 3
            assert not [one for one in taken if one.files == 0]
            shutil.rmtree(stand.workspace.parent)
            more = ContinueSession(more=Budget(steps=20), guidance="g1", text=TEXT)
            assert isinstance(await client.answer(await client.send(SESSION, more)), Ack)
            stand.start_runner()
            trajectory = await stand.over(client)
            assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
            assert trajectory.guidance["g1"].delivered_step == 4
            assert [one.head.number for one in trajectory.steps] == list(range(1, len(trajectory.steps) + 1))

    asyncio.run(main())
    judge(stand)
    record = (stand.workspace.parent / "home" / "history.json").read_text()
    assert "TASK-MAIN" in record and TEXT not in record, "the record of before was there again"
    assert (stand.workspace / "check.py").exists()


def test_a_branch_goes_on_from_the_agents_own_record_with_other_advice(stand: GatewayStand) -> None:
    stand.upstream.script.pace_s = 0.2
    agent = stand.own("chat", snapshots=SnapshotRules(every_steps=2, every_min=0))

    async def main() -> None:
        async with stand.session(agent) as client:
            assert (await stand.over(client)).row.state == "finished", stand.said()
            assert (stand.workspace / "plain.txt").exists()
            for step, ends, word in ((2, True, "cannot be given to it again"), (3, False, "one before is of step 2")):
                op = BranchSession(parent=SESSION, step=step, ends=ends)
                refused = await client.answer(await client.send(f"no-{step}", op))
                assert isinstance(refused, Nak) and refused.code == "external_agent" and word in refused.sentence
            op = BranchSession(parent=SESSION, step=2, guidance="g1", text=TEXT)
            assert isinstance(await client.answer(await client.send("other", op)), Ack)
            asked = len(stand.upstream.main)
            stand.start_runner("other")
            await until(lambda: stand.process is not None and stand.process.poll() is not None, seconds=60)
            other = stand.trajectory("other")
            assert (other.row.state, other.row.reason) == ("finished", "finished"), stand.said()
            numbers = [f.head.number for f in stand.facts(StepAdded, "other")]
            assert numbers == list(range(3, 3 + len(numbers))) and len(stand.upstream.main) - asked == len(numbers)
            assert other.guidance["g1"].delivered_step == 3
            first = stand.upstream.main[asked]
            assert TEXT in first.text and "TASK-MAIN" in first.text, "it goes on from what it knows"

    asyncio.run(main())
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()
    assert (stand.home / "sessions" / SESSION / "local/main/workspace/plain.txt").exists(), "the other is as it was"
