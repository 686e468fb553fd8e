"""What each host and service of a task has beside its own limits: data in place, the session's network, ways out."""

from __future__ import annotations

from pathlib import Path

from core.domain.errors import InvalidInput
from core.domain.host_rights import is_absolute
from core.domain.task import Data, Host, Task
from core.sandbox.placement import FolderMount, HostLinks, ways_out
from core.tasks.catalogue import Catalogue

FORBIDDEN = ("/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/etc")
"""Nobody's data: sockets, devices, and secrets of the machine."""


def links_of(task: Task, host: Host, catalogue: Catalogue, home: Path, lab_names: tuple[str, ...] = (), *,
             is_container: bool = True) -> HostLinks:
    """The links of one of a task's hosts or services; `lab_names` as in `ways_out`. Raises InvalidInput, NotFound for
    data that cannot be had."""
    reach = tuple(dict.fromkeys(name for one in task.members for name in ways_out(one, lab_names)))
    is_linked = is_container and task.is_linked
    return HostLinks(mounts=tuple(_mount(data, task, catalogue, home) for data in host.data), has_peers=is_linked,
                     peers=tuple(one.name for one in task.members) if is_linked else (),
                     shared_folder=is_container and task.shared_folder and host.program is None,
                     reach=reach if is_container else ())


def _mount(data: Data, task: Task, catalogue: Catalogue, home: Path) -> FolderMount:
    """What is read in place: of the task's folder, or what this computer's operator allowed by name."""
    if not is_absolute(data.source):
        return FolderMount(catalogue.file(task, data.source), data.target)
    return FolderMount(data_folder(data.source, home), data.target)


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
