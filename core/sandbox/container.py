"""What a host's container is made with: its limits, its folders, its GPUs and its network. Values only."""

from typing import Any

from docker.types import DeviceRequest, LogConfig, Mount, Ulimit

from core.domain.task import Host
from core.sandbox.network import NO_IPV6
from core.sandbox.placement import HostLinks

SOCKET = "/run/tiphys"
SHARED = "/shared"
WRITABLE = {"workspace": "/workspace", "home": "/home/agent"}


def limits(host: Host, cpus: float, gpus: tuple[str, ...]) -> dict[str, Any]:
    """Limits of memory, processes, CPUs and files; the GPUs that the host was given, by the engine's ids."""
    memory = max(64, host.memory_mb) << 20
    devices = [DeviceRequest(driver="nvidia", device_ids=[*gpus], capabilities=[["gpu"]])] if gpus else None
    return {
        "init": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "read_only": True,
        "pids_limit": max(16, host.pids), "mem_limit": memory, "memswap_limit": memory,
        "nano_cpus": int(min(host.cpus, cpus) * 1e9), "ipc_mode": "private", "device_requests": devices,
        "ulimits": [Ulimit(name="nofile", soft=4096, hard=4096), Ulimit(name="core", soft=0, hard=0),
                    Ulimit(name="fsize", soft=host.disk_mb << 20, hard=host.disk_mb << 20)],
        "log_config": LogConfig(type="json-file", config={"max-size": "1m", "max-file": "1"}),
    }


ROOT_RIGHTS = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"]
"""What root needs to install packages, to take another account and to look at everybody's files, and nothing that
reaches out of the container: no devices, no mounts, no other names (capabilities(7))."""


def as_root() -> dict[str, Any]:
    """How programs run as root of their container."""
    return {"user": "0:0", "cap_add": ROOT_RIGHTS}


def folders(host: Host, volumes: dict[str, str], socket_volume: str, links: HostLinks) -> dict[str, Any]:
    """Volumes by where they appear, what is read in place, and bounded tmpfs for the rest that may be written."""
    part = max(16, min(512, host.memory_mb // 4))
    mounts = [Mount(target, volume, type="volume") for target, volume in volumes.items()]
    mounts += read_in_place(links)
    mounts.append(Mount(SOCKET, socket_volume, type="volume", no_copy=True))
    tmpfs = {"/tmp": f"size={part}m,mode=1777,exec", "/run/ptyd": f"size={min(part, 64)}m,mode=1777"}
    return {"mounts": mounts, "tmpfs": tmpfs}


def read_in_place(links: HostLinks) -> list[Mount]:
    """The folders and files of this machine that a container sees."""
    return [Mount(m.target, str(m.source), type="bind", read_only=not m.is_writable) for m in links.mounts]


def networking(network: str, environment: dict[str, str]) -> dict[str, Any]:
    """No network, or the session's closed one; outside names are resolved by nobody."""
    if not network:
        return {"network_mode": "none", "environment": environment}
    return {"network": network, "dns": ["127.0.0.1"], "sysctls": NO_IPV6, "environment": environment}
