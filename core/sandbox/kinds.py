"""The kinds of sandboxes, and the opening of one by its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from core.domain.errors import InvalidInput
from core.domain.task import Host
from core.sandbox.local import LocalSandbox
from core.sandbox.sandbox import Sandbox

SandboxKind = Literal["docker", "local"]


def open_sandbox(kind: SandboxKind, session: str, host: Host, folder: Path, image: str = "", *,
                 home: str = "") -> Sandbox:
    """The sandbox of one host of a session; nothing is started yet.

    `folder` is the session's own folder on this machine; `image` overrides the host's; `home` labels the
    containers of one installation, so that its reaper finds them.
    """
    if kind == "docker":
        from core.sandbox.docker import DockerSandbox  # the SDK takes 0.2 s to import

        return DockerSandbox(session, host, folder, image or host.image, home=home)
    if kind == "local":
        return LocalSandbox(session, host, folder)
    raise InvalidInput("sandbox_kind", f"There is no sandbox of the kind {kind!r}.")
