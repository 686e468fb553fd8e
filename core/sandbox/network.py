"""The closed network of one session: its hosts reach each other by name, and nothing else; and its way out, a proxy.

The network's bridge has no address on the engine's machine (`inhibit_ipv4`), so no service of that machine can be
reached through it; there is no route outside; and names of the outside are not resolved, as that would be a way out.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Network, ip_network
from pathlib import Path
from random import choice
from typing import Any

import docker.errors
from docker.types import IPAMConfig, IPAMPool, LogConfig

from core.domain.errors import Unavailable
from core.sandbox import egress
from core.sandbox.engine import Client

RANGE, SUBNET = IPv4Network("198.18.0.0/15"), 27
"""Where sessions' networks get their addresses: of RFC 2544, for tests of equipment, so that they are nobody's. Each
holds thirty hosts."""
TRIES = 8
PORT = 3128
NAME = "egress"
NOBODY = "65534:65534"
STARTS_S = 30.0
"""How long the proxy is waited for, in seconds."""

NO_IPV6 = {"net.ipv6.conf.all.disable_ipv6": "1"}


def ensure_network(engine: Client, name: str, labels: dict[str, str]) -> str:
    """The session's network, made where it is not there yet; gives its name. Blocking. Raises Unavailable where the
    engine has no addresses left for one."""
    refused = ""
    for _ in range(TRIES):
        if engine.networks.list(names=[f"^{name}$"]):
            return name
        try:
            engine.networks.create(name, driver="bridge", internal=True, labels=labels, check_duplicate=True,
                                   ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=str(_free_subnet(engine)))]),
                                   options={"com.docker.network.bridge.inhibit_ipv4": "true"})
        except docker.errors.APIError as error:  # another session took these addresses, or the name, meanwhile
            refused = str(error.explanation or error)
    raise Unavailable("no_network", f"The engine makes no network for the session: {refused[:300]}")


def _free_subnet(engine: Client) -> IPv4Network:
    """Addresses that no network of the engine has. The engine's own choice is at an end after some thirty networks."""
    given = [ip_network(config["Subnet"]) for network in engine.networks.list()
             for config in (network.attrs.get("IPAM") or {}).get("Config") or () if config.get("Subnet")]
    taken = {one.network_address for one in given if one.prefixlen == SUBNET}
    others = [one for one in given if one.prefixlen != SUBNET and one.version == RANGE.version]
    free = [one for one in RANGE.subnets(new_prefix=SUBNET)
            if one.network_address not in taken and not any(one.overlaps(other) for other in others)]
    if not free:
        raise Unavailable("no_network", f"The engine has {len(taken)} networks of sessions: delete or archive some.")
    return choice(free)


def ensure_egress(engine: Client, name: str, network: str, image: str, reach: tuple[str, ...],
                  labels: dict[str, str]) -> None:
    """The session's proxy, taking clients. Blocking. Raises Unavailable where it does not."""
    try:
        container = engine.containers.get(name)
    except docker.errors.NotFound:
        container = _create(engine, name, network, image, reach, labels)
    if container.status == "running":
        return
    container.start()
    end = time.monotonic() + STARTS_S  # one that an earlier version made does not say that it listens
    while egress.READY.encode() not in container.logs() and time.monotonic() < end:
        time.sleep(0.05)
        container.reload()
        if container.status not in ("running", "restarting"):
            words = container.logs(tail=3).decode("utf-8", "replace")[-300:]
            raise Unavailable("no_egress", f"The session's way out does not run: {words}")


def _create(engine: Client, name: str, network: str, image: str, reach: tuple[str, ...], labels: dict[str, str]) -> Any:
    source = Path(egress.__file__).read_text(encoding="utf-8")
    container = engine.containers.create(
        image, ["-I", "-B", "-c", source, str(PORT), *reach, *(f"!{one}" for one in own_addresses())],
        entrypoint=["python3"], name=name, labels=labels,
        hostname=NAME, user=NOBODY, working_dir="/", detach=True, network="bridge", init=True, cap_drop=["ALL"],
        security_opt=["no-new-privileges"], read_only=True, pids_limit=64, mem_limit=256 << 20,
        memswap_limit=256 << 20, nano_cpus=int(1e9), ipc_mode="private", sysctls=NO_IPV6,
        restart_policy={"Name": "on-failure"},
        log_config=LogConfig(type="json-file", config={"max-size": "1m", "max-file": "1"}))
    engine.networks.get(network).connect(container, aliases=[NAME])
    return container


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine, whose services no session is to reach; none where the system is no Linux."""
    with suppress(OSError):
        found = Path("/proc/net/fib_trie").read_text(encoding="ascii").split("\n")
        return sorted({found[n - 1].split()[-1] for n, line in enumerate(found) if "host LOCAL" in line})
    return []


def let_go(engine: Client, container: Any) -> None:
    """Of a container that stopped leave what a later start needs: its files, where they are its own. Blocking."""
    with suppress(docker.errors.NotFound):
        if container.attrs["HostConfig"].get("ReadonlyRootfs"):  # a host's files are in volumes, a proxy has none
            container.remove(force=True, v=True)
            return
        for name in container.attrs["NetworkSettings"]["Networks"]:
            engine.networks.get(name).disconnect(container, force=True)


def close_network(engine: Client, network: str, proxy: str) -> None:
    """Remove a session's network and proxy where none of its hosts is on it any more. Blocking."""
    with suppress(docker.errors.NotFound):
        found = engine.networks.get(network)
        if {one["Name"] for one in (found.attrs.get("Containers") or {}).values()} <= {proxy}:
            with suppress(docker.errors.NotFound):
                engine.containers.get(proxy).remove(force=True)
            found.remove()


def join_network(engine: Client, network: str, container: Any, name: str) -> None:
    """Have a container be known on a network by a name, where it is not on it. Blocking."""
    container.reload()
    if network not in container.attrs["NetworkSettings"]["Networks"]:
        engine.networks.get(network).connect(container, aliases=[name])


def proxy_environment(peers: Sequence[str] = ()) -> dict[str, str]:
    """What tells programs of the way out; `peers` are reached without it."""
    url, direct = f"http://{NAME}:{PORT}", ",".join(("localhost", "127.0.0.1", *peers))
    return dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), url) | {
        "no_proxy": direct, "NO_PROXY": direct}
