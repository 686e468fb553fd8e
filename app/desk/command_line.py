"""Our own command line as a child process: what it prints as JSON lines, and what it says when it fails."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from core import program
from core.domain.errors import ReportableError, Unavailable
from core.store.home import Home

_COMPLAINT = re.compile(r"tiphys: (.*?)(?: \[[a-z0-9_]+\])?$")


async def run(home: Home, *arguments: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The JSON lines that `tiphys ARGUMENTS --json` prints, and its complaints (sentences).

    Raises the error that the command ended with; Unavailable (command_failed) when it does not say one.
    """
    process = await asyncio.create_subprocess_exec(
        *program.command("tiphys", "--home", str(home.path), *arguments, "--json"),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        raise
    lines = err.decode("utf-8", "replace").strip().splitlines()
    for line in lines:
        if (message := _object(line.encode())) is not None and isinstance(error := message.get("error"), dict):
            raise ReportableError(str(error.get("code")), str(error.get("sentence")), **error.get("params", {}))
    complaints = [m.group(1) for line in lines if (m := _COMPLAINT.match(line))]
    found = [line for line in map(_object, out.splitlines()) if line is not None]
    if process.returncode and not found and not complaints:
        why = lines[-1] if lines else f"exit status {process.returncode}"
        raise Unavailable("command_failed", f"tiphys {arguments[0]} failed: {why}", command=arguments[0], why=why)
    return found, complaints


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (ValueError, RecursionError):
        return None
