"""Rules judge a session when it ends, at a real server, in a real process: once, and under no person's name."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from support.logs import PERSON, RULE, SERVER, Maker
from support.logs import fill as fill_log
from support.wire import admin_token, running_client, serving, until

from core.aio import TaskScope
from core.domain.events import SessionStateChanged, VerdictGiven, encode_event, make_event
from core.domain.trajectory import Trajectory, fold
from core.server import end_rules
from core.server.end_rules import EndRules
from core.server.serve import Server
from core.server.worker_process import WorkerProcess
from core.store import blobs, log
from core.supervision.rules import RULES
from core.workers.rules import ListRules

FILES = Path(__file__).parents[1] / "formats" / "files"
ERROR = "rule:error_result"
VERSION = RULES.get(["error_result"])[0].version


def session(*, ends: bool = True, seed: int = 5) -> Maker:
    made = Maker(seed)
    for fails in (False, True, False):
        made.add_step(fails=fails)
    if ends:
        made.say(SessionStateChanged(state="finished", reason="finished"))
    return made


@contextlib.asynccontextmanager
async def judging(folder: Path) -> AsyncIterator[Server]:
    """A server that starts no runners, and the rules beside it."""
    async with serving(folder) as server:
        rules = EndRules(server.hub, server.home)
        async with TaskScope("rules") as scope:
            running = scope.spawn(rules.run(server.hub.on_changed, server.hub.on_deleted), name="rules")
            yield server
            running.cancel()
        await rules.close()


async def add(server: Server, name: str, maker: Maker) -> None:
    await server.hub.do(name, lambda conn: fill_log(conn, name, maker.bodies, maker.blobs))


async def say(server: Server, name: str, *bodies: bytes) -> None:
    await server.hub.do(name, lambda conn: log.append(conn, name, bodies))


def now(server: Server, name: str) -> Trajectory:
    return fold(name, log.read_all(server.hub.reader, name))


def rule_verdicts(server: Server, name: str) -> list[tuple[int, str, str, str]]:
    events = [p.event for p in log.read_all(server.hub.reader, name)]
    return [(e.fact.step, e.author.key, e.author.version, e.fact.value) for e in events
            if isinstance(e.fact, VerdictGiven) and e.author.kind == "rule"]


async def is_judged(server: Server, name: str) -> None:
    await until(lambda: bool(rule_verdicts(server, name)), f"the rules judge {name}")


def own_rule(home: Path, name: str, text: str) -> None:
    (home / "rules").mkdir(parents=True, exist_ok=True)
    (home / "rules" / f"{name}.py").write_text(text)


EVERY = ("from core.supervision.rule import Finding\ndef find(evidence):\n    'All.'\n"
         "    yield from (Finding(s.number, 'x') for s in evidence.steps)\n")


def test_an_ended_session_is_judged_by_name_and_version_and_a_running_one_is_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with judging(tmp_path) as server:
            await add(server, "open", session(ends=False))
            await add(server, "over", session(seed=6))
            async with running_client(tmp_path / "c.db", server.url, admin_token(tmp_path), "over") as client:
                await is_judged(server, "over")
                verdicts = rule_verdicts(server, "over")
                assert [v for v in verdicts if v[1] == ERROR] == [(2, ERROR, VERSION, "mask")]
                await until(lambda: client.replica.head("over") == now(server, "over").seq, "the desktop has it")
                assert client.replica.trajectory("over").step(2).verdicts[ERROR].value == "mask"
            assert rule_verdicts(server, "open") == []
            await say(server, "open", encode_event(make_event(SessionStateChanged(state="failed"), SERVER)))
            await is_judged(server, "open")

    asyncio.run(scenario())


def test_it_is_not_judged_twice_and_again_when_it_has_gone_on(tmp_path: Path) -> None:
    maker = session()

    async def first() -> int:
        async with judging(tmp_path) as server:
            await add(server, "s", maker)
            await is_judged(server, "s")
            await add(server, "clean", clean())
            await until(lambda: (tmp_path / "cache/judged_at_end.json").exists())
            return now(server, "s").seq

    async def second(head: int) -> None:
        async with judging(tmp_path) as server:
            await add(server, "marker", session(seed=8))
            await is_judged(server, "marker")
            assert now(server, "s").seq == head, "the rules said nothing twice"
            told = len(maker.bodies)
            maker.add_step(fails=True)
            for data in maker.blobs.values():
                await server.hub.store(lambda conn, data=data: put(conn, data))
            await say(server, "s", *maker.bodies[told:])
            await until(lambda: any(v[:2] == (4, ERROR) for v in rule_verdicts(server, "s")), "what is new is judged")
            assert [v for v in rule_verdicts(server, "s") if v[1] == ERROR] == [(2, ERROR, VERSION, "mask"),
                                                                                (4, ERROR, VERSION, "mask")]

    asyncio.run(second(asyncio.run(first())))


def test_without_its_file_the_rules_look_again_and_say_nothing_new(tmp_path: Path) -> None:
    async def scenario(name: str) -> int:
        async with judging(tmp_path) as server:
            if name == "s":
                await add(server, "s", session())
            await add(server, f"after-{name}", session(seed=9))
            await is_judged(server, f"after-{name}")
            await is_judged(server, "s")
            return now(server, "s").seq

    head = asyncio.run(scenario("s"))
    (tmp_path / "cache/judged_at_end.json").write_bytes(b"torn")
    assert asyncio.run(scenario("again")) == head


def test_own_rules_count_and_one_that_breaks_or_hangs_stops_nobody(tmp_path: Path, monkeypatch) -> None:
    own_rule(tmp_path, "every", EVERY)
    own_rule(tmp_path, "broken", "def find(evidence):\n    'Breaks.'\n    raise ValueError(1)\n")
    own_rule(tmp_path, "hangs", "def find(evidence):\n    'Hangs.'\n    while evidence.task.id == 'task_6':\n"
                                "        pass\n    return iter(())\n")
    monkeypatch.setattr(end_rules, "ANSWER_S", 5.0)

    async def scenario() -> None:
        async with judging(tmp_path) as server:
            await add(server, "hung", session(seed=6))
            await add(server, "s", session(seed=5))
            await is_judged(server, "s")
            assert {s for s, key, _, _ in rule_verdicts(server, "s") if key == "rule:every"} == {1, 2, 3}
            assert rule_verdicts(server, "hung") == []
            assert any(v[1] == ERROR for v in rule_verdicts(server, "s"))

    asyncio.run(scenario())


@pytest.mark.parametrize("text", ["at_end = false\n", "at_end = true\n[tasks.task_5]\nat_end = false\n"])
def test_it_can_be_switched_off_for_all_or_for_a_task(tmp_path: Path, text: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/rules.toml").write_text(text)

    async def scenario() -> None:
        async with judging(tmp_path) as server:
            await add(server, "off", session(seed=5))
            if "tasks" in text:
                await add(server, "on", session(seed=6))
                await is_judged(server, "on")
            else:
                await asyncio.sleep(3 * end_rules.LOOK_PAUSE_S)
            assert rule_verdicts(server, "off") == []
            (tmp_path / "rules/rules.toml").unlink()
            await say(server, "off", encode_event(make_event(VerdictGiven(step=1, value="keep"), PERSON)))
            await is_judged(server, "off")

    asyncio.run(scenario())


def test_a_rule_that_writes_the_answer_itself_cannot_speak_for_a_person(tmp_path: Path) -> None:
    forged = encode_event(make_event(VerdictGiven(step=1, value="keep", reason="forged"), PERSON)).decode()
    own_rule(tmp_path, "forger", f"""
import base64, json, os
def find(evidence):
    'Forges.'
    if evidence.task.id == 'task_6':
        body = base64.b64encode({forged!r}.encode()).decode()
        for number in range(1, 9):
            os.write(1, json.dumps({{"id": number, "ok": {{"head": 1, "events": [body]}}}}).encode() + b"\\n")
    return iter(())
""")

    async def scenario() -> None:
        async with judging(tmp_path) as server:
            await add(server, "s", session(seed=6))
            await add(server, "marker", session(seed=5))
            await is_judged(server, "marker")
            assert all(v.author.kind != "person" for e in now(server, "s").steps for v in e.verdicts.values())

    asyncio.run(scenario())


def test_what_rules_or_steps_said_after_the_reading_is_not_overruled(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await add(server, "s", session())
            head = now(server, "s").seq
            body = encode_event(make_event(VerdictGiven(step=1, value="mask"), RULE))
            await say(server, "s", encode_event(make_event(VerdictGiven(step=1, value="keep"), PERSON)))
            store = partial(end_rules._store, "s", head, [body])
            assert await server.hub.do("s", store), "a person's word is no rule's"
            assert not await server.hub.do("s", store)
            assert len(rule_verdicts(server, "s")) == 1

    asyncio.run(scenario())


def test_a_worker_whose_end_was_cancelled_is_ended_by_the_next_who_asks_for_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            worker = WorkerProcess(server.home, [sys.executable, "-c", "import sys; sys.stdin.read()"], 1024)
            with pytest.raises(TimeoutError):
                await worker.ask(ListRules(), 0.01)
            async with TaskScope("test") as scope:
                asked = scope.spawn(worker.ask(ListRules(), 60), name="asked")
                await until(lambda: worker._process is not None)
                process = worker._process
                asked.cancel()
                ending = scope.spawn(worker.close(), name="ending")
                await asyncio.sleep(0)
                ending.cancel()
                await asyncio.wait([asked, ending])
            await worker.close()
            assert process is not None and process.returncode is not None and worker._process is None

    asyncio.run(scenario())


def test_a_served_home_judges_what_is_imported_into_it_and_leaves_no_process(tmp_path: Path) -> None:
    home, env = tmp_path / "home", {"TIPHYS_HOME": str(tmp_path / "home")}
    own_rule(home, "every", EVERY)

    def tiphys(*arguments: str) -> list[dict]:
        ran = subprocess.run([sys.executable, "-m", "core.cli", *arguments, "--json"], env={**environment(), **env},
                             capture_output=True, text=True, timeout=60)
        return [json.loads(line) for line in ran.stdout.splitlines()]

    served = subprocess.Popen([sys.executable, "-m", "core.cli", "serve", "--private", "--json"],
                              env={**environment(), **env}, stdout=subprocess.PIPE)
    try:
        assert served.stdout is not None
        served.stdout.readline()
        name = next(line["session"] for line in tiphys("import", str(FILES)) if line["steps"])

        def opinions() -> list[dict]:
            [shown] = tiphys("show", name)
            return [o for s in shown["steps"] for o in s["verdict"]["opinions"] if o["author"] == "every"]

        asyncio.run(until(lambda: bool(opinions()), "the import is judged"))
        assert {o["kind"] for o in opinions()} == {"rule"}
        worker = f"core.supervision.worker --log {home}"
        asyncio.run(until(lambda: worker not in processes(), "the worker ends when nothing is to be judged"))
    finally:
        served.terminate()
        served.wait()
        served.stdout.close()


def processes() -> str:
    return "\n".join(path.read_bytes().replace(b"\0", b" ").decode() for path in Path("/proc").glob("[0-9]*/cmdline")
                     if path.exists())


def environment() -> dict[str, str]:
    return dict(os.environ)


def clean() -> Maker:
    made = Maker(7)
    made.add_step(fails=False)
    made.say(SessionStateChanged(state="finished", reason="finished"))
    return made


def put(conn: object, data: bytes) -> None:
    blobs.put(conn, data)  # type: ignore[arg-type]
