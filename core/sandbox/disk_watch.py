"""Watches how much the hosts of a session write: volumes have no quota, and an engine's disk is everybody's."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Iterable
from time import monotonic
from typing import TypeVar

from core.aio import TaskScope
from core.domain.errors import LimitReached, Unavailable
from core.sandbox.sandbox import Sandbox

LOOK_S, SHARE = 5.0, 10
"""The disk is measured so often, and so that measuring takes no more than a tenth of the time."""

T = TypeVar("T")

_log = logging.getLogger("sandbox")


async def unless_full(work: Awaitable[T], hosts: Iterable[Sandbox]) -> T:
    """Do the work to its end, and give what it gives, or until a host holds more than its `disk_mb`.

    Such a host is stopped, so that nothing writes on; its files stay. Raises LimitReached (limit_disk), and what the
    work raises.
    """
    worker = asyncio.current_task()
    assert worker is not None
    full: list[tuple[Sandbox, LimitReached]] = []

    async def watch() -> None:
        full.append(await _first_full(list(hosts)))
        worker.cancel()

    async with TaskScope("disk") as scope:
        scope.spawn(watch(), name="watch")
        try:
            return await work
        except asyncio.CancelledError:
            if not full or worker.uncancel():
                raise
        host, problem = full[0]
        with contextlib.suppress(Unavailable):  # where it does not answer now, it is stopped with its session
            await host.stop()
        raise problem


async def _first_full(hosts: list[Sandbox]) -> tuple[Sandbox, LimitReached]:
    took = 0.0
    while True:
        await asyncio.sleep(max(LOOK_S, SHARE * took))
        began = monotonic()
        for host in hosts:
            if problem := await _problem(host):
                return host, problem
        took = monotonic() - began


async def _problem(host: Sandbox) -> LimitReached | None:
    try:
        used = await host.disk_used()
        if used <= host.host.disk_mb << 20:
            return None
    except Unavailable as error:
        _log.info("the disk of %s cannot be watched now: %s", host.host.name, error.sentence)
        return None
    return LimitReached("limit_disk", f"Host {host.host.name} holds {used >> 20:,} MiB; its task allows "
                        f"{host.host.disk_mb:,}. What ran there was stopped, its files are still there.",
                        host=host.host.name, used=used, limit=host.host.disk_mb << 20)
