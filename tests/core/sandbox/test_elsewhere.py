"""Hosts on other machines: engines by SSH and by TLS, plain machines by SSH; their loss and their coming back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from support.engines import (
    Door,
    SecondEngine,
    certificates,
    processes_on_machines,
    second_engine,
    ssh_machine,
    ssh_server,
)
from support.eventually import eventually
from support.sandboxes import HOME, command

from core.domain.errors import NotFound, Unavailable
from core.domain.ids import new_id
from core.domain.task import Host
from core.sandbox import tunnel
from core.sandbox.archive import Bounds, receive, tar_of
from core.sandbox.docker import DockerSandbox
from core.sandbox.engine import describe_engine
from core.sandbox.image import build_base
from core.sandbox.machine import MachineSandbox, describe_machine
from core.sandbox.placement import EngineAddress, HostLinks, HostPlace
from core.sandbox.reaper import reap
from core.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def far() -> Iterator[SecondEngine]:
    with second_engine() as engine:
        yield engine


async def works(sandbox: Sandbox, tmp_path: Path) -> None:
    """A terminal, its job, a stream in and out."""
    job, output = await command(sandbox, "echo there > note; echo done")
    assert (job.exit_code, output) == (0, "done\r\n")
    (tmp_path / "in").write_bytes(os.urandom(2_000_000))
    await sandbox.unpack(tar_of([("in", tmp_path / "in")]))
    (tmp_path / "out").mkdir(exist_ok=True)
    assert await receive(sandbox.pack(["in", "note"]), tmp_path / "out", Bounds(5, 4 << 20)) == ["in", "note"]
    assert (tmp_path / "out/in").read_bytes() == (tmp_path / "in").read_bytes()


def on_engine(at: EngineAddress, tmp_path: Path) -> str:
    """Work in a container of an engine, which is then gone from there; gives its name."""
    assert "CPUs" in asyncio.run(describe_engine(at))
    session, home = new_id(), f"{HOME}-far"

    async def life() -> str:
        place = HostPlace(place="far", address=at, has_data=False)
        sandbox = DockerSandbox(session, Host(name="main"), tmp_path, home=home, placement=place)
        try:
            await sandbox.start()
            await works(sandbox, tmp_path)
        finally:
            await sandbox.close()
        with closing(docker.from_env()) as own:
            assert not [c for c in own.containers.list(all=True) if session in c.name], "not on this machine's engine"
        return sandbox.name

    name = asyncio.run(life())
    assert asyncio.run(reap(home, [], [at])) == [name]
    return name


def test_an_engine_elsewhere_is_reached_by_ssh(far: SecondEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    with ssh_server(tmp_path / "ssh", monkeypatch) as url:
        on_engine(EngineAddress(f"{url}{far.socket}"), tmp_path)
    tunnel._tunnels[f"{url}{far.socket}"]._process.kill()
    tunnel._tunnels[f"{url}{far.socket}"]._process.wait()
    with pytest.raises(Unavailable, match="cannot be reached by SSH"):
        asyncio.run(describe_engine(EngineAddress(f"{url}{far.socket}")))


def test_an_engine_elsewhere_is_reached_by_tls_with_both_certificates(far: SecondEngine, tmp_path: Path) -> None:
    tls = certificates(tmp_path / "tls")
    door = Door(far.socket, tls)
    on_engine(EngineAddress(f"tcp://localhost:{door.port}", str(tls)), tmp_path)
    other = certificates(tmp_path / "other")
    with pytest.raises(Unavailable):
        asyncio.run(describe_engine(EngineAddress(f"tcp://localhost:{door.port}", str(other))))
    asyncio.run(eventually(lambda: door.refused))  # who is refused may hear of it first
    door.close()


def test_gpus_are_asked_of_the_engine_by_their_ids(far: SecondEngine, tmp_path: Path) -> None:
    """There is no GPU here: what the engine is asked is noted on the way, and it refuses it for want of a driver."""
    tls = certificates(tmp_path / "tls")
    door = Door(far.socket, tls)
    address = EngineAddress(f"tcp://localhost:{door.port}", str(tls))
    place = HostPlace(place="far", address=address, gpus=("2", "GPU-7f"))
    sandbox = DockerSandbox(new_id(), Host(name="main", gpus=2), tmp_path, home=HOME, placement=place)

    async def life() -> None:
        try:
            with pytest.raises(Unavailable, match=r"device driver|nvidia"):
                await sandbox.start()
        finally:
            await sandbox.remove()

    asyncio.run(life())
    start = door.asked.index(b'"DeviceRequests"')
    asked = json.JSONDecoder().raw_decode(door.asked[start:].split(b":", 1)[1].decode("utf-8", "replace").strip())[0]
    assert asked == [{"Driver": "nvidia", "Count": 0, "DeviceIDs": ["2", "GPU-7f"], "Capabilities": [["gpu"]],
                      "Options": {}}]
    door.close()


def test_a_plain_machine_is_a_host_whose_terminals_outlive_the_connection(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    with ssh_server(tmp_path / "ssh", monkeypatch) as url:
        assert "CPUs" in asyncio.run(describe_machine(EngineAddress(url)))
        place = HostPlace(place="lab1", kind="machine", address=EngineAddress(url), gpus=("3",))
        session = new_id()
        base = Path.home() / ".tiphys-hosts" / session

        async def first() -> None:
            sandbox = MachineSandbox(session, Host(name="main", machine="lab1", gpus=1), place)
            await sandbox.start()
            await works(sandbox, tmp_path)
            assert "3\r\n" in (await command(sandbox, "echo $CUDA_VISIBLE_DEVICES"))[1]
            await sandbox.terminals.command("t", "long", "sleep 1; echo later")
            assert await sandbox.disk_used() > 2_000_000
            await sandbox.close()

        async def second() -> None:
            sandbox = MachineSandbox(session, Host(name="main", machine="lab1", gpus=1), place)
            await sandbox.start()
            assert (await sandbox.terminals.wait_job("long", 20)).exit_code == 0
            assert (await sandbox.read_file(f"{sandbox.workspace}/note")) == b"there\n"
            await sandbox.remove()
            assert not base.exists()

        asyncio.run(first())
        assert [path.read_text() for path in base.glob("main@*/workspace/note")] == ["there\n"]
        asyncio.run(second())


def test_a_machine_that_is_not_known_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ssh_server(tmp_path / "ssh", monkeypatch) as url:
        (tmp_path / "ssh/known").write_text("")
        with pytest.raises(Unavailable, match=r"cannot be used.*key"):
            asyncio.run(describe_machine(EngineAddress(url)))
    with pytest.raises(Unavailable, match="cannot be used"):
        asyncio.run(describe_machine(EngineAddress(url)))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the ssh of a machine ends by itself
def test_the_image_is_made_on_an_engine_that_has_none(far: SecondEngine) -> None:
    with closing(docker.DockerClient(base_url=far.url)) as client:
        assert client.images.get(build_base(client)).labels == {}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves sockets open
def test_an_engine_that_is_killed_and_comes_back_has_the_files_and_tells_what_is_lost(
    far: SecondEngine, tmp_path: Path
) -> None:
    place = HostPlace(place="far", address=EngineAddress(far.url))

    async def life() -> None:
        sandbox = DockerSandbox(new_id(), Host(name="main"), tmp_path, home=HOME, placement=place,
                                links=HostLinks(shared_folder=True))
        await sandbox.start()
        await command(sandbox, "echo safe > safe.txt; echo shared > /shared/x")
        await sandbox.terminals.command("t", "long", "sleep 600")
        far.kill()
        with pytest.raises(Unavailable):
            await sandbox.run(["true"])
        with pytest.raises(Unavailable):
            await sandbox.start()
        await asyncio.to_thread(far.start)
        await sandbox.start()
        assert await sandbox.terminals.list() == []
        with pytest.raises(NotFound):
            await sandbox.terminals.wait_job("long", 1)
        job, output = await command(sandbox, "cat safe.txt /shared/x")
        assert (job.exit_code, output) == (0, "safe\r\nshared\r\n")
        await sandbox.remove()

    asyncio.run(life())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the ssh of a machine ends by itself
def test_the_end_of_a_session_ends_all_that_it_runs_on_a_plain_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                       ) -> None:
    with ssh_machine(tmp_path / "ssh", monkeypatch) as ssh:
        place = HostPlace(place="lab1", kind="machine", address=EngineAddress(ssh.url))
        session = new_id()
        sandbox = MachineSandbox(session, Host(name="main", machine="lab1"), place)

        halted: list[int] = []

        async def life() -> None:
            await sandbox.start()
            await command(sandbox, "touch here; (setsid nohup sleep 600 >/dev/null 2>&1 &)")
            await sandbox.terminals.command("t", "long", "sleep 600")
            async with asyncio.timeout(60):
                while len(processes_on_machines(session)) < 4:  # a command that was begun runs a little later
                    await asyncio.sleep(0.05)
            for pid in (int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()):
                with contextlib.suppress(OSError):
                    if f"{session}/main@".encode() in (Path(f"/proc/{pid}/cmdline")).read_bytes():
                        os.kill(pid, signal.SIGSTOP)  # a daemon that hangs, and the ssh that leads to it
                        halted.append(pid)
            ssh.stop()
            with pytest.raises(Unavailable, match="cannot be used"):
                await sandbox.stop()
            assert processes_on_machines(session), "nobody could end it"
            ssh.start()
            await sandbox.stop()
            assert processes_on_machines(session) == []
            assert list((Path.home() / ".tiphys-hosts" / session).glob("main@*/workspace/here")), "its files stay"
            await sandbox.remove()
            for pid in halted:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in halted))

        asyncio.run(life())
