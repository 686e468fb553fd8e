"""One terminal's recorded stream, and a player that shows it as it was at any byte.

The player works in slices of a few milliseconds, so a flood never holds the window; what nobody can see of a
flood is not emulated. Snapshots every 64 KiB make going back quick.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from time import perf_counter

from core.domain.outputs import Outputs
from core.domain.steps import TERMINALS
from core.domain.trajectory import Trajectory

COLUMNS, ROWS = 120, 32
"""The size that the sandbox gives its terminals, whose log does not say it."""

FLOOD = 256 * 1024
TAIL = 64 * 1024
SKIPPED_SHOWN = 256 * 1024
SLICE = 4096
_SNAPSHOT_EVERY = 64 * 1024
_SNAPSHOTS = 128


class TerminalTape:
    """The bytes of one terminal, over the trajectory's own list of outputs; larger ones lie in blobs."""

    def __init__(self, outputs: Outputs, blob: Callable[[str], bytes | None]) -> None:
        """`blob(hash)` gives a payload that is at hand, or None (and may ask for it)."""
        self.outputs = outputs
        self._blob = blob

    @property
    def length(self) -> int:
        """The offset behind the last byte."""
        return self.outputs.length

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        """Bytes from `offset`, and the offset behind them: (b"", offset) where they are not at hand yet.

        A part of the stream that was never recorded is passed over.
        """
        at = self.outputs.before(offset)
        if at >= 0 and offset < self.outputs.offsets[at] + self.outputs.sizes[at]:
            one = self.outputs[at]
            data = one.data if one.data or not one.blob else self._blob(one.blob)
            if data is None:
                return b"", offset
            part = data[offset - one.offset : offset - one.offset + limit]
            return part, offset + len(part) if part else one.offset + one.size
        if at + 1 < len(self.outputs):
            return b"", self.outputs.offsets[at + 1]
        return b"", self.length


def ends_at(trajectory: Trajectory, step: int | None) -> dict[str, int]:
    """The length of each terminal's stream as of a step (None: now), for those that existed by then."""
    if step is None:
        return {k: o.length for k, o in trajectory.terminals.items() if o}
    at = trajectory.index_of(step)
    at = trajectory.steps.last_with(TERMINALS, at) if at is not None else -1
    if at < 0:
        return {}
    return {k: n for k, n in trajectory.steps[at].terminals.items() if k in trajectory.terminals}


def first_with_terminal(trajectory: Trajectory) -> list[int]:
    """The number of the first step that had a terminal; none where no step had."""
    steps = trajectory.steps
    return next(([steps.numbers[at]] for at, flags in enumerate(steps.flags) if flags & TERMINALS), [])


def written_in(trajectory: Trajectory, step: int | None) -> set[str]:
    """The terminals to which something was written in a step (None: since the last whole step)."""
    now = ends_at(trajectory, step)
    last = trajectory.steps[-1].head.number if trajectory.steps else None
    before = ends_at(trajectory, last if step is None else step - 1)
    return {k for k, end in now.items() if end > before.get(k, 0)}


class Player:
    """Shows a tape as of `target`; `work` goes on towards it."""

    def __init__(self, tape: TerminalTape, columns: int = COLUMNS, rows: int = ROWS) -> None:
        from app.terminals.emulator import Emulator  # only who looks at a terminal needs pyte

        self.tape = tape
        self.emulator = Emulator(columns, rows)
        self.position = 0
        self.target = 0
        self.changes = 0
        self._snapshots: list[tuple[int, dict[str, object]]] = [(0, self.emulator.snapshot())]

    def seek(self, offset: int) -> None:
        """Aim at an offset; an earlier one is reached from the last snapshot before it."""
        self.target = min(offset, self.tape.length)
        if self.target < self.position:
            at = bisect_right(self._snapshots, self.target, key=lambda s: s[0]) - 1
            self.position, state = self._snapshots[at]
            self.emulator.restore(state)
            self.changes += 1

    def work(self, budget_s: float) -> bool:
        """Emulate for about `budget_s` seconds. True: there is more, and its bytes are at hand."""
        end = perf_counter() + budget_s
        if self.target - self.position > FLOOD:
            self._skip()
        while self.position < self.target:
            data, after = self.tape.read(self.position, min(SLICE, self.target - self.position))
            if after == self.position:
                return False
            self._take(data, min(after, self.target))
            if perf_counter() >= end:
                break
        return self.position < self.target

    def _take(self, data: bytes, after: int) -> None:
        self.emulator.feed(data)
        self.position = after
        self.changes += 1
        last = self._snapshots[-1][0]
        if after >= last + _SNAPSHOT_EVERY:
            self._snapshots.append((after, self.emulator.snapshot()))
            if len(self._snapshots) > _SNAPSHOTS:
                del self._snapshots[1::2]

    def _skip(self) -> None:
        """Pass over what scrolled by unseen; the last of it enters the history as plain lines."""
        stop = self.target - TAIL
        at = max(self.position, stop - SKIPPED_SHOWN)
        pieces: list[bytes] = []
        while at < stop:
            data, after = self.tape.read(at, stop - at)
            if after == at:
                pieces.clear()
                after = stop
            pieces.append(data)
            at = after
        data = b"".join(pieces)
        cut = data.rfind(b"\n") + 1 or len(data)
        self.emulator.skip(data[:cut])
        self.position = stop
        self.changes += 1
        self.emulator.feed(data[cut:])
