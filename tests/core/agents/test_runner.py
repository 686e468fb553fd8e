"""The runner as a real process, with a real server and the unconfined local sandbox: killed, cut off, guided."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.wire import account, admin_token, raw_peer, running_client, serving, until

from core.client.client import Client
from core.domain.context import MessageRef
from core.domain.events import ControlAsked, GuidanceDelivered, ScoreGiven, StepAdded, TerminalOutput, blobs_of
from core.domain.step import decode_body
from core.domain.task import AgentSettings, Host, ModelSettings, Task
from core.domain.trajectory import Trajectory, fold
from core.llm.scripted import PACE
from core.protocol.messages import Lease
from core.protocol.operations import ContinueSession, Control, CreateSession, Guide
from core.sandbox.local import LocalSandbox
from core.server.serve import Server
from core.store import blobs, log
from core.store.backup import back_up
from core.store.sqlite import connect
from core.tasks.catalogue import Catalogue

SESSION = "s1"
STEPS = 40
SCRIPT = "\n".join([
    "pace_s = 0.15",
    *(f'[[turn]]\nthought = "step {n}"\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n'
      f'command = "echo {n} >> ledger; sleep 0.1; echo said {n}"\nsession_id = "main"\nwait_for_completion = true'
      for n in range(STEPS)),
    '[[turn]]\nthought = "end"\n[[turn.calls]]\ntool = "finish"',
])


class Stand:
    """A server's home, and the runner processes of one session in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.folder = self.home / "sessions" / SESSION
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, url: str) -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        token = self.folder / "token"
        if not token.exists():
            token.write_text(account(self.home, f"agent:{SESSION}", f"agent:{SESSION}"))
        argv = [sys.executable, "-m", "core.cli", "agent", "--session", SESSION, "--url", url, "--token-file",
                str(token), "--folder", str(self.folder)]
        env = {**os.environ, "TIPHYS_HOME": str(self.home)}
        with (self.folder / "runner.log").open("ab") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=env)
        return self.process

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def trajectory(self) -> Trajectory:
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return fold(SESSION, log.read_all(conn, SESSION))

    def facts(self, kind: type) -> list[object]:
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return [p.event.fact for p in log.read_all(conn, SESSION) if isinstance(p.event.fact, kind)]

    def check_whole(self) -> None:
        """The log is a whole session whose every payload is held."""
        steps = self.facts(StepAdded)
        assert [s.head.number for s in steps] == list(range(1, len(steps) + 1))
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            names = {name for p in log.read_all(conn, SESSION) for name in blobs_of(p.event.fact)}
            assert names and blobs.missing(conn, sorted(names)) == []
        streams: dict[str, int] = {}
        for out in self.facts(TerminalOutput):
            key = f"{out.host}/{out.terminal}"
            assert out.offset == streams.get(key, 0), "a terminal's stream has a gap or a repeat"
            streams[key] = out.offset + out.size


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    one = Stand(tmp_path)
    one.home.mkdir()
    yield one
    one.kill()
    if (one.folder / "local").exists():
        asyncio.run(LocalSandbox(SESSION, Host(name="main"), one.folder).stop())


def settings(script: str) -> AgentSettings:
    return AgentSettings(model=ModelSettings(script=script), sandbox="local", confirmed_unconfined=True)


@contextlib.asynccontextmanager
async def session(stand: Stand, tmp_path: Path, server: Server, script: str):
    """A client at a session that was just made."""
    async with running_client(tmp_path / "replica.db", server.url, admin_token(stand.home), SESSION) as client:
        task = Task(id="t", title="T", description="Do it.", hosts=(Host(name="main"),))
        await client.answer(await client.send(SESSION, CreateSession(task=task, agent=settings(script))))
        yield client


def row(client: Client) -> object:
    return next((r for r in client.replica.rows() if r.session == SESSION), None)


def state(stand: Stand) -> str:
    return stand.trajectory().row.state


def test_a_session_of_the_catalogue_runs_to_its_score(stand: Stand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                      ) -> None:
    monkeypatch.setenv(PACE, "0.05")

    async def main() -> None:
        async with serving(stand.home) as server:
            entry = Catalogue.of().find("sum-numbers")
            async with running_client(tmp_path / "r.db", server.url, admin_token(stand.home), SESSION) as client:
                agent = AgentSettings(model=entry.agent.model, sandbox="local", confirmed_unconfined=True)
                await client.answer(await client.send(SESSION, CreateSession(task="sum-numbers", agent=agent)))
                process = stand.start(server.url)
                await until(lambda: process.poll() is not None, seconds=40)
                await until(lambda: client.replica.head(SESSION) == stand.trajectory().seq)
                assert process.returncode == 0, (stand.folder / "runner.log").read_text()

    asyncio.run(main())
    stand.check_whole()
    assert [s.total for s in stand.facts(ScoreGiven)] == [100.0, 100.0]
    trajectory = stand.trajectory()
    assert (trajectory.row.state, trajectory.row.reason, trajectory.row.model) == ("finished", "finished", "scripted")
    assert trajectory.steps[1].terminals["main/main"] > 0
    assert isinstance(trajectory.context(2)[-1], MessageRef)


def test_killed_again_and_again_it_neither_repeats_nor_loses_anything(stand: Stand, tmp_path: Path) -> None:
    dice = random.Random(5)
    sent: list[str] = []

    async def main() -> None:
        async with serving(stand.home) as server, session(stand, tmp_path, server, SCRIPT) as client:
            for n in range(5):
                stand.start(server.url)
                sent.append(f"g{n}")
                await client.send(SESSION, Guide(guidance=f"g{n}", text=f"advice {n}"))
                with contextlib.suppress(TimeoutError):
                    await until(lambda: stand.process.poll() is not None, seconds=1.0 + dice.random())
                if n == 2:
                    more = len(stand.facts(StepAdded)) + 1
                    await until(lambda least=more: len(stand.facts(StepAdded)) >= least)
                    stand.process.terminate()
                    await until(lambda: stand.process.poll() is not None)
                    assert stand.process.returncode == 0, "SIGTERM is a tidy stop"
                stand.kill()
            process = stand.start(server.url)
            await until(lambda: process.poll() is not None, seconds=40)
            assert process.returncode == 0, (stand.folder / "runner.log").read_text()

    asyncio.run(main())
    stand.check_whole()
    assert state(stand) == "finished"
    ledger = [int(line) for line in (stand.folder / "local/main/workspace/ledger").read_text().split()]
    assert ledger == sorted(set(ledger)), "a command was carried out twice"
    delivered = [f.guidance for f in stand.facts(GuidanceDelivered)]
    assert delivered == [g for g in sent if g in delivered], "in order, once"
    assert len(delivered) >= 3


def test_it_goes_on_without_the_server_and_tells_it_all_later(stand: Stand, tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(stand.home) as server, session(stand, tmp_path, server, SCRIPT):
            process = stand.start(server.url)
            await until(lambda: len(stand.facts(StepAdded)) >= 2, seconds=30)
        before = len(stand.facts(StepAdded))
        ledger = stand.folder / "local/main/workspace/ledger"
        await until(lambda: len(ledger.read_text().split()) == STEPS, seconds=30)
        assert len(stand.facts(StepAdded)) == before < STEPS
        async with serving(stand.home):
            await until(lambda: process.poll() is not None, seconds=40)

    asyncio.run(main())
    stand.check_whole()
    assert state(stand) == "finished" and len(stand.facts(StepAdded)) == STEPS + 1


def test_interrupt_advice_ends_the_running_action_and_stop_the_session(stand: Stand, tmp_path: Path) -> None:
    script = ('pace_s = 0.0\n[[turn]]\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\n'
              'command = "sleep 300"\nsession_id = "main"\nwait_for_completion = true\n'
              '[[turn]]\n[[turn.calls]]\ntool = "sleep"\n[turn.calls.arguments]\nsleep_time = 600.0\n')

    async def main() -> None:
        async with serving(stand.home) as server, session(stand, tmp_path, server, script) as client:
            process = stand.start(server.url)
            await until(lambda: len(stand.facts(TerminalOutput)) > 0, seconds=30)
            await client.send(SESSION, Guide(guidance="g", text="not that", mode="interrupt"))
            await until(lambda: len(stand.facts(StepAdded)) == 1)
            await client.send(SESSION, Control(control="stop"))
            await until(lambda: process.poll() is not None)

    asyncio.run(main())
    step = stand.facts(StepAdded)[0]
    assert (step.head.status, step.head.error_kind) == ("killed", "interrupted")
    assert stand.facts(ControlAsked) and state(stand) == "stopped"


def test_a_copied_folder_is_told_from_the_original_and_a_newer_runner_ends_an_older_in_one_sentence(
    stand: Stand, tmp_path: Path
) -> None:
    copy = Stand(tmp_path)
    copy.folder = tmp_path / "copy"
    copy.folder.mkdir()

    async def main() -> None:
        async with serving(stand.home) as server, session(stand, tmp_path, server, SCRIPT):
            process = stand.start(server.url)
            await until(lambda: len(stand.facts(StepAdded)) >= 2, seconds=30)
            with contextlib.closing(connect(stand.folder / "journal.db", readonly=True)) as conn:
                back_up(conn, copy.folder / "journal.db")
            (copy.folder / "token").write_text((stand.folder / "token").read_text())
            held = len(stand.facts(StepAdded))
            await until(lambda: len(stand.facts(StepAdded)) > held, seconds=30)
            second = copy.start(server.url)
            await until(lambda: second.poll() is not None, seconds=30)
            held = len(stand.facts(StepAdded))
            await until(lambda: len(stand.facts(StepAdded)) > held, seconds=30)
            assert process.poll() is None, "who is not the original fences nobody"
            async with raw_peer(server.url, admin_token(stand.home)) as newer:
                await newer.ask(Lease(session=SESSION, journal="another"))
                await until(lambda: process.poll() is not None)

    asyncio.run(main())
    for one, sentence in ((copy, "was copied or set back"), (stand, "A newer runner holds this session.")):
        written = (one.folder / "runner.log").read_text()
        assert one.process is not None and one.process.returncode == 1
        assert sentence in written.splitlines()[-1] and "Traceback" not in written
    assert state(stand) == "running"


def test_a_session_that_finished_too_early_goes_on_with_its_files(stand: Stand, tmp_path: Path) -> None:
    """The end stops the sandbox; the next runner starts it again, and the agent finds what it wrote."""
    def command(text: str) -> str:
        return f'[[turn]]\n[[turn.calls]]\ntool = "run_command"\n[turn.calls.arguments]\ncommand = "{text}"\n' \
               'session_id = "main"\nwait_for_completion = true\n'

    end = '[[turn]]\n[[turn.calls]]\ntool = "finish"\n'
    script = "pace_s = 0.0\n" + command("echo one > kept") + end + command("cat kept") + end

    async def main() -> None:
        async with serving(stand.home) as server, session(stand, tmp_path, server, script) as client:
            process = stand.start(server.url)
            await until(lambda: process.poll() is not None, seconds=40)
            assert state(stand) == "finished"
            more = ContinueSession(guidance="g", text="there is more to do")
            await client.answer(await client.send(SESSION, more))
            await until(lambda: row(client).state == "queued")
            process = stand.start(server.url)
            await until(lambda: process.poll() is not None, seconds=40)
            assert process.returncode == 0, (stand.folder / "runner.log").read_text()

    asyncio.run(main())
    stand.check_whole()
    assert state(stand) == "finished" and len(stand.facts(StepAdded)) == 4
    assert [f.step for f in stand.facts(GuidanceDelivered)] == [3]
    with contextlib.closing(connect(stand.home / "server.db", readonly=True)) as conn:
        body = decode_body(blobs.get(conn, stand.facts(StepAdded)[2].body))
    assert body.observations[0].output.text.strip() == "one"
