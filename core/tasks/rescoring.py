"""Scoring what lies in the log once more, by an evaluator that changed or by a judge: no agent and no host of it is
needed, only what was handed in."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.domain.ids import new_id
from core.domain.task import Evaluator, Task
from core.sandbox.archive import Bounds, receive
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.folder import content_of
from core.tasks.handing_in import evaluator_files, score_files
from core.tasks.scoring import Outcome, failed
from core.tasks.submission import MAX_FILES

VERSION_DIGITS = 12
_PIECE = 1 << 20


class Rescorer(Protocol):
    """Who scores stored submissions. `name` and `version` say who that is: another version may say something else."""

    name: str
    version: str

    async def score(self, packed: bytes) -> Outcome:
        """The outcome of a submission, as the tar that the log holds."""


class ScriptRescorer:
    """The script of a task as it is now, in containers of the task's own image, or in plain processes."""

    def __init__(self, task: Task, catalogue: Catalogue, folder: Path, home: str, images: Mapping[str, str],
                 check: Callable[[], None], *, confined: bool = True) -> None:
        """`folder` is where submissions pass through, `images` what was built for the task's hosts; `check` as in
        `HandingIn`. Raises InvalidInput (not_rescorable) for a task that scores no files, and as `evaluator_files`."""
        require_rescorable(task)
        self._task, self._catalogue, self._check, self._folder = task, catalogue, check, folder
        host = task.hosts[0]
        self._bounds = Bounds(MAX_FILES, host.disk_mb << 20)
        self._hosts = EvaluatorHosts(f"rescore-{new_id()}", host, folder, home, images.get(host.name, "")
                                     ) if confined else None
        self.name = task.evaluator.script
        self.version = evaluator_version(task, catalogue)

    async def score(self, packed: bytes) -> Outcome:
        """See Rescorer. A submission that lacks a path that the evaluator names was handed in to another evaluator."""
        with tempfile.TemporaryDirectory(prefix="rescore-", dir=self._folder) as place:
            try:
                names = await receive(_pieces(packed), Path(place), self._bounds)
            except (ReportableError, OSError) as error:
                return failed(f"What was handed in cannot be read: {error}", "submission_unreadable")
            wanted = self._task.evaluator.submission
            if lacking := [path for path in wanted if not any(_lies_in(name, path) for name in names)]:
                return failed(f"The evaluator asks for {', '.join(lacking)}, which was not handed in.",
                              "submission_lacks_files")
            files = [(name, Path(place) / name) for name in names if any(_lies_in(name, path) for path in wanted)]
            return await score_files(self._task, self._catalogue, files, self._hosts, self._check)


def require_rescorable(task: Task) -> None:
    """Raises InvalidInput (not_rescorable) where a task's score hangs on more than files that the log holds."""
    if task.evaluator.kind == "tests":
        raise InvalidInput("not_rescorable", f"Task {task.id} is scored by tests on the state of a container, of which "
                           "the log holds nothing; continue its sessions instead.", task=task.id)
    if not task.evaluator.script:
        raise InvalidInput("not_rescorable", f"Task {task.id} has no evaluator whose script could score again.",
                           task=task.id)


def evaluator_version(task: Task, catalogue: Catalogue) -> str:
    """The digest of what an evaluator's answer hangs on: script, references, settings, and the scale of the task.

    Raises as `evaluator_files`.
    """
    script, references = evaluator_files(task, catalogue)
    whole = hashlib.sha256(msgspec.json.encode((_settings(task.evaluator), task.baseline, task.best_known,
                                                task.hosts[0].image)))
    for name, path in [("", script), *references]:
        whole.update(f"{len(name)}:{name}".encode())
        size, content = content_of(path)
        whole.update(b"%d:" % size + content)
    return whole.hexdigest()[:VERSION_DIGITS]


def _settings(evaluator: Evaluator) -> Evaluator:
    """An evaluator without what changes no score."""
    return msgspec.structs.replace(evaluator, timeout_s=0.0)


def _lies_in(name: str, path: str) -> bool:
    plain = path.strip("/").removeprefix("./")
    return plain in ("", ".") or name == plain or name.startswith(f"{plain}/")


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), _PIECE):
        yield data[start:start + _PIECE]
        await asyncio.sleep(0)
