"""What the server says to systemd (sd_notify): that it listens, that it ends, and that it is alive. Elsewhere: nothing.

The protocol: datagrams of `NAME=VALUE` lines to the socket that $NOTIFY_SOCKET names (man sd_notify).
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

_log = logging.getLogger("wire")

VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "INVOCATION_ID")
"""What is between the service manager and the server alone: no process that the server starts may have it."""


def notify(*lines: str) -> None:
    """Tell the service manager, where there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as wire:
            wire.connect(address)
            wire.sendall("\n".join(lines).encode())
    except OSError as error:
        _log.warning("the service manager cannot be told %s: %s", lines[0], error)


def watchdog_s() -> float:
    """How often the service manager wants to hear that we live, in seconds; 0 where it does not ask us."""
    try:
        asked = int(os.environ.get("WATCHDOG_USEC", "0")) / 1e6
        is_ours = int(os.environ.get("WATCHDOG_PID", os.getpid())) == os.getpid()
    except ValueError:
        return 0.0
    return asked if is_ours else 0.0


async def keep_alive(prove: Callable[[], Awaitable[bool]]) -> None:
    """Say so twice in each time that is asked for, as long as `prove` says that work gets done; until cancelled.

    A loop that hangs says nothing, and a writer that hangs makes `prove` say no: then the manager starts us anew.
    """
    every = watchdog_s() / 2
    while every:
        if await prove():
            notify("WATCHDOG=1")
        await asyncio.sleep(every)


def child_environment(home: Path) -> dict[str, str]:
    """The environment: ours, with which the program is found from any folder, and the home; without what the service
    manager told the server alone."""
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    ours = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return {**ours, "PYTHONPATH": paths, "TIPHYS_HOME": str(home)}
