"""The closed network of one session: its hosts reach each other by name, and nothing else; and its way out, a proxy.

The network's bridge has no address on the engine's machine (`inhibit_ipv4`), so no service of that machine can be
reached through it; there is no route outside; and names of the outside are not resolved, as that would be a way out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docker.errors
from docker.types import LogConfig

from core.domain.errors import Unavailable
from core.sandbox import egress
from core.sandbox.engine import Client

PORT = 3128
NAME = "egress"
NOBODY = "65534:65534"
NO_IPV6 = {"net.ipv6.conf.all.disable_ipv6": "1"}


def ensure_network(engine: Client, name: str, labels: dict[str, str]) -> str:
    """The session's network, made where it is not there yet; gives its name. Blocking."""
    if not engine.networks.list(names=[f"^{name}$"]):
        engine.networks.create(name, driver="bridge", internal=True, labels=labels, check_duplicate=True,
                               options={"com.docker.network.bridge.inhibit_ipv4": "true"})
    return name


def ensure_egress(engine: Client, name: str, network: str, image: str, reach: tuple[str, ...],
                  labels: dict[str, str]) -> None:
    """The session's proxy, running. Blocking. Raises Unavailable where it does not run."""
    try:
        container = engine.containers.get(name)
    except docker.errors.NotFound:
        container = _create(engine, name, network, image, reach, labels)
    if container.status != "running":
        container.start()
    container.reload()
    if container.status != "running":
        raise Unavailable("no_egress", f"The session's way out does not run: {container.logs(tail=3).decode()[-300:]}")


def _create(engine: Client, name: str, network: str, image: str, reach: tuple[str, ...],
            labels: dict[str, str]) -> Any:
    source = Path(egress.__file__).read_text(encoding="utf-8")
    container = engine.containers.create(
        image, ["-I", "-B", "-c", source, str(PORT), *reach], entrypoint=["python3"], name=name, labels=labels,
        hostname=NAME, user=NOBODY, working_dir="/", detach=True, network="bridge", init=True, cap_drop=["ALL"],
        security_opt=["no-new-privileges"], read_only=True, pids_limit=64, mem_limit=256 << 20,
        memswap_limit=256 << 20, nano_cpus=int(1e9), ipc_mode="private", sysctls=NO_IPV6,
        restart_policy={"Name": "on-failure"},
        log_config=LogConfig(type="json-file", config={"max-size": "1m", "max-file": "1"}))
    engine.networks.get(network).connect(container, aliases=[NAME])
    return container


def proxy_environment(peers: tuple[str, ...] = ()) -> dict[str, str]:
    """What tells programs of the way out."""
    url, direct = f"http://{NAME}:{PORT}", ",".join(("localhost", "127.0.0.1", *peers))
    return dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), url) | {
        "no_proxy": direct, "NO_PROXY": direct}
