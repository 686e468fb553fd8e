"""Scoring a submission where the agent cannot reach: the evaluator runs in a fresh container, or a fresh process.

The evaluator is the task's script; it gets two folders, the submission and the references, and prints one JSON
object {"total": 0–100, "parts": {…}, "message": "…"} as its last line. Whatever else it does is a failed score.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from core import program
from core.domain.bounds import Few, Name, Points
from core.domain.errors import ReportableError, Unavailable
from core.domain.task import Evaluator
from core.sandbox.sandbox import Sandbox

OUTPUT_LIMIT = 64 * 1024


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluator says."""

    total: float
    parts: Annotated[dict[Name, Points], Few] = {}
    message: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of one evaluation: a score, or (`failed`) why there is none, with a stable code as `reason`."""

    total: float | None
    parts: dict[str, float] = {}
    message: str = ""
    failed: bool = False
    reason: str = ""


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one evaluation needs, in memory: the script, the submission, the references."""

    script: bytes
    submission: Mapping[str, bytes]
    references: Mapping[str, bytes]

    def laid_out(self) -> dict[str, bytes]:
        """All files by the path at which the evaluator finds them."""
        return {
            "evaluate.py": self.script,
            **{f"submission/{name}": data for name, data in self.submission.items()},
            **{f"references/{name}": data for name, data in self.references.items()},
        }


async def evaluate(files: Files, evaluator: Evaluator, fresh: Callable[[], Sandbox] | None) -> Outcome:
    """Score a submission. `fresh` makes a new sandbox for it; None runs a plain process on this machine."""
    try:
        if fresh is None:
            code, output = await _in_process(files, evaluator.timeout_s)
        else:
            code, output = await _in_sandbox(files, evaluator.timeout_s, fresh())
    except (ReportableError, OSError) as error:
        return failed(f"The evaluator could not run: {error}")
    if code is None:
        return failed(f"The evaluator did not end within {evaluator.timeout_s:g} s.")
    if code != 0:
        return failed(f"The evaluator ended with exit code {code}: {_tail(output)}")
    return read_score(output)


def read_score(output: bytes) -> Outcome:
    """The outcome that the last line of an evaluator's output tells."""
    lines = [line for line in output.splitlines() if line.strip()]
    try:
        score = msgspec.json.decode(lines[-1] if lines else b"", type=Score)
    except (msgspec.DecodeError, RecursionError) as error:
        return failed(f"The evaluator's answer cannot be read ({error}): {_tail(output)}")
    if not all(math.isfinite(n) for n in (score.total, *score.parts.values())) or not 0 <= score.total <= 100:
        return failed(f"The evaluator gave {score.total}, which is no score of 0 to 100.")
    return Outcome(total=score.total, parts=score.parts, message=score.message[:4000])


async def _in_sandbox(files: Files, timeout: float, sandbox: Sandbox) -> tuple[int | None, bytes]:
    try:
        await sandbox.start()
        for name, data in files.laid_out().items():
            await sandbox.write_file(f"{sandbox.workspace}/{name}", data)
        ran = await sandbox.run(["python3", "-I", "-B", "evaluate.py", "submission", "references"],
                                cwd=sandbox.workspace, timeout=timeout, limit=OUTPUT_LIMIT)
        return (None if ran.timed_out else ran.exit_code), ran.output
    finally:
        await sandbox.remove()


async def _in_process(files: Files, timeout: float) -> tuple[int | None, bytes]:
    with tempfile.TemporaryDirectory(prefix="tiphys-evaluation-") as name:
        folder = Path(name)
        for relative, data in files.laid_out().items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
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
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _read(process: asyncio.subprocess.Process) -> bytes:
    """All output, of which the last part is kept: the score is the last line."""
    tail = b""
    while process.stdout is not None and (piece := await process.stdout.read(65536)):
        tail = (tail + piece)[-OUTPUT_LIMIT:]
    return tail


def failed(message: str, reason: str = "evaluator_failed") -> Outcome:
    """No score, and why: what went wrong was not the agent's to hand in, so it costs no evaluation."""
    return Outcome(total=None, message=message[:4000], failed=True, reason=reason)


def _tail(output: bytes) -> str:
    return output[-1500:].decode("utf-8", "replace").strip()
