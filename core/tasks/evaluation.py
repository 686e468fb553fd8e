"""Scoring a submission where the agent cannot reach: the evaluator runs in a fresh container, or a fresh process.

The evaluator is the task's script; it gets two folders, the submission and the references, and prints one JSON
object (`scoring.Score`) as its last line. Whatever else it does is a failed score. Files of any size go through a
few megabytes of memory.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from core import program
from core.domain.errors import ReportableError, Unavailable
from core.domain.task import Task
from core.sandbox.archive import tar_of
from core.sandbox.disk_watch import unless_full
from core.sandbox.sandbox import Sandbox
from core.tasks.scoring import Outcome, failed, read_score, tail

OUTPUT_LIMIT = 64 * 1024
_RUN = ("mkdir -p submission references; python3 -I -B evaluate.py submission references > .output 2>&1; code=$?; "
        f"tail -c {OUTPUT_LIMIT} .output; exit $code")

NamedPath = tuple[str, Path]
"""A file by the name that it gets, and where it lies on this machine."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What one evaluation is made of, on this machine: the script, the submission's files, the references' files."""

    script: Path
    submission: Sequence[NamedPath] = ()
    references: Sequence[NamedPath] = ()

    def laid_out(self) -> list[NamedPath]:
        """All files by the path at which the evaluator finds them."""
        return [("evaluate.py", self.script), *((f"submission/{name}", path) for name, path in self.submission),
                *((f"references/{name}", path) for name, path in self.references)]


async def evaluate(given: Given, task: Task, fresh: Callable[[], Sandbox] | None,
                   check: Callable[[], None] = lambda: None) -> Outcome:
    """Score a submission. `fresh` makes a new sandbox for it; None runs a plain process on this machine.

    `check` is called when all files were read and before any of them runs; what it raises fails the evaluation.
    """
    timeout = task.evaluator.timeout_s
    try:
        if fresh is None:
            code, output = await _in_process(given, timeout, check)
        else:
            code, output = await _in_sandbox(given, timeout, fresh(), check)
    except (ReportableError, OSError) as error:
        return failed(f"The evaluator could not run: {error}")
    if code is None:
        return failed(f"The evaluator did not end within {timeout:g} s.")
    if code != 0:
        return failed(f"The evaluator ended with exit code {code}: {tail(output)}")
    return read_score(output, task)


async def _in_sandbox(given: Given, timeout: float, sandbox: Sandbox, check: Callable[[], None]
                      ) -> tuple[int | None, bytes]:
    try:
        await sandbox.start()
        await sandbox.unpack(tar_of(given.laid_out()))
        check()
        ran = await unless_full(sandbox.run(["bash", "-c", _RUN], cwd=sandbox.workspace, timeout=timeout,
                                            limit=OUTPUT_LIMIT), [sandbox])
        return (None if ran.timed_out else ran.exit_code), ran.output
    finally:
        await sandbox.remove()


async def _in_process(given: Given, timeout: float, check: Callable[[], None]) -> tuple[int | None, bytes]:
    with tempfile.TemporaryDirectory(prefix="tiphys-evaluation-") as name:
        folder = Path(name)
        for relative, source in given.laid_out():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            await asyncio.to_thread(shutil.copyfile, source, path)
        check()
        (folder / "submission").mkdir(exist_ok=True)
        (folder / "references").mkdir(exist_ok=True)
        return await _run(folder, timeout)


async def _run(folder: Path, timeout: float) -> tuple[int | None, bytes]:
    python = shutil.which("python3") or program.interpreter()
    if python is None:
        raise Unavailable("no_python", "An evaluation needs python3 on this computer; install it and evaluate again.")
    process = await asyncio.create_subprocess_exec(
        python, "-I", "-B", "evaluate.py", "submission", "references", cwd=folder, start_new_session=True,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(folder)},
    )
    try:
        async with asyncio.timeout(timeout):
            output = await _read(process)
            return await process.wait(), output
    except TimeoutError:
        return None, b""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # it ended just now, and nobody has been told yet
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _read(process: asyncio.subprocess.Process) -> bytes:
    """All output, of which the last part is kept: the score is the last line."""
    end = b""
    while process.stdout is not None and (piece := await process.stdout.read(65536)):
        end = (end + piece)[-OUTPUT_LIMIT:]
    return end
