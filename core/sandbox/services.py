"""The services of one session: each begins when what it waits for has come far enough, and all end with the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.task import Host, start_order
from core.sandbox.placement import HERE, HostLinks, HostPlace

if TYPE_CHECKING:
    from core.sandbox.service import ServiceSandbox


def open_service(session: str, host: Host, folder: Path, image: str = "", *, home: str = "",
                 placement: HostPlace = HERE, links: HostLinks = HostLinks()) -> ServiceSandbox:
    """A service of a session, not started; the arguments as of `open_sandbox`."""
    from core.sandbox.service import ServiceSandbox  # the SDK takes 0.2 s to import

    return ServiceSandbox(session, host, folder, image or host.image, home=home, placement=placement, links=links)


class Services:
    """Those of one session, by name."""

    def __init__(self, services: Iterable[ServiceSandbox]) -> None:
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
