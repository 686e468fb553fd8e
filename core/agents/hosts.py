"""The hosts of one session: where each runs, what it reads in place, their start and the filling of workspaces."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from core.agents.journal import Journal
from core.domain.errors import Conflict, InvalidInput, ReportableError, Unavailable
from core.domain.host_rights import is_absolute
from core.domain.task import AgentSettings, Data, Host, Task
from core.sandbox.kinds import SandboxKind, open_sandbox
from core.sandbox.placement import HERE, FolderMount, HostLinks, HostPlace, ways_out
from core.sandbox.sandbox import Sandbox
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.images import own_image

_log = logging.getLogger("agent")

TRIES = 5
PLACES = "places.json"
"""The file in a session's folder that says where its hosts run; without it they run on this machine's engine."""

TELL_EVERY_S = 1.0
FORBIDDEN = ("/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/etc")
"""Nobody's data: sockets, devices, and secrets of the machine."""


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

    def for_evaluation(self) -> EvaluatorHosts | None:
        """What makes the evaluator's containers; None without Docker."""
        host = self._task.hosts[0]
        if self._settings.sandbox != "docker":
            return None
        return EvaluatorHosts(self._journal.session, host, self._folder / "evaluation", str(self._home),
                              self._images.get(host.name, ""), read_places(self._folder).get(host.name, HERE),
                              self._lab_names, own_image(self._task, self._images))

    async def end(self) -> None:
        """After the end of the session nothing runs any more; files stay."""
        for host in self.sandboxes.values():
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

    def _links(self, host: Host, placement: HostPlace) -> HostLinks:
        if host.data and not placement.has_data:
            raise Conflict("no_data_there", f"Host {host.name} reads data of this computer, which {placement.place} "
                           "does not have.", host=host.name)
        task = self._task
        reach = tuple(dict.fromkeys(name for one in task.hosts for name in ways_out(one, self._lab_names)))
        is_container = self._settings.sandbox == "docker" and not host.machine
        return HostLinks(mounts=tuple(self._mount(data) for data in host.data),
                         has_peers=is_container and task.peers and len(task.hosts) > 1,
                         shared_folder=is_container and task.shared_folder,
                         reach=reach if is_container else ())

    def _mount(self, data: Data) -> FolderMount:
        """What a host reads in place: of the task's folder, or what this computer's operator allowed by name."""
        if not is_absolute(data.source):
            return FolderMount(self._catalogue.file(self._task, data.source), data.target)
        return FolderMount(data_folder(data.source, self._home), data.target)


def data_folder(source: str, home: Path) -> Path:
    """A folder or file of this machine that may be read as data. Raises InvalidInput (bad_data)."""
    try:
        path = Path(source).resolve(strict=True)
        own = home.resolve()
    except (OSError, RuntimeError) as error:
        raise InvalidInput("bad_data", f"The data {source} cannot be read: {error}.", path=source) from error
    walls = [own, *map(Path, FORBIDDEN)]
    if not (path.is_dir() or path.is_file()) or any(path.is_relative_to(w) or w.is_relative_to(path) for w in walls):
        raise InvalidInput("bad_data", f"{source} cannot be given to a host as data: it must be a file or folder that "
                           "holds neither the system's own files nor the program's.", path=source)
    return path


def read_places(folder: Path) -> dict[str, HostPlace]:
    """Where the pool placed a session's hosts, by name. Raises Conflict (no_place) for a file that is damaged."""
    try:
        return msgspec.json.decode((folder / PLACES).read_bytes(), type=dict[str, HostPlace])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
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
