"""What an agent's host hands over to tests that run in a container of their own: named paths, and nothing else.

What comes is the agent's and may lie: only regular files are taken, to a folder of this machine first, and of these
only those at or below a path that the task names (Harbor, `harbor/trial/artifact_handler.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from core.domain.errors import InvalidInput, NotFound
from core.domain.task import Evaluator
from core.sandbox.archive import Bounds, receive, tar_of
from core.sandbox.sandbox import Sandbox
from core.tasks.submission import MAX_FILES

ROOT = "/"


class HandedOver:
    """What was there of the paths that a task names, on this machine."""

    def __init__(self, sources: Sequence[str], files: Sequence[tuple[str, Path]]) -> None:
        self.sources, self.files = sources, files

    async def place(self, target: Sandbox) -> None:
        """Lay it into another sandbox at the same paths, in the place of what its image has there."""
        if self.sources:
            await target.run(["rm", "-rf", "--", *(f"/{source}" for source in self.sources)])
            names = {name for name, _ in self.files}
            folders = [f"/{source}" for source in self.sources if source not in names]
            await target.run(["mkdir", "-p", "--", *folders, "/tmp"])
            await target.unpack(tar_of(self.files), ROOT)


@asynccontextmanager
async def handed_over(host: Sandbox, evaluator: Evaluator, folder: Path | None) -> AsyncIterator[HandedOver]:
    """What lies at an evaluator's absolute paths of a host now, but for what it leaves out; a path that is not there is
    passed over. It passes through `folder`. Raises LimitReached, InvalidInput (bad_tar), OSError, Unavailable."""
    with TemporaryDirectory(prefix="artifacts-", dir=folder) as place:
        sources = [path.strip("/") for path in evaluator.submission if await _is_there(host, path)]
        names: list[str] = []
        if sources:
            async with aclosing(host.pack(sources, ROOT)) as pieces:
                names = await receive(pieces, Path(place), Bounds(MAX_FILES, host.host.disk_mb << 20))
        for name in names:
            if not any(name == source or name.startswith(f"{source}/") for source in sources):
                raise InvalidInput("bad_tar", f"A sandbox gave {name[:80]!r}, which it was not asked for.")
        left_out = {path.strip("/"): patterns for path, patterns in evaluator.left_out.items()}
        yield HandedOver(sources, [(n, Path(place) / n) for n in names if not _is_left_out(n, left_out)])


def _is_left_out(name: str, left_out: Mapping[str, Sequence[str]]) -> bool:
    """Whether tar would leave a file out: a pattern is any run of the path's parts, and `*` may be several of them."""
    for source, patterns in left_out.items():
        if name.startswith(f"{source}/"):
            parts = name.removeprefix(f"{source}/").split("/")
            runs = ["/".join(parts[a:b]) for a in range(len(parts)) for b in range(a + 1, len(parts) + 1)]
            if any(fnmatchcase(run, pattern.strip("/")) for pattern in patterns for run in runs):
                return True
    return False


async def _is_there(host: Sandbox, path: str) -> bool:
    try:
        await host.stat(path)
    except NotFound as error:
        if error.code != "not_found":
            raise
        return False
    return True
