"""The Docker sandbox's walls, tried from inside and read from outside; its life, snapshots and reaping."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import docker
import pytest
from support.sandboxes import HOME, Box, box, command

from core.domain.errors import NotFound, Unavailable
from core.domain.task import Host
from core.sandbox.daemon_socket import connect_socket
from core.sandbox.docker import SOCKET_BYTES, DockerSandbox
from core.sandbox.placement import HostLinks
from core.sandbox.reaper import reap, unfinished
from core.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.docker


def test_the_engine_confirms_every_limit(container: Box) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        client = docker.from_env()
        try:
            inspected = client.api.inspect_container(sandbox.name)
        finally:
            client.close()
        host, config = inspected["HostConfig"], inspected["Config"]
        assert config["User"] in ("1000:1000", f"{os.getuid()}:{os.getuid()}")
        assert host["CapDrop"] == ["ALL"] and not host["CapAdd"] and not host["Privileged"]
        assert "no-new-privileges" in host["SecurityOpt"]
        assert host["ReadonlyRootfs"] and host["Init"]
        assert (host["NetworkMode"], host["IpcMode"], host["PidMode"]) == ("none", "private", "")
        assert host["PidsLimit"] == 256 and host["NanoCpus"] == 10**9
        assert host["Memory"] == host["MemorySwap"] == 1 << 30
        assert {u["Name"]: u["Hard"] for u in host["Ulimits"]} == {"nofile": 4096, "core": 0, "fsize": 20_480 << 20}
        assert not host["PortBindings"] and not host["Devices"]
        mounts = {m["Destination"]: m["Type"] for m in inspected["Mounts"]}
        assert mounts == {"/workspace": "volume", "/home/agent": "volume", "/run/tiphys": "volume"}
        assert config["Labels"]["tiphys.session"] == container.session
        assert not [e for e in config["Env"] if "KEY" in e or "TOKEN" in e]

    container.use(work)


@pytest.mark.parametrize(("attempt", "refusal"), [
    ("id -u | grep -qx 0", ""),
    ("touch /etc/x /usr/x /opt/tiphys/x", "Read-only"),
    ("su -c id", ""),
    ("unshare -Ur id", ""),
    ("mount -t tmpfs x /mnt", ""),
    ("ls -d /var/run/docker.sock", "No such file"),
    ("python3 -c 'import socket; socket.create_connection((\"169.254.169.254\", 80), 2)'", "unreachable"),
    ("python3 -c 'import socket; socket.getaddrinfo(\"localhost.example\", 80)'", ""),
    ("mknod /tmp/sda b 8 0", "not permitted"),
    ("head -c 2000000000 /dev/zero > /tmp/full", "No space left"),
])
def test_attempts_to_get_out_fail(container: Box, attempt: str, refusal: str) -> None:
    async def work(sandbox: Sandbox) -> None:
        job, output = await command(sandbox, f"{attempt}; x=$?; rm -f /tmp/full; (exit $x)", "attack", 30)
        assert job.exit_code != 0
        assert refusal in output

    container.use(work)


def test_capabilities_and_network_are_gone(container: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        status = (await sandbox.run(["cat", "/proc/self/status"])).output.decode()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert {fields[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
        assert (await sandbox.run(["ls", "/sys/class/net"])).output == b"lo\n"

    container.use(work)


def test_hogs_of_memory_and_processes_are_bounded(tmp_path: Path) -> None:
    async def work(sandbox: Sandbox) -> None:
        job, _ = await command(sandbox, "python3 -c 'x = bytearray(500 << 20)'", "hog", 30)
        assert job.exit_code == 137
        script = ("import os, time\nn = 0\ntry:\n    while n < 400:\n        if os.fork() == 0: time.sleep(30)\n"
                  "        n += 1\nexcept OSError: pass\nprint('forked', n)")
        await sandbox.write_file("/workspace/bomb.py", script.encode())
        job, output = await command(sandbox, "python3 bomb.py", "bomb", 30)
        forked = int(output.split("forked ")[-1].split()[0])
        assert 10 < forked < 64
        await sandbox.terminals.kill("bomb", force=True)
        job, output = await command(sandbox, "echo alive", "hog", 10)
        assert output == "alive\r\n"

    with box("docker", tmp_path, Host(name="small", memory_mb=128, pids=64, cpus=0.5)) as made:
        made.use(work)


def test_a_killed_container_is_unavailable_and_comes_back_with_its_files(tmp_path: Path) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        await command(sandbox, "echo kept > kept.txt")
        client = docker.from_env()
        try:
            client.containers.get(sandbox.name).kill()
        finally:
            client.close()
        with pytest.raises(Unavailable):
            await sandbox.terminals.list()
        await sandbox.start()
        assert await sandbox.terminals.list() == []
        job, output = await command(sandbox, "cat kept.txt; echo x > /tmp/x; echo y > ~/y")
        assert (job.exit_code, output) == (0, "kept\r\n")

    with box("docker", tmp_path) as made:
        made.use(work)


def test_the_bridge_serves_where_no_folder_can_be_mounted(tmp_path: Path) -> None:
    async def life() -> None:
        made = DockerSandbox("bridge-" + tmp_path.name, Host(name="far"), tmp_path, home=HOME, bridge=True)
        try:
            await made.start()
            job, output = await command(made, "seq 30000 | tail -1; (exit 3)")
            assert (job.exit_code, output) == (3, "30000\r\n")
            await made.close()
            assert (await made.terminals.list())[0].name == "t"
            assert len((await made.run(["head", "-c", "3000000", "/dev/zero"], limit=4 << 20)).output) == 3_000_000
        finally:
            await made.remove()

    asyncio.run(life())


def test_orphans_are_reaped_and_others_kept(tmp_path: Path) -> None:
    async def life() -> None:
        home = f"reaper-{tmp_path}"
        one, two = (DockerSandbox(f"{n}-{os.getpid()}", Host(name="h"), tmp_path / n, home=home)
                    for n in ("one", "two"))
        try:
            await one.start()
            await two.start()
            assert await reap(home, {one.session[:3], two.session[:3]}) == []  # helpers of kept sessions
            assert await reap(home, {two.session}) == [one.name]
            assert await two.terminals.list() == []
            client = docker.from_env()
            left = [v.name for v in client.volumes.list(filters={"label": f"tiphys.session={one.session}"})]
            client.close()
            assert left == []
        finally:
            await one.remove()
            await two.remove()
        assert await reap(home, ()) == []

    asyncio.run(life())


def test_equal_sessions_of_two_installations_share_nothing_on_an_engine(tmp_path: Path) -> None:
    async def life() -> None:
        homes, links = [tmp_path / name for name in "ab"], HostLinks(shared_folder=True, reach=("example.org",))
        for home in homes:
            home.mkdir()
        one, two = (DockerSandbox("s1", Host(name="main"), home, home=str(home), links=links) for home in homes)
        try:
            for name, made in (("a", one), ("b", two)):
                await made.start()
                written = await made.run(["sh", "-c", f"ls /workspace /shared; touch /workspace/{name} /shared/{name}"])
                assert written.output == b"/shared:\n\n/workspace:\n", "nothing of the other's is there"
            await two.remove()
            assert await reap(str(homes[1]), ()) == [], "its way out and network went with it"
            assert (await one.run(["ls", "/workspace", "/shared"])).output == b"/shared:\na\n\n/workspace:\na\n"
            assert await unfinished(str(homes[0]), ["s1"]) == ["s1"]
        finally:
            await one.remove()
            await two.remove()
        assert await unfinished(str(homes[0]), ["s1"]) == []

    asyncio.run(life())


def test_a_link_in_place_of_the_socket_is_not_followed(tmp_path: Path) -> None:
    """A container can write its socket's folder; it must not lead us to another socket of this machine."""
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "other"))
        other.listen()
        (tmp_path / "s").symlink_to(tmp_path / "other")

        async def connect() -> None:
            with pytest.raises(OSError):
                await connect_socket(tmp_path)
            (tmp_path / "s").unlink()
            (tmp_path / "s").write_text("")
            with pytest.raises(OSError):
                await connect_socket(tmp_path)

        asyncio.run(connect())


def test_a_missing_image_is_named(tmp_path: Path) -> None:
    async def life() -> None:
        made = DockerSandbox("no-image", Host(name="x", image="no/such:image"), tmp_path, home=HOME)
        try:
            with pytest.raises(NotFound, match="no/such:image"):
                await made.start()
        finally:
            await made.remove()

    asyncio.run(life())


@pytest.mark.parametrize("bridge", [None, True], ids=["socket", "bridge"])
def test_what_is_written_beside_the_socket_is_bounded_at_once(tmp_path: Path, bridge: bool | None) -> None:
    """1.5 GB in one breath: nothing measures in between, and nothing of it lies on this machine's disk."""
    async def life() -> None:
        made = DockerSandbox("fills-" + tmp_path.name, Host(name="main"), tmp_path, home=HOME, bridge=bridge)
        try:
            await made.start()
            filling = ("head -c 1500000000 /dev/zero > /run/tiphys/fill; stat -c %s /run/tiphys/fill; "
                       "for n in $(seq 200); do : > /run/tiphys/$n; done 2>&1 | tail -1")
            _, output = await command(made, filling)
            assert "No space left" in output, output
            sizes = [int(line) for line in output.split() if line.isdecimal()]
            assert sizes and sizes[0] <= SOCKET_BYTES
            assert sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file()) < SOCKET_BYTES
            await made.close()
            assert await made.terminals.list(), "and one can still come in"
        finally:
            await made.remove()

    asyncio.run(life())
