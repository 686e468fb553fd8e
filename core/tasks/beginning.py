"""What a host holds when a session begins: the task's workspace, and its packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from core.domain.task import Task
from core.sandbox.archive import tar_of
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Progress
from core.tasks.catalogue import Catalogue

PACKAGES = "conda"
"""Where packages are unpacked in a workspace, as InnovatorBench has them."""

_PIECE = 1 << 20


class HostFilling:
    """Lays what a task has for its hosts into each of them, as streams."""

    def __init__(self, task: Task, catalogue: Catalogue) -> None:
        """Raises InvalidInput, NotFound, LimitReached for a task whose folder does not hold what it names."""
        self._files = catalogue.paths(task, task.workspace) if task.workspace else []
        self._packages = catalogue.file(task, task.packages) if task.packages else None

    @property
    def size(self) -> int:
        """How many bytes a host is given."""
        return sum(path.stat().st_size for path in (*(p for _, p in self._files), *filter(None, [self._packages])))

    async def fill(self, host: Sandbox, progress: Progress | None = None) -> None:
        """Give a host what it is to hold. Raises InvalidInput, Unavailable."""
        if self._files:
            await host.unpack(tar_of(self._files), progress=progress)
        if self._packages:
            await host.unpack(_pieces(self._packages), f"{host.workspace}/{PACKAGES}", progress=progress)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while data := await asyncio.to_thread(file.read, _PIECE):
            yield data
