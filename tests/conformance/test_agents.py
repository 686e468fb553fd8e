"""Real agents, from their packages and without a network, through the product's own gateway, runner, server and log.

Each reads, edits and tests; a person's advice changes what it does; parts are killed, it compacts, it is paused.
Afterwards the log is what the endpoint was sent, request by request, and each advice stands in each exactly once.
`make agents` installs them and runs this; an agent that is not installed is passed over.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.agents import AGENTS, Agent, command_that_compacts
from support.gateway_stand import SESSION, GatewayStand, standing
from support.scripted_upstream import ADVICE, TODOS, Received, Script
from support.wire import until

from core.domain.events import ExchangeMade, SummaryAdded
from core.domain.trajectory import Trajectory
from core.gateway.recipe import recipe_named

PAUSE_S = float(os.environ.get("TIPHYS_PAUSE_S", "32"))
TEXT = f"Please {ADVICE}, not plain.txt."

here = pytest.mark.parametrize("agent", [
    pytest.param(a, id=a.name, marks=[] if a.is_here else pytest.mark.skip(reason="not installed")) for a in AGENTS])
pytestmark = pytest.mark.timeout(900)


def stand_for(agent: Agent, folder: Path, script: Script | None = None) -> Iterator[GatewayStand]:
    return standing(folder, script, path=str(agent.path))


def judge(stand: GatewayStand, trajectory: Trajectory, *, finished: bool = True) -> None:
    """What holds after every run."""
    sent = [r.raw for r in stand.upstream.received]
    logged = stand.requests_in_log()
    assert sorted(raw for _, raw in logged.values()) == sorted(sent), "the log is not what the endpoint was sent"
    for fact, raw in logged.values():
        text = raw.decode("utf-8", "replace")
        assert text.count(TEXT) == fact.guided <= 1, f"exchange {fact.number} does not hold the advice once"
    steps = [s.head.number for s in trajectory.steps]
    assert steps == list(range(1, len(steps) + 1))
    if finished:
        assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
        names = {path.name for path in stand.workspace.iterdir()}
        assert "guided.txt" in names and "plain.txt" not in names
        assert "a + b" in (stand.workspace / "calc.py").read_text()
        changed = {Path(f.path).name for f in trajectory.files}
        assert {"guided.txt", "calc.py"} <= changed
    for guidance in trajectory.guidance.values():
        assert guidance.state == "answered"


async def guided(stand: GatewayStand, client, after: int) -> None:
    await until(lambda: len(stand.upstream.main) >= after or gone(stand), seconds=300)
    await stand.guide(client, TEXT)


def gone(stand: GatewayStand) -> bool:
    return stand.process is None or stand.process.poll() is not None


def agent_pids(stand: GatewayStand) -> list[int]:
    """The agent's own processes: those below the terminal's shell that have the session's variables."""
    found = []
    for status in Path("/proc").glob("[0-9]*/environ"):
        try:
            environ = status.read_bytes()
        except OSError:
            continue
        if b"TIPHYS_TASK=" in environ and str(stand.folder).encode() in environ:
            found.append(int(status.parent.name))
    return found


@here
def test_it_works_and_a_persons_advice_changes_what_it_does(agent: Agent, tmp_path: Path) -> None:
    for stand in stand_for(agent, tmp_path):
        async def main(stand: GatewayStand = stand) -> None:
            async with stand.session(stand.settings(agent.name, base=agent.base)) as client:
                await guided(stand, client, 2)
                trajectory = await stand.over(client, 200)
                judge(stand, trajectory)
                if agent.has_subagents:
                    judge_subagent(stand, trajectory, agent)
                kinds = {s.head.kind for s in trajectory.steps}
                assert "shell" in kinds and "tool" not in kinds

        asyncio.run(main())
        judge_own_log(stand, agent)


def judge_own_log(stand: GatewayStand, agent: Agent) -> None:
    """The record that it wrote itself, read by our importer, says what the session says (docs/agents.md)."""
    if not recipe_named(agent.name).own_log:
        return
    command = [sys.executable, "-m", "core.cli", "--home", str(stand.home), "own-log", SESSION, "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    main, *subagents = json.loads(told.stdout)["held"]
    if agent.name == "swe-agent":  # it refuses two calls at once as they stand, and notes nothing of them
        assert {one["step"] for one in main["differences"] if one["what"] != "unsent"} == {3}, told.stdout
        return
    assert told.returncode == 0, told.stdout + told.stderr
    assert main["steps"] >= 6 and main["differences"] is not None
    assert len(subagents) == agent.has_subagents, told.stdout
    assert all(one["differences"] is not None for one in subagents)


def judge_subagent(stand: GatewayStand, trajectory: Trajectory, agent: Agent) -> None:
    """It is a session of its own, below the step that called it, and what it hands in stands in the caller's next
    request, or in a later one where that does not wait."""
    (row,) = stand.subagents()
    assert (row.caller, row.state, row.reason) == (SESSION, "finished", "finished"), row
    called = stand.trajectory(row.session)
    caller = next(s.head for s in trajectory.steps if s.head.number == row.caller_step)
    assert caller.kind == "subagent" and called.steps[0].head.started_at >= caller.started_at
    main = [r.text for r in stand.upstream.main]
    assert "Subtask done." in main[-1]
    handed_in = next(at for at, text in enumerate(main) if "Subtask done." in text)
    assert handed_in == caller.number if agent.waits else handed_in >= caller.number
    assert all("Subtask done." in text for text in main[handed_in:])
    assert called.steps[0].head.kind == "shell" and len(called.steps) >= 2
    assert "echo from the subagent" in called.steps[0].head.title
    assert not any(fact.line.startswith("subagent") for fact in stand.facts(ExchangeMade))


@pytest.mark.parametrize("agent", [
    pytest.param(a, id=a.name, marks=[] if a.is_here else pytest.mark.skip(reason="not installed"))
    for a in AGENTS if recipe_named(a.name).acp])
def test_spoken_to_by_its_protocol_it_asks_a_person_and_its_commands_and_plan_are_seen(agent: Agent, tmp_path: Path
                                                                                       ) -> None:
    """In a sandbox, beside the model endpoint; its runner is killed while it waits for leave."""
    for stand in stand_for(agent, tmp_path, Script(subagents=False)):
        stand.upstream.script.writes = str(stand.workspace / "own.txt")

        async def main(stand: GatewayStand = stand) -> None:
            settings = stand.settings(agent.name, base=agent.base, acp="desktop")
            async with stand.session(settings) as client:
                allowed = 0
                while not gone(stand):
                    if stand.trajectory().row.reason == "asks_for_leave":
                        allowed += 1
                        if allowed == 1:
                            await stand.guide(client, TEXT)  # which refuses it, and stands in the next request
                        elif allowed == 2:
                            stand.kill_runner()
                            stand.start_runner()
                            await stand.control(client, "resume")
                        else:
                            await stand.control(client, "resume")
                        await until(lambda: gone(stand) or stand.trajectory().row.reason != "asks_for_leave",
                                    seconds=60)
                    await asyncio.sleep(0.2)
                judge_protocol(stand, await stand.over(client, 200))
                assert allowed >= 3

        asyncio.run(main())


@pytest.mark.parametrize("agent", [
    pytest.param(a, id=a.name, marks=[] if a.is_here else pytest.mark.skip(reason="not installed"))
    for a in AGENTS if recipe_named(a.name).acp])
def test_killed_with_its_runner_it_is_spoken_to_again_in_the_conversation_of_before(agent: Agent, tmp_path: Path
                                                                                    ) -> None:
    """`session/load`: what it said and did before stands in its next request once, and no step is there twice."""
    for stand in stand_for(agent, tmp_path, Script(subagents=False, pace_s=0.3)):
        async def main(stand: GatewayStand = stand) -> None:
            async with stand.session(stand.settings(agent.name, base=agent.base, acp="allow")) as client:
                await guided(stand, client, 2)
                await until(lambda: stand.trajectory().row.steps >= 3 or gone(stand), seconds=120)
                stand.kill_runner()  # the log has its fourth request, whose answer may be on its way
                for pid in agent_pids(stand):
                    os.kill(pid, signal.SIGKILL)
                before = len(stand.upstream.main)
                stand.start_runner()
                trajectory = await stand.over(client, 240)
                judge_loaded(stand, trajectory, before, agent)

        asyncio.run(main())


def judge_loaded(stand: GatewayStand, trajectory: Trajectory, before: int, agent: Agent) -> None:
    """The conversation went on, and holds each of its words once; where its own record was lost, what the session knows
    of it stands there instead, and the log says so."""
    judge_killed(stand, trajectory)
    last, first = stand.upstream.main[before - 1].text, stand.upstream.main[before].text
    assert first.count("TASK-MAIN") == last.count("TASK-MAIN"), "the task was given anew"
    if "you have no record of it" in first:
        assert agent.writes_late, "it was told what it did, though its own record holds that"
        assert "Step 1." in first and "cat calc.py" in first
        notes = [note.text for at in range(len(trajectory.steps)) for note in trajectory.steps.opinion(at).notes]
        assert any("before it had written its conversation down" in text for text in notes), notes
        assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()
        return
    assert "Go on." in first and "Go on." not in last
    new = [fact for fact, raw in stand.requests_in_log().values() if raw in [r.raw for r in stand.upstream.main]]
    assert not [fact.number for fact in new if fact.relation == "compacted"], [f.relation for f in new]
    numbers = [step.head.number for step in trajectory.steps]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 6
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()


def judge_protocol(stand: GatewayStand, trajectory: Trajectory) -> None:
    """What the protocol told is in the log, and the endpoint was sent what the log says."""
    judge(stand, trajectory, finished=False)
    assert (trajectory.row.state, trajectory.row.reason) == ("finished", "finished"), stand.said()
    assert (stand.workspace / "guided.txt").exists() and not (stand.workspace / "plain.txt").exists()
    assert {"own.txt", "guided.txt"} <= {Path(f.path).name for f in trajectory.files}
    assert "main/commands" in trajectory.terminals
    kinds = {s.head.kind for s in trajectory.steps}
    assert "todo" in kinds or not any(f'"{name}"' in stand.upstream.main[0].text for name in TODOS), kinds
    notes = [note.text for at in range(len(trajectory.steps)) for note in trajectory.steps.opinion(at).notes]
    assert any("Answer: reject." in text for text in notes) and any("Answer: allow." in text for text in notes)


class Gate:
    """Has the endpoint hold its answer to a request of the main line, so that who asks can be killed meanwhile."""

    def __init__(self) -> None:
        self._armed, self._held, self._open = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, got: Received) -> None:
        if got.is_main and self._armed.is_set():
            self._armed.clear()
            self._held.set()
            self._open.wait(120)

    async def held(self, stand: GatewayStand) -> None:
        """Wait until the next request is at the endpoint, whose answer is held from now on."""
        self._held.clear()
        self._open.clear()
        self._armed.set()
        await until(lambda: self._held.is_set() or gone(stand), seconds=120)
        assert self._held.is_set(), f"no exchange was there to be cut: {stand.said()}"

    def release(self) -> None:
        """The endpoint answers."""
        self._open.set()


@here
def test_server_runner_and_agent_are_killed(agent: Agent, tmp_path: Path) -> None:
    """Each in the middle of an exchange. The server first, with advice on its way; it stays away while the agent goes
    on, and while its runner dies, and the gateway with it; last the agent itself, which is taken up."""
    gate = Gate()
    for stand in stand_for(agent, tmp_path, Script(pace_s=0.3, fail_at=3, before=gate)):
        async def main(stand: GatewayStand = stand) -> None:
            async with stand.session(stand.settings(agent.name, base=agent.base), apart=True) as client:
                assert stand.server is not None
                await guided(stand, client, 1)
                await gate.held(stand)
                stand.server.kill()
                gate.release()
                await gate.held(stand)
                stand.kill_runner()
                gate.release()
                await asyncio.sleep(1.0)
                stand.start_runner()
                stand.server.start()
                await gate.held(stand)
                asked = len(stand.upstream.main)
                killed = agent_pids(stand)
                assert killed, "the agent had ended"
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
                gate.release()
                judge_killed(stand, await stand.over(client, 240))
                assert len(stand.upstream.main) > asked, "it was not taken up"

        asyncio.run(main())


def judge_killed(stand: GatewayStand, trajectory: Trajectory) -> None:
    """As `judge`, but for requests that nobody waited for: the runner died before it told of them."""
    logged = [raw for _, raw in stand.requests_in_log().values()]
    sent = [r.raw for r in stand.upstream.received]
    lacking = [raw for raw in sent if raw not in logged]
    assert not lacking, f"{len(lacking)} requests of {len(sent)} are not in the log"
    assert all(r.text.count(TEXT) <= 1 for r in stand.upstream.received)
    first = next(n for n, r in enumerate(stand.upstream.received) if TEXT in r.text)
    after = [r for r in stand.upstream.received[first:] if r.is_main]
    assert all(r.text.count(TEXT) == 1 for r in after), [r.text.count(TEXT) for r in stand.upstream.received]
    assert trajectory.row.state == "finished", (trajectory.row.reason, stand.said())
    assert not (stand.workspace / "plain.txt").exists()


@here
def test_a_compaction_does_not_lose_the_advice(agent: Agent, tmp_path: Path) -> None:
    if not agent.compacts:
        pytest.skip("not provoked in this agent's main line")
    for stand in stand_for(agent, tmp_path, Script(big_at=4, big=199_000, subagents=False)):
        async def main(stand: GatewayStand = stand) -> None:
            settings = stand.settings(agent.name, base=agent.base, command=command_that_compacts(agent))
            async with stand.session(settings) as client:
                await guided(stand, client, 2)
                trajectory = await stand.over(client, 240)
                judge(stand, trajectory)
                assert stand.facts(SummaryAdded), [f.relation for f, _ in stand.requests_in_log().values()]
                compacted = next(f for f, _ in stand.requests_in_log().values() if f.relation == "compacted")
                (guidance,) = trajectory.guidance.values()
                assert guidance.repeated_steps in ([], [compacted.step])
                after = [r.text.count(TEXT) for r in stand.upstream.main[3:]]
                assert set(after) == {1}, after

        asyncio.run(main())


@here
def test_a_pause_loses_no_agent_and_what_is_typed_meanwhile_is_bound_when_it_ends(agent: Agent, tmp_path: Path) -> None:
    for stand in stand_for(agent, tmp_path):
        async def main(stand: GatewayStand = stand) -> None:
            async with stand.session(stand.settings(agent.name, base=agent.base)) as client:
                await until(lambda: len(stand.upstream.main) >= 2 or gone(stand), seconds=120)
                await stand.control(client, "pause")
                await until(lambda: stand.trajectory().row.state == "paused", seconds=60)
                asked = len(stand.upstream.received)
                await asyncio.sleep(PAUSE_S / 2)
                await stand.guide(client, TEXT)
                await asyncio.sleep(PAUSE_S / 2)
                assert len(stand.upstream.received) == asked
                await stand.control(client, "resume")
                trajectory = await stand.over(client, 200)
                judge(stand, trajectory)
                (guidance,) = trajectory.guidance.values()
                held = [f.step for f, _ in stand.requests_in_log().values() if f.held_s > PAUSE_S / 2]
                assert guidance.delivered_step in held

        asyncio.run(main())
