"""The hosts of one session: where each runs, what it reads in place, their start and the filling of workspaces."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from core.agents.journal import Journal
from core.domain.errors import Conflict, ReportableError, Unavailable
from core.domain.task import AgentSettings, Host, Task
from core.sandbox.kinds import SandboxKind, open_sandbox
from core.sandbox.placement import HERE, HostLinks, HostPlace
from core.sandbox.sandbox import Sandbox
from core.sandbox.services import Services, open_service
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.host_links import links_of
from core.tasks.images import own_image

if TYPE_CHECKING:
    from core.sandbox.service import ServiceSandbox

_log = logging.getLogger("agent")

TRIES = 5
PLACES = "places.json"
"""The file in a session's folder that says where its hosts run; without it they run on this machine's engine."""

TELL_EVERY_S = 1.0


class SessionHosts:
    """Makes the sandboxes of a session's hosts; whoever holds it starts and ends them through it."""

    def __init__(self, journal: Journal, task: Task, settings: AgentSettings, catalogue: Catalogue, folder: Path,
                 home: Path, images: Mapping[str, str] = MappingProxyType({}), lab_names: tuple[str, ...] = ()) -> None:
        """`folder` is the session's, `images` what was built for its hosts; `lab_names` as in `ways_out`. Raises
        InvalidInput, NotFound, Conflict for data or places that cannot be had."""
        self._journal, self._task, self._settings = journal, task, settings
        self._catalogue, self._folder, self._home = catalogue, folder, home
        self._images, self._lab_names = images, lab_names
        places = read_places(folder)
        self.sandboxes: dict[str, Sandbox] = {host.name: self._made(host, places) for host in task.hosts}
        self.services = Services(self._service(host, places) for host in task.services)

    @property
    def first(self) -> Sandbox:
        """The default host."""
        return next(iter(self.sandboxes.values()))

    async def open(self, on_progress: Callable[[str], None]) -> None:
        """Start the sandboxes, with patience for an engine that is just restarting; fill them once."""
        for attempt in range(1, TRIES + 1):
            try:
                for host in self.sandboxes.values():
                    await host.start()
                break
            except Unavailable as error:
                if attempt == TRIES:
                    raise
                _log.warning("%s Attempt %d follows.", error.sentence, attempt + 1)
                await asyncio.sleep(2.0 ** attempt)
        if not self._journal.slot("filled", bool):
            filling = HostFilling(self._task, self._catalogue)
            for name, host in self.sandboxes.items():
                await filling.fill(host, _progress_words(name, filling.size, on_progress))
            self._journal.put_slot("filled", True)
            on_progress("")
        await self.services.start(on_progress)

    @property
    def all(self) -> list[Sandbox]:
        """The hosts and the services: whatever of the session writes."""
        return [*self.sandboxes.values(), *self.services.sandboxes.values()]

    def for_evaluation(self) -> EvaluatorHosts | None:
        """What makes the evaluator's containers; None without Docker."""
        host = self._task.hosts[0]
        if self._settings.sandbox != "docker":
            return None
        return EvaluatorHosts(self._journal.session, host, self._folder / "evaluation", str(self._home),
                              self._images.get(host.name, ""), read_places(self._folder).get(host.name, HERE),
                              self._lab_names, own_image(self._task, self._images),
                              tuple(self.services.sandboxes))

    async def end(self) -> None:
        """After the end of the session nothing runs any more; files stay."""
        for host in (*self.services.sandboxes.values(), *self.sandboxes.values()):
            try:
                await host.stop()
            except ReportableError as error:
                _log.warning("%s", error.sentence)

    def _made(self, host: Host, places: Mapping[str, HostPlace]) -> Sandbox:
        placement = places.get(host.name, HERE)
        if len(placement.gpus) != host.gpus or bool(host.machine) != (placement.kind == "machine"):
            raise Conflict("no_place", f"Host {host.name} asks for {host.gpus} GPUs"
                           f"{f' of the machine {host.machine}' if host.machine else ''}, which the host pool of this "
                           "server did not give it.", host=host.name)
        kind: SandboxKind = "machine" if host.machine else self._settings.sandbox
        return open_sandbox(kind, self._journal.session, host, self._folder, self._images.get(host.name, ""),
                            home=str(self._home), placement=placement, links=self._links(host, placement))

    def _service(self, host: Host, places: Mapping[str, HostPlace]) -> ServiceSandbox:
        placement = places.get(host.name, HERE)
        return open_service(self._journal.session, host, self._folder, self._images.get(host.name, ""),
                            home=str(self._home), placement=placement, links=self._links(host, placement))

    def _links(self, host: Host, placement: HostPlace) -> HostLinks:
        if host.data and not placement.has_data:
            raise Conflict("no_data_there", f"Host {host.name} reads data of this computer, which {placement.place} "
                           "does not have.", host=host.name)
        return links_of(self._task, host, self._catalogue, self._home, self._lab_names,
                        is_container=self._settings.sandbox == "docker" and not host.machine)


def read_places(folder: Path) -> dict[str, HostPlace]:
    """Where the pool placed a session's hosts, by name. Raises Conflict (no_place) for a file that is damaged."""
    try:
        return msgspec.json.decode((folder / PLACES).read_bytes(), type=dict[str, HostPlace])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise Conflict("no_place", f"{folder / PLACES} cannot be read: {error}") from error


def _progress_words(name: str, total: int, on_progress: Callable[[str], None]) -> Callable[[int], None]:
    """Puts progress into words, at most once a second."""
    last = 0.0

    def tell(moved: int) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_EVERY_S:
            last = time.monotonic()
            on_progress(f"Filling the workspace of {name}: {moved >> 20:,} of {total >> 20:,} MiB")

    return tell
