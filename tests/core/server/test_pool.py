"""The host pool: GPUs are given out once, in order, and taken back; whatever dies, and however many ask at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest
from support.engines import processes_on_machines, ssh_machine
from support.hostile import ROOT
from support.wire import AGENT, admin_token, fill, running_client, serving, until

from core.domain.errors import Conflict, InvalidInput
from core.domain.events import SessionCreated, encode_event, make_event
from core.domain.ids import new_id
from core.domain.task import AgentSettings, Data, Host, Task
from core.protocol.messages import Ack, Nak
from core.protocol.operations import Control, CreateSession
from core.sandbox.machine import MachineSandbox
from core.sandbox.placement import EngineAddress, HostPlace
from core.server.pool_file import PoolFile, PoolHost, Waiting
from core.store import log
from core.store.home import Home

BIG = PoolHost(name="big", address=EngineAddress("ssh://big"), gpus=tuple("01234567"), cpus=64, memory_mb=1 << 20)
SMALL = PoolHost(name="small", address=EngineAddress("ssh://small"), gpus=("a", "b"))
LAB = PoolHost(name="lab1", kind="machine", address=EngineAddress("ssh://lab1"), gpus=("0",))


def task(*gpus: int, peers: bool = True, **host: object) -> Task:
    hosts = tuple(Host(name=f"h{n}", gpus=count, **host) for n, count in enumerate(gpus))  # type: ignore[arg-type]
    return Task(id="t", title="T", description="d", hosts=hosts, peers=peers)


@pytest.fixture
def pool(tmp_path: Path) -> PoolFile:
    made = PoolFile(tmp_path / "pool.db")
    for host in (BIG, SMALL, LAB):
        made.put(host)
    return made


def test_a_gpu_is_given_to_one_host_and_again_when_it_is_back(pool: PoolFile) -> None:
    given = [pool.claim(f"s{n}", task(2)) for n in range(5)]
    gpus = [(p["h0"].place, gpu) for p in given if not isinstance(p, Waiting) for gpu in p["h0"].gpus]
    assert len(gpus) == len(set(gpus)) == 10
    assert [place for place, _ in gpus[:2]] == ["small", "small"], "many stay free together"
    assert pool.claim("s5", task(1)) == Waiting(place=1, of=1, asks="1 GPUs, 1 CPUs, 1,024 MiB of memory")
    assert pool.claim("s1", task(2)) == given[1], "who holds its places is given the same ones"
    assert pool.release("s1")
    assert not isinstance(pool.claim("s5", task(1)), Waiting)
    assert [lease.session for lease in pool.leases()] == ["s0", "s2", "s3", "s4", "s5"]


def test_who_waits_for_gpus_is_not_passed_by_who_asks_for_fewer(pool: PoolFile) -> None:
    pool.claim("first", task(4))
    assert pool.claim("whole", task(8)) == Waiting(place=1, of=1, asks="8 GPUs, 1 CPUs, 1,024 MiB of memory")
    waits = pool.claim("little", task(1))
    assert isinstance(waits, Waiting) and (waits.place, waits.of) == (2, 2)
    assert not isinstance(pool.claim("none", task(0)), Waiting), "who asks for no GPU does not wait for one"
    assert [name for name, _ in pool.waiting()] == ["whole", "little"]
    pool.release("first")
    assert isinstance(pool.claim("little", task(1)), Waiting), "in their order"
    assert not isinstance(pool.claim("whole", task(8)), Waiting)
    given = pool.claim("little", task(1))
    assert not isinstance(given, Waiting) and given["h0"].place == "small"
    pool.claim("leaver", task(8))
    assert pool.release("leaver") and pool.waiting() == []


def test_hosts_that_meet_are_placed_together_and_others_where_there_is_room(pool: PoolFile) -> None:
    given = pool.claim("together", task(2, 1))
    assert not isinstance(given, Waiting) and {p.place for p in given.values()} == {"big"}
    given = pool.claim("apart", task(5, 2, peers=False))
    assert not isinstance(given, Waiting) and [p.place for p in given.values()] == ["big", "small"]
    given = pool.claim("lab", task(1, machine="lab1"))
    assert not isinstance(given, Waiting) and (given["h0"].kind, given["h0"].gpus) == ("machine", ("0",))
    assert isinstance(pool.claim("lab again", task(0, machine="lab1")), dict)
    assert isinstance(pool.claim("lab full", task(1, machine="lab1")), Waiting)


def test_data_of_the_server_are_read_where_they_lie_only(pool: PoolFile) -> None:
    data = (Data(source="/data/x", target="/data"),)
    given = pool.claim("reads", task(0, data=data))
    assert not isinstance(given, Waiting) and given["h0"].place == "local"
    assert isinstance(pool.claim("both", task(1, data=data)), Waiting)
    pool.put(msgspec.structs.replace(SMALL, has_data=True))
    given = pool.claim("both", task(1, data=data))
    assert not isinstance(given, Waiting) and given["h0"].place == "small"


def test_what_is_lost_or_closed_is_given_to_nobody(pool: PoolFile) -> None:
    assert pool.note("big", is_lost=True, detail="no route") and not pool.note("big", is_lost=True)
    assert isinstance(pool.claim("s", task(3)), Waiting)
    assert pool.note("big", is_lost=False)
    pool.put(msgspec.structs.replace(pool.host("big"), is_open=False))
    assert isinstance(pool.claim("s", task(3)), Waiting)
    pool.put(msgspec.structs.replace(pool.host("big"), is_open=True))
    assert isinstance(pool.claim("s", task(3)), dict)
    with pytest.raises(Conflict, match="held by s"):
        pool.remove("big")
    with pytest.raises(Conflict, match="Sessions hold the GPUs"):
        pool.put(msgspec.structs.replace(BIG, gpus=("9",)))
    pool.release("s")
    pool.remove("big")
    assert [host.name for host in pool.hosts()] == ["local", "lab1", "small"]


@pytest.mark.parametrize("host", [
    PoolHost(name="../x", address=EngineAddress("ssh://x")), PoolHost(name="x"),
    PoolHost(name="x", address=EngineAddress("http://x")), PoolHost(name="x", address=EngineAddress("tcp://x:2375")),
    PoolHost(name="x", kind="machine", address=EngineAddress("tcp://x:1", "/tls")),
    PoolHost(name="x", address=EngineAddress("ssh://x"), gpus=("0", "0")),
    PoolHost(name="x", address=EngineAddress("ssh://x"), cpus=0),
])
def test_what_cannot_be_a_member_is_refused(pool: PoolFile, host: PoolHost) -> None:
    with pytest.raises(InvalidInput):
        pool.put(host)


CLAIMER = """
import os, random, sys
from pathlib import Path
from core.domain.task import Host, Task
from core.server.pool_file import PoolFile, Waiting
pool, dice = PoolFile(Path(sys.argv[1])), random.Random(int(sys.argv[2]))
print("up", flush=True)
while True:
    session = f"s{sys.argv[2]}-{dice.randrange(4)}"
    if dice.random() < 0.4:
        pool.release(session)
    else:
        hosts = tuple(Host(name=f"h{n}", gpus=dice.randrange(4)) for n in range(dice.randrange(1, 3)))
        pool.claim(session, Task(id="t", title="T", description="d", hosts=hosts))
"""


def test_whoever_is_killed_while_claiming_leaves_all_or_nothing(pool: PoolFile, tmp_path: Path) -> None:
    script, dice = tmp_path / "claimer.py", random.Random(7)
    script.write_text(textwrap.dedent(CLAIMER))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for turn in range(6):
        claimers = [subprocess.Popen([sys.executable, str(script), str(tmp_path / "pool.db"), f"{2 * turn + n}"],
                                     env=env, stdout=subprocess.PIPE) for n in range(2)]
        for one in claimers:
            assert one.stdout is not None and one.stdout.readline() == b"up\n"
        time.sleep(0.1 + 0.2 * dice.random())
        for one in claimers:
            one.send_signal(signal.SIGKILL)
            one.wait()
            one.stdout.close()  # type: ignore[union-attr]
        leases = pool.leases()
        gpus = [(lease.place, gpu) for lease in leases for gpu in lease.gpus]
        assert len(gpus) == len(set(gpus))
        owned = pool._conn.execute("SELECT place, gpu FROM gpu").fetchall()
        assert {tuple(row) for row in owned} == set(gpus)
        waiting = {name for name, _ in pool.waiting()}
        assert not waiting & {lease.session for lease in leases}
    for session in pool.sessions():
        pool.release(session)
    assert isinstance(pool.claim("whole", task(8)), dict)


RUNNER = """
import os, sys, time
from core.store.lock import FileLock
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
lock = FileLock(os.path.join(given["--folder"], "runner.lock"))
if not lock.take():
    sys.exit(0)
with open(os.path.join(given["--folder"], "pid"), "w") as file:
    file.write(str(os.getpid()))
time.sleep(60)
"""


def test_sessions_wait_for_gpus_in_order_over_ends_crashes_and_a_restart(tmp_path: Path) -> None:
    script, home = tmp_path / "runner.py", Home(tmp_path / "home")
    script.write_text(textwrap.dedent(RUNNER))
    command = (sys.executable, str(script))
    pool = PoolFile(home.pool_db)
    pool.put(PoolHost(name="local", gpus=("0", "1"), has_data=True))

    def row(server: object, session: str) -> log.SessionRow:
        return log.row(server.hub.reader, session)  # type: ignore[attr-defined]

    def pid(session: str) -> int:
        path = home.sessions / session / "pid"
        return int(path.read_text() or 0) if path.exists() else 0

    async def first() -> None:
        async with (serving(home.path, supervise=True, runner=command) as server,
                    running_client(tmp_path / "c.db", server.url, admin_token(home.path)) as client):
            refused = await client.answer(await client.send("never", CreateSession(task=task(3))))
            assert isinstance(refused, Nak) and refused.code == "no_such_host", refused
            for name in ("s1", "s2", "s3"):
                assert isinstance(await client.answer(await client.send(name, CreateSession(task=task(2)))), Ack)
            await until(lambda: pid("s1") > 0, "the first runs")
            await until(lambda: (row(server, "s2").queue_place, row(server, "s3").queue_place) == (1, 2))
            assert row(server, "s2").reason == "waits_for_host" and pid("s2") == 0
            places = json.loads((home.sessions / "s1" / "places.json").read_bytes())
            assert places["h0"]["gpus"] == ["0", "1"]
            os.kill(pid("s1"), signal.SIGKILL)  # a crash keeps what the session was given
            before = pid("s1")
            await until(lambda: pid("s1") not in (0, before), "the next runner of the first")
            assert {lease.session for lease in pool.leases()} == {"s1"}

    async def second() -> None:
        async with (serving(home.path, supervise=True, runner=command) as server,
                    running_client(tmp_path / "c2.db", server.url, admin_token(home.path)) as client):
            await asyncio.sleep(1.2)
            assert {lease.session for lease in pool.leases()} == {"s1"}, "a restart gives nothing out anew"
            os.kill(pid("s1"), signal.SIGKILL)
            await until(lambda: not server.hub.lookups.is_alive("s1"))
            await client.answer(await client.send("s1", Control(control="stop")))
            await until(lambda: pid("s2") > 0, "the next in the queue")
            await until(lambda: row(server, "s3").queue_place == 1)
            await client.answer(await client.send("s3", Control(control="stop")))
            await until(lambda: pool.waiting() == [], "who leaves the queue is forgotten")
            os.kill(pid("s2"), signal.SIGKILL)

    asyncio.run(first())
    asyncio.run(second())
    for name in ("s1", "s2"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid(name), signal.SIGKILL)


def test_what_goes_on_at_a_machine_is_not_given_to_others_until_it_has_ended(pool: PoolFile) -> None:
    on_lab = task(1, machine="lab1")
    assert isinstance(pool.claim("s", on_lab), dict)
    (lease,) = pool.leases()
    assert pool.release("s", [lease]) and pool.leases() == [] and pool.remains() == [lease]
    assert isinstance(pool.claim("other", on_lab), Waiting), "its GPU may be at work"
    assert isinstance(pool.claim("s", task(0)), Waiting), "a new daemon would be ended with the old one"
    assert pool.note("lab1", is_lost=True), "a member's state is changed beside"
    assert pool.note("lab1", is_lost=False)
    pool.forget_remains(lease)
    assert isinstance(pool.claim("other", on_lab), dict) and isinstance(pool.claim("s", task(0)), dict)
    pool.release("other", pool.leases()[:1])
    pool.remove("lab1")
    assert pool.remains() == [], "who takes a machine out gives up what it runs"


@pytest.mark.docker
def test_what_a_session_left_on_a_machine_that_was_away_ends_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, home = tmp_path / "runner.py", Home(tmp_path / "home")
    script.write_text(textwrap.dedent(RUNNER))
    monkeypatch.setattr("core.server.pool.WATCH_S", 0.2)
    session = new_id()
    with ssh_machine(tmp_path / "ssh", monkeypatch) as ssh:
        pool = PoolFile(home.pool_db)
        pool.put(PoolHost(name="lab1", kind="machine", address=EngineAddress(ssh.url), gpus=("0",)))
        sandbox = MachineSandbox(session, Host(name="h0", machine="lab1", gpus=1),
                                 HostPlace(place="lab1", kind="machine", address=EngineAddress(ssh.url), gpus=("0",)),
                                 home=str(home.path))
        places = home.sessions / session / "places.json"

        async def first() -> None:
            async with (serving(home.path, supervise=True, runner=(sys.executable, str(script))) as server,
                        running_client(tmp_path / "c.db", server.url, admin_token(home.path)) as client):
                created = SessionCreated(task=task(1, machine="lab1"), agent=AgentSettings())
                await fill(server, session, [encode_event(make_event(created, AGENT))])
                await until(places.exists, "the session has its place")
                await sandbox.start()
                await sandbox.close()
                ssh.stop()
                pid = home.sessions / session / "pid"
                await until(pid.exists, "its runner is at work")
                os.kill(int(pid.read_text()), signal.SIGKILL)
                await until(lambda: not server.hub.lookups.is_alive(session))
                await client.answer(await client.send(session, Control(control="stop")))
                await until(lambda: bool(pool.remains()), "it is over, and the machine cannot be asked")
                assert pool.leases() == [] and processes_on_machines(session)

        async def second() -> None:
            async with serving(home.path, supervise=True, runner=(sys.executable, str(script))):
                ssh.start()
                await until(lambda: pool.remains() == [], "the machine is back, and asked by the next server")
                assert processes_on_machines(session) == []

        try:
            asyncio.run(first())
            asyncio.run(second())
        finally:
            asyncio.run(sandbox.remove())
