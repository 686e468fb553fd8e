"""The kinds of sandboxes, and the opening of one by its kind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from core.domain.errors import InvalidInput
from core.domain.task import Host
from core.sandbox.local import LocalSandbox
from core.sandbox.machine import MachineSandbox
from core.sandbox.placement import HERE, HostLinks, HostPlace
from core.sandbox.sandbox import Sandbox

SandboxKind = Literal["docker", "local", "machine"]


def open_sandbox(kind: SandboxKind, session: str, host: Host, folder: Path, image: str = "", *,
                 home: str = "", placement: HostPlace = HERE, links: HostLinks = HostLinks(),
                 places: Sequence[str] = (), as_root: bool = False) -> Sandbox:
    """The sandbox of one host of a session; nothing is started yet.

    `folder` is the session's own folder on this machine; `image` overrides the host's; `home` labels the
    containers of one installation, so that its reaper finds them. `placement` says on which engine or machine the host
    runs, `links` what it has beside its own limits; `places` are folders of a host with a state of its own
    (`Host.workdir`) that do not belong to that state, and whose programs may run `as_root` of its container.
    Raises InvalidInput for what the kind cannot meet.
    """
    if kind == "docker":
        if host.workdir:
            from core.sandbox.state import StateSandbox

            return StateSandbox(session, host, folder, image or host.image, home=home, placement=placement,
                                links=links, places=places, as_root=as_root)
        from core.sandbox.docker import DockerSandbox  # the SDK takes 0.2 s to import

        return DockerSandbox(session, host, folder, image or host.image, home=home, placement=placement, links=links)
    if host.workdir:
        raise InvalidInput("sandbox_kind", f"Host {host.name} works in the files of an image, which takes Docker.")
    if kind == "local":
        if links != HostLinks():
            raise InvalidInput("sandbox_kind", "The unconfined local sandbox mounts no folders and has no network of "
                               "its own; use Docker.")
        return LocalSandbox(session, host, folder)
    if kind == "machine":
        return MachineSandbox(session, host, placement, home=home)
    raise InvalidInput("sandbox_kind", f"There is no sandbox of the kind {kind!r}.")
