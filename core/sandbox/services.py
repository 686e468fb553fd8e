"""The services of one session: each begins when what it waits for has come far enough, and all end with the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from core.domain.task import Host, Stage, start_order
from core.sandbox.placement import HERE, HostLinks, HostPlace
from core.sandbox.sandbox import Sandbox


class Service(Sandbox, Protocol):
    """A container whose own program runs; nothing else of a sandbox's is to be had there."""

    async def reached(self, stage: Stage) -> None:
        """Wait until it came so far. Raises Unavailable (service_failed) where it does not, with its last words."""
        ...

    async def is_up(self) -> None:
        """Wait until it runs, and is healthy where it says so, or has ended well. Raises as `reached`."""
        ...


def open_service(session: str, host: Host, folder: Path, image: str = "", *, home: str = "",
                 placement: HostPlace = HERE, links: HostLinks = HostLinks()) -> Service:
    """A service of a session, not started; the arguments as of `open_sandbox`."""
    from core.sandbox.service import ServiceSandbox  # the SDK takes 0.2 s to import

    return ServiceSandbox(session, host, folder, image or host.image, home=home, placement=placement, links=links)


class Services:
    """Those of one session, by name."""

    def __init__(self, services: Iterable[Service]) -> None:
        self.sandboxes = {one.host.name: one for one in services}

    async def start(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Start each in its turn, and wait for all; the session's hosts run already. Raises Unavailable
        (service_failed), NotFound (unknown_image)."""
        for host in start_order([one.host for one in self.sandboxes.values()]):
            service = self.sandboxes[host.name]
            for name, stage in (host.program.after if host.program else {}).items():
                if name in self.sandboxes:
                    tell(f"The service {host.name} waits for {name} ({stage})")
                    await self.sandboxes[name].reached(stage)
            tell(f"Starting the service {host.name}")
            await service.start()
        for service in self.sandboxes.values():
            await service.is_up()
        if self.sandboxes:
            tell("")

    async def remove(self) -> None:
        """End and delete all. Raises Unavailable."""
        for service in self.sandboxes.values():
            await service.remove()
