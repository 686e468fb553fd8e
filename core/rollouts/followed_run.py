"""The policy of a run that still learns: its newest weights, and nobody plays with weights that are too far behind.

The run's folder is all that both share (docs/reinforcement.md): `metrics.jsonl` says which updates were made, `policy`
holds the weights after some of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, ReportableError, Unavailable
from core.domain.message import Message
from core.llm.model import Completion, EndpointError, Policy, Request
from core.workers.reinforcement import RlMetric

LOOK_S = 0.2
PATIENCE_S = 900.0
"""How long weights may be waited for before the run counts as dead."""

_TAIL = 1 << 16
"""Bytes of metrics that hold the last whole line."""

Load = Callable[[Path, int], Policy]
"""The policy of a folder of weights, with the number of the update that made them."""


class FollowedRun:
    """Answers as a run's newest policy. Before a batch it takes newer weights, and waits for them, where its own are
    more than `most_behind` updates older than the last that was made. A run that is over keeps nobody waiting."""

    def __init__(self, run: Path, most_behind: int, load: Load, *, patience_s: float = PATIENCE_S) -> None:
        """Raises InvalidInput (no_run), and whatever `load` raises."""
        self._run, self._most, self._load, self._patience_s = run, most_behind, load, patience_s
        self._policy = load(*self._saved())
        self.name = self._policy.name
        """The run's: one policy, whatever its weights."""
        self.waited_s = 0.0
        """How long batches waited for weights, loading included."""
        self.is_waiting = False
        """Whether a batch waits for weights now."""
        self.changes = 0
        """How often newer weights were taken."""

    @property
    def version(self) -> int:
        """The number of the update that made the weights of now."""
        return self._policy.version

    async def answer(self, requests: Sequence[Request]) -> list[Completion | EndpointError]:
        """The answers of weights that are new enough. Raises Unavailable (run_silent) where none come."""
        began = time.monotonic()
        while self._made() - self.version > self._most:
            self.is_waiting = True
            folder, update = self._saved()
            if update > self.version:
                await self._take(folder, update)
            elif (self._run / "model").is_dir():
                break
            elif time.monotonic() - began > self._patience_s:
                raise Unavailable("run_silent", f"The run in {self._run} has made update {self._made()}, and no "
                                  f"weights after update {self.version} came for {self._patience_s:.0f} s.")
            else:
                await asyncio.sleep(LOOK_S)
        if self.is_waiting:
            self.waited_s, self.is_waiting = self.waited_s + time.monotonic() - began, False
        return await self._policy.answer(requests)

    def count(self, message: Message) -> tuple[int, bool]:
        """The length of a message in the policy's tokens."""
        return self._policy.count(message)

    async def close(self) -> None:
        """Let go of the weights."""
        await self._policy.close()

    async def _take(self, folder: Path, update: int) -> None:
        try:
            fresh = await asyncio.to_thread(self._load, folder, update)
        except (ReportableError, OSError):
            if self._saved()[1] > update:  # the run has removed what it was reading, and has newer ones
                return
            raise
        self._policy, self.changes = fresh, self.changes + 1

    def _saved(self) -> tuple[Path, int]:
        """The newest weights that are whole; those that the run began with before there are any."""
        found = {int(p.name): p for p in (self._run / "policy").glob("*") if p.name.isdecimal()}
        if found:
            return found[max(found)], max(found)
        try:
            return Path(msgspec.json.decode((self._run / "run.json").read_bytes())["model"]), 0
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("no_run", f"{self._run} is no folder of a learning run.",
                               folder=str(self._run)) from error

    def _made(self) -> int:
        """The last update that the run has told of."""
        path = self._run / "metrics.jsonl"
        if not path.is_file():
            return 0
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            lines = file.read().split(b"\n")[:-1]
        for line in reversed(lines):
            try:
                return msgspec.json.decode(line, type=RlMetric).update
            except (ValueError, RecursionError):  # cut by a kill; a run that goes on takes it out
                continue
        return 0
