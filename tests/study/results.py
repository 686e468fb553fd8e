"""What a study has found so far, as JSON lines, and the table that is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
from study.intervals import Solved, interval, paired, share, wilson
from study.record import KINDS, Recorded
from study.rollout import Outcome
from study.tasks import FAMILIES
from study.train import VARIANTS, Plan

Decoding = Literal["greedy", "sampled"]
DECODINGS: tuple[Decoding, ...] = ("greedy", "sampled")
"""Always the likeliest token, or drawn by the model's own probabilities (temperature 1)."""

_BEGIN, _END = "<!-- result -->", "<!-- end of result -->"

PAIRS = (("masked", "unmasked"), ("masked", "masked-without-help"))
"""Differences that the table tells, the first minus the second."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What makes results comparable: lines of other settings in the same file do not count."""

    plan: Plan
    tasks: int
    quick: bool = False


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One variant, trained with one seed and rolled out: its rows, tokens (`trained` with loss), and every outcome.
    The time includes the training where the model was not there yet."""

    variant: str
    seed: int
    decoding: Decoding = "greedy"
    rows: int
    tokens: int
    trained: int
    outcomes: Sequence[Outcome]
    wall_s: float
    cpu_s: float


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    settings: Settings
    run: Run | None = None
    seed: int = 0
    recorded: Sequence[Recorded] = ()


class Book:
    """The results of one file."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path, self._settings = path, settings

    @property
    def _lines(self) -> list[_Line]:
        """Read anew each time: another process may work on other seeds."""
        return [line for line in _read(self._path) if line.settings == self._settings]

    @property
    def runs(self) -> list[Run]:
        """All finished runs, by seed."""
        return sorted((line.run for line in self._lines if line.run is not None), key=lambda r: r.seed)

    def recorded(self, seed: int = 0) -> list[Recorded]:
        """The recorded sessions of a seed; 0: of all."""
        return list(chain.from_iterable(line.recorded for line in self._lines if seed in (0, line.seed)))

    def has(self, variant: str, seed: int, decoding: Decoding) -> bool:
        """Whether a run is finished."""
        return any(r.seed == seed for r in self.of(variant, decoding))

    def of(self, variant: str, decoding: Decoding) -> list[Run]:
        """The finished runs of a variant, by seed."""
        return [r for r in self.runs if (r.variant, r.decoding) == (variant, decoding)]

    def add(self, run: Run) -> None:
        """Keep a finished run."""
        self._add(_Line(settings=self._settings, run=run))

    def add_recorded(self, seed: int, recorded: Sequence[Recorded]) -> None:
        """Keep what is known of a seed's sessions."""
        self._add(_Line(settings=self._settings, seed=seed, recorded=recorded))

    def solved(self, variant: str, decoding: Decoding) -> Solved:
        """Which tries of a variant solved their task."""
        return {(r.seed, o.task): o.score == 100.0 for r in self.of(variant, decoding) for o in r.outcomes}

    def _add(self, line: _Line) -> None:
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


def _read(path: Path) -> Iterator[_Line]:
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        yield msgspec.json.decode(line, type=_Line)


def table(book: Book) -> str:
    """All tables, as Markdown."""
    parts = [_sessions(book)]
    for decoding in DECODINGS:
        if any(r.decoding == decoding for r in book.runs):
            parts += [_shares(book, decoding), _differences(book, decoding), _families(book, decoding)]
    return "\n".join("\n".join(part) + "\n" for part in [*parts, _sentences(book)] if part)


def write_into(page: Path, book: Book) -> None:
    """Put the tables between the two marks of a page. Raises ValueError where it has none."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not mark or not end:
        raise ValueError(f"{page} has no place for the result: {_BEGIN} … {_END}")
    page.write_text(f"{before}{_BEGIN}\n\n{table(book)}\n{_END}{after}", encoding="utf-8")


def _sentences(book: Book) -> list[str]:
    """What the differences say, and what they leave open."""
    told = []
    for decoding in DECODINGS:
        for first, second in PAIRS:
            one, other = book.solved(first, decoding), book.solved(second, decoding)
            if one.keys() & other.keys():
                points, low, high = paired(one, other)
                shown = "more" if low > 0 else "less" if high < 0 else "neither provably more nor less"
                seeds = len({seed for seed, _ in one.keys() & other.keys()})
                told.append(f"* {decoding.capitalize()}, {first} solved {shown} than {second} "
                            f"({100 * points:+.1f} points; {seeds} seeds in common).")
    return told


def _sessions(book: Book) -> list[str]:
    told = ["| sessions | number | solved | actions | wrong | masked by rules | by a person | guided |",
            "|---|---|---|---|---|---|---|---|"]
    for kind in KINDS:
        some = [r for r in book.recorded() if r.kind == kind]
        if some:
            steps, wrong = sum(r.steps for r in some), sum(r.wrong for r in some)
            told.append(f"| {kind} | {len(some)} | {sum(r.solved for r in some)} | {steps} "
                        f"| {wrong} ({wrong / steps:.0%}) | {sum(r.by_rules for r in some)} "
                        f"| {sum(r.over_ruled for r in some)} | {sum(r.guidance > 0 for r in some)} |")
    return told


def _shares(book: Book, decoding: Decoding) -> list[str]:
    told = [f"| {decoding} | solved | share | Wilson 95 % | tasks and seeds drawn, 95 % | by seed | failed actions "
            "| trained tokens | CPU s |", "|---|---|---|---|---|---|---|---|---|"]
    for name in (v.name for v in VARIANTS):
        runs = book.of(name, decoding)
        if not runs:
            continue
        solved = book.solved(name, decoding)
        steps = sum(o.steps for r in runs for o in r.outcomes)
        errors = sum(o.errors for r in runs for o in r.outcomes)
        by_seed = ", ".join(f"{sum(o.score == 100.0 for o in r.outcomes)}" for r in runs)
        told.append(f"| {name} | {sum(solved.values())} of {len(solved)} | {share(solved):.1%} "
                    f"| {_range(*wilson(sum(solved.values()), len(solved)))} | {_range(*interval(solved))} | {by_seed} "
                    f"| {errors / steps:.0%} | {_mean(r.trained for r in runs):,.0f} "
                    f"| {_mean(r.cpu_s for r in runs):.0f} |")
    return told


def _families(book: Book, decoding: Decoding) -> list[str]:
    names = [f.name for f in FAMILIES]
    told = [f"| {decoding}, by family | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name in (v.name for v in VARIANTS):
        outcomes = [o for r in book.of(name, decoding) for o in r.outcomes]
        if outcomes:
            cells = (_share([o for o in outcomes if o.family == family]) for family in names)
            told.append(f"| {name} | {' | '.join(cells)} |")
    return told


def _differences(book: Book, decoding: Decoding) -> list[str]:
    told = [f"| {decoding}, difference in points | | 95 % |", "|---|---|---|"]
    for first, second in PAIRS:
        if (one := book.solved(first, decoding)) and (other := book.solved(second, decoding)):
            points, low, high = paired(one, other)
            told.append(f"| {first} − {second} | {100 * points:+.1f} | {100 * low:+.1f} to {100 * high:+.1f} |")
    return told


def _share(outcomes: Sequence[Outcome]) -> str:
    return f"{sum(o.score == 100.0 for o in outcomes)} of {len(outcomes)}" if outcomes else "–"


def _range(low: float, high: float) -> str:
    return f"{low:.1%} to {high:.1%}"


def _mean(values: Iterator[float]) -> float:
    told = list(values)
    return sum(told) / len(told)
