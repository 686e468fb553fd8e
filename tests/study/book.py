"""What a study has found so far, as JSON lines: one for each unit of work that is finished."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from study.design import Decoding
from study.intervals import Tried
from study.record import Masked, Recorded
from study.rollout import Outcome


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One variant, trained with a seed and a rate and rolled out: its sessions, rows and tokens (`trained` with loss),
    and every outcome."""

    variant: str
    seed: int
    decoding: Decoding
    rate: float
    sessions: int = 0
    rows: int = 0
    tokens: int = 0
    trained: int = 0
    outcomes: Sequence[Outcome]


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished unit: of which design (by its hash), what it cost, and what it gave. `followed`: what the base
    did of what was written down, after each round. `tuned` are runs on the tasks by which rates are chosen."""

    design: str
    unit: str
    cpu_s: float
    wall_s: float
    seed: int = 0
    followed: Sequence[float] = ()
    recorded: Sequence[Recorded] = ()
    masked: Mapping[str, Masked] = {}
    run: Run | None = None
    tuned: Sequence[Run] = ()


class Book:
    """The results of one file, of one design: lines of other designs do not count."""

    def __init__(self, path: Path, design: str) -> None:
        self._path, self._design = path, design
        self.lines: list[Line] = []
        self.read()

    def read(self) -> None:
        """Read anew: other processes may work on the same study."""
        data = self._path.read_bytes() if self._path.is_file() else b""
        whole = (msgspec.json.decode(line, type=Line) for line in data.splitlines(keepends=True) if line[-1:] == b"\n")
        self.lines = [line for line in whole if line.design == self._design]

    def mend(self) -> None:
        """Take away the end of a line whose writer was killed. Nobody else may write meanwhile."""
        data = self._path.read_bytes() if self._path.is_file() else b""
        if data and not data.endswith(b"\n"):
            os.truncate(self._path, data.rfind(b"\n") + 1)

    def add(self, line: Line) -> None:
        """Hold a finished unit, with one write so that several processes may add."""
        with self._path.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(line) + b"\n")
        self.read()

    def has(self, unit: str) -> bool:
        """Whether a unit is finished."""
        return any(line.unit == unit for line in self.lines)

    def recorded(self, seed: int) -> list[Recorded]:
        """The recorded sessions of a seed."""
        return list(chain.from_iterable(line.recorded for line in self.lines if line.seed == seed))

    def of(self, variant: str, decoding: Decoding) -> list[Run]:
        """The finished runs of a variant, by seed."""
        runs = (line.run for line in self.lines if line.run is not None)
        return sorted((r for r in runs if (r.variant, r.decoding) == (variant, decoding)), key=lambda r: r.seed)

    def tuned(self, variant: str) -> dict[float, float]:
        """The mean score of each learning rate that was tried for a variant, over its ways of decoding."""
        runs = [r for line in self.lines for r in line.tuned if r.variant == variant]
        return {rate: _mean([o.score for r in runs if r.rate == rate for o in r.outcomes])
                for rate in sorted({r.rate for r in runs})}

    def solved(self, variant: str, decoding: Decoding) -> Tried:
        """1 where a try did all of its task, else 0."""
        return {(r.seed, o.task): float(o.score == 100.0) for r in self.of(variant, decoding) for o in r.outcomes}

    def scores(self, variant: str, decoding: Decoding) -> Tried:
        """The share of its task that each try did."""
        return {(r.seed, o.task): o.score / 100 for r in self.of(variant, decoding) for o in r.outcomes}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
