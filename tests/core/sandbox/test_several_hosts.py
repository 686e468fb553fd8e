"""Several hosts of one session: their names, their folder, their data and their way out; and what is closed to them."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest
from support.sandboxes import HOME, need_engine

from core.domain.ids import new_id
from core.domain.task import Host
from core.sandbox.docker import DockerSandbox
from core.sandbox.image import build_base
from core.sandbox.network import ensure_network
from core.sandbox.placement import FolderMount, HostLinks
from core.sandbox.reaper import count, reap, remove, stop, unfinished
from core.sandbox.sandbox import Sandbox
from core.sandbox.state import StateSandbox

pytestmark = pytest.mark.docker
Work = Callable[[DockerSandbox, DockerSandbox], Awaitable[None]]


@contextmanager
def engine() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    try:
        yield client
    finally:
        client.close()


def on_two(tmp_path: Path, work: Work, links: HostLinks, **second: object) -> None:
    need_engine()
    session = new_id()
    hosts = (Host(name="one"), Host(name="two", **second))  # type: ignore[arg-type]

    async def life() -> None:
        boxes = [DockerSandbox(session, host, tmp_path, home=HOME, links=links) for host in hosts]
        try:
            for box in boxes:
                await box.start()
            await work(boxes[0], boxes[1])
        finally:
            for box in boxes:
                await box.remove()

    asyncio.run(life())
    with engine() as client:
        assert not [c for c in client.containers.list(all=True, ignore_removed=True) if session in c.name]
        assert not [n for n in client.networks.list() if session in n.name]
        assert not [v for v in client.volumes.list() if session in v.name]


async def out(host: Sandbox, script: str, timeout: float = 30.0) -> str:
    """What a shell script prints, then its exit code."""
    ran = await host.run(["bash", "-c", script], timeout=timeout)
    return f"{ran.output.decode().strip()} {ran.exit_code}".strip()


def test_two_hosts_share_a_folder_and_reach_each_other_by_name(tmp_path: Path) -> None:
    async def work(one: DockerSandbox, two: DockerSandbox) -> None:
        assert await out(one, "echo from one > /shared/note") == "0"
        assert await out(two, "cat /shared/note; echo more >> /shared/note") == "from one 0"
        await two.terminals.open("serve")
        await two.terminals.command("serve", "j1", "cd /shared && python3 -m http.server 8123 --bind 0.0.0.0")
        await out(one, "for n in $(seq 50); do curl -sfo /dev/null http://two:8123/note && break; sleep 0.1; done")
        assert await out(one, "curl -sf http://two:8123/note") == "from one\nmore 0"
        await one.stop()
        await one.start()  # its name is known again when it comes back
        assert await out(two, "getent hosts one >/dev/null") == "0"

    on_two(tmp_path, work, HostLinks(has_peers=True, shared_folder=True))


@contextmanager
def service() -> Iterator[int]:
    """A service of this machine on all its addresses; its port."""
    listener = socket.create_server(("0.0.0.0", 0))
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _accept(listener: socket.socket) -> None:
    try:
        while True:
            listener.accept()[0].close()
    except OSError:
        pass


def addresses() -> list[str]:
    """All addresses of this machine, IPv4."""
    found = Path("/proc/net/fib_trie").read_text().split("\n")
    return sorted({found[n - 1].split()[-1] for n, line in enumerate(found) if "host LOCAL" in line} - {"127.0.0.1"})


TRY = ('python3 -c "import socket; socket.create_connection((\'{}\', {}), 2)" >/dev/null 2>&1 && echo open')


def test_a_network_of_a_session_leads_nowhere_else(tmp_path: Path) -> None:
    async def work(one: DockerSandbox, two: DockerSandbox) -> None:
        with service() as port:
            for address in [*addresses(), "169.254.169.254", "1.1.1.1"]:
                assert "open" not in await out(one, TRY.format(address, port))
                assert "open" not in await out(one, TRY.format(address, 80))
        gateway = (await out(one, "python3 -c \"import socket; print(socket.gethostbyname('two').rsplit('.', 1)[0])\""))
        assert "open" not in await out(one, TRY.format(f"{gateway.split()[0]}.1", port))
        assert (await out(one, "getent hosts pypi.org")).endswith("2")  # a name that is asked for is a way out
        assert (await out(one, "cat /proc/net/if_inet6")).replace("0", "") in ("", "1 1 8 lo")

    on_two(tmp_path, work, HostLinks(has_peers=True))


def test_the_way_out_leads_to_what_is_named_and_nowhere_else(tmp_path: Path) -> None:
    async def work(one: DockerSandbox, two: DockerSandbox) -> None:
        fetch = "curl -s -m 10 -o /dev/null -w '%{http_code} %{http_connect}' "
        with engine() as client:
            outside = client.containers.run(
                two.image or client.containers.get(two.name).image.id, ["-m", "http.server", "80"], detach=True,
                entrypoint="python3", labels=two.labels, user="0:0", working_dir="/opt")
            outside.reload()
            address = outside.attrs["NetworkSettings"]["Networks"]["bridge"]["IPAddress"]
        try:
            await out(two, f"for n in $(seq 50); do curl -sfo /dev/null http://{address}/ && break; sleep 0.1; done")
            assert await out(two, f"{fetch} http://{address}/") == "200 000 0"
            assert await out(two, f"{fetch} http://{address}:81/") == "403 000 0"
            assert await out(two, f"{fetch} http://example.org/") == "403 000 0"
            assert await out(two, f"{fetch} https://example.org/") == "000 403 56"
            assert await out(two, f"{fetch} http://169.254.169.254/latest/meta-data") == "403 000 0"
            assert await out(two, f"{fetch} http://127.0.0.1:3128/ --noproxy x") == "403 000 0"
            assert (await out(two, f"{fetch} --noproxy '*' http://{address}/")).startswith("000 000")
            with service() as port:
                assert await out(two, f"{fetch} http://{addresses()[0]}:{port}/") == "403 000 0"
            assert await out(one, "env | grep -ci proxy") == "0 1"
        finally:
            with engine() as client:
                client.containers.get(outside.name).remove(force=True)

    with engine() as client:
        subnet = client.networks.get("bridge").attrs["IPAM"]["Config"][0]["Subnet"]
    names = (*(f"{subnet.rsplit('.', 2)[0]}.0.{n}" for n in range(2, 60)), "169.254.169.254", "127.0.0.1:3128")
    on_two(tmp_path, work, HostLinks(reach=names), reach=names)


def test_a_host_with_a_network_reaches_no_private_address(tmp_path: Path) -> None:
    async def work(one: DockerSandbox, two: DockerSandbox) -> None:
        for address in [*addresses(), "169.254.169.254", "10.0.0.1", "127.0.0.1", "[::1]", "0.0.0.0"]:
            fetch = f"curl -s -m 10 -o /dev/null -w '%{{http_code}}' --noproxy x http://{address}/"
            assert await out(two, fetch) == "403 0"

    on_two(tmp_path, work, HostLinks(reach=("*",)), network=True)


def test_data_of_five_gigabytes_are_shown_and_not_copied_and_cannot_be_changed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with (data / "large").open("wb") as file:
        file.truncate(5 << 30)
    (data / "small").write_text("rows\n")
    (data / "small").chmod(0o666)

    async def work(one: DockerSandbox, two: DockerSandbox) -> None:
        await one.remove()
        one.links = HostLinks(mounts=(FolderMount(data, "/data/set"),))
        await one.start()
        assert await out(one, "cat /data/set/small; stat -c %s /data/set/large") == f"rows\n{5 << 30} 0"
        assert "Read-only file system" in await out(one, "touch /data/set/x 2>&1")
        assert "Read-only file system" in await out(one, "echo x >> /data/set/small 2>&1")
        (data / "small").write_text("other rows\n")
        assert await out(one, "cat /data/set/small") == "other rows 0", "it is the folder itself, no copy"

    on_two(tmp_path, work, HostLinks())
    assert (data / "small").read_text() == "other rows\n"


def test_what_a_session_leaves_behind_is_removed_with_its_network(tmp_path: Path) -> None:
    need_engine()
    session, home = new_id(), f"leave-{os.getpid()}"

    async def leave() -> None:
        links = HostLinks(has_peers=True, shared_folder=True, reach=("example.org",))
        box = DockerSandbox(session, Host(name="one", reach=("example.org",)), tmp_path, home=home, links=links)
        await box.start()
        await box.close()

    asyncio.run(leave())
    assert len(asyncio.run(remove(home, [session], []))) == 2  # the host, and the way out
    assert asyncio.run(reap(home, [])) == []
    with engine() as client:
        assert not [n for n in client.networks.list() if session in n.name]
        assert not [v for v in client.volumes.list() if session in v.name]


def test_more_networks_are_made_than_the_engine_has_addresses_of_its_own_for() -> None:
    need_engine()
    names = [f"tiphys-test-{new_id()}-{n}" for n in range(40)]
    with engine() as client:
        try:
            for name in names:
                assert ensure_network(client, name, {}) == name
            assert ensure_network(client, names[0], {}) == names[0]
            made = [network for network in client.networks.list() if network.name in names]
            subnets = {network.attrs["IPAM"]["Config"][0]["Subnet"] for network in made}
            assert len(made) == len(subnets) == 40
        finally:
            for network in client.networks.list():
                if network.name in names:
                    network.remove()


def base() -> str:
    """The product's own base, as the image of a task."""
    with engine() as client:
        return build_base(client)


@pytest.mark.parametrize("kind", ["workspace", "state"])
def test_after_its_end_a_session_has_no_network_and_its_next_start_makes_it_again(tmp_path: Path, kind: str) -> None:
    need_engine()
    session = new_id()
    links = HostLinks(has_peers=True, reach=("example.org",))

    def left(client: docker.DockerClient, what: str) -> list[str]:
        found = getattr(client, what).list(**({} if what == "networks" else {"all": True}))
        return sorted(one.name.partition(f"{session}-")[2] for one in found if session in one.name)

    def made(name: str) -> DockerSandbox:
        host = Host(name=name, reach=("example.org",), workdir="/opt/work" if kind == "state" and name == "one" else "")
        sandbox = StateSandbox if host.workdir else DockerSandbox
        return sandbox(session, host, tmp_path, home=HOME, links=links, image=base() if host.workdir else "")

    async def life(client: docker.DockerClient) -> None:
        boxes = [made("one"), made("two")]
        try:
            for box in boxes:
                await box.start()
            reaches = "getent hosts two >/dev/null && getent hosts egress >/dev/null"
            assert await out(boxes[0], f"echo mine > ~/note; {reaches}") == "0"
            await boxes[0].stop()
            assert left(client, "networks") == ["-network"], "the other host still works"
            await boxes[1].stop()
            assert left(client, "networks") == []
            assert left(client, "containers") == (["one"] if kind == "state" else []), "its files are its own"
            boxes = [made("one"), made("two")]
            for box in boxes:
                await box.start()
            assert await out(boxes[0], f"cat ~/note; {reaches}") == "mine 0"
            assert await out(boxes[1], "getent hosts one >/dev/null") == "0"
        finally:
            for box in boxes:
                await box.remove()

    with engine() as client:
        asyncio.run(life(client))
        assert left(client, "networks") == left(client, "containers") == []


def test_networks_of_sessions_whose_runner_died_go_with_their_end(tmp_path: Path) -> None:
    need_engine()
    session, home = new_id(), f"died-{os.getpid()}"

    async def life() -> None:
        box = DockerSandbox(session, Host(name="one"), tmp_path, home=home, links=HostLinks(has_peers=True))
        await box.start()
        await box.close()
        try:
            assert await unfinished(home, ["another", session]) == [session]
            await stop(home, [session])
            assert await unfinished(home, [session]) == []
            assert await count(home, session) == 1, "its files are there still"
        finally:
            await box.remove()

    asyncio.run(life())
