"""The tables of a study, as Markdown, of what its book holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from study.book import Book, Run
from study.design import Decoding, Design, Measure
from study.intervals import Difference, holm, interval, mean, paired
from study.record import KINDS
from study.rollout import Outcome
from support.chinese_tables import in_chinese, twin, words_of

ALPHA = 0.05
_MEASURES: Mapping[Measure, str] = {"chores": "chores done", "solved": "tasks solved"}

WORDS = words_of(Path(__file__).with_suffix(".zh.txt"))
"""Variants and families of tasks are called the same in both languages."""

TITLES = {
    "0.7 million weights, 48 held-out tasks of 4 to 6 chores, 10 seeds":
        "70 万个权重，48 个留出任务，每个 4 至 6 件杂务，10 个种子",
    "SmolLM2-135M-Instruct, 48 held-out tasks of one chore, 3 seeds":
        "SmolLM2-135M-Instruct，48 个留出任务，每个一件杂务，3 个种子",
}
"""The designs' titles in Chinese; another one stays as it is."""


def table(book: Book, design: Design, digest: str, units: int) -> str:
    """All tables, and what they say."""
    parts = [[_head(book, design, digest, units)], _sessions(book, design), _masks(book, design), _rates(book, design)]
    for decoding in design.decodings:
        parts += [_shares(book, design, decoding), _families(book, design, decoding)]
    tested = _tested(book, design)
    parts += [_differences(design, tested), _sentences(design, tested)]
    return "\n".join("\n".join(part) + "\n" for part in parts if part)


def write_both(page: Path, name: str, text: str) -> None:
    """Put tables into a page and its Chinese twin."""
    write_into(page, name, text)
    for title, said in TITLES.items():
        text = text.replace(title, said)
    write_into(twin(page), name, in_chinese(text, WORDS))


def write_into(page: Path, name: str, text: str) -> None:
    """Put tables between the two marks of their design on a page. Raises ValueError where it has none."""
    first, last = f"<!-- result of {name} -->", f"<!-- end of result of {name} -->"
    before, mark, rest = page.read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not mark or not end:
        raise ValueError(f"{page} has no place for the result: {first} … {last}")
    page.write_text(f"{before}{first}\n\n{text}\n{last}{after}", encoding="utf-8")


def _head(book: Book, design: Design, digest: str, units: int) -> str:
    cpu, wall = (sum(getattr(line, name) for line in book.lines) / 3600 for name in ("cpu_s", "wall_s"))
    base = "".join(f" The base follows {line.followed[-1]:.1%} of neutral text after round {len(line.followed)}."
                   for line in book.lines if line.followed)
    return (f"{design.title}: {len(book.lines)} of {units} units done in {cpu:.2f} hours of processor time "
            f"({wall:.2f} hours by the clock, over all processes). Design: SHA-256 `{digest}`.{base}")


def _sessions(book: Book, design: Design) -> list[str]:
    rows = ["| sessions | number | solved | actions | wrong | summaries | guided | advice |",
            "|---|---|---|---|---|---|---|---|"]
    everything = [r for seed in design.seeds for r in book.recorded(seed)]
    for kind in KINDS:
        some = [r for r in everything if r.kind == kind]
        if some:
            steps, wrong = sum(len(r.good) for r in some), sum(not g for r in some for g in r.good)
            rows.append(f"| {kind} | {len(some)} | {sum(r.solved for r in some)} | {steps} "
                        f"| {wrong} ({wrong / steps:.0%}) | {sum(r.summaries for r in some)} "
                        f"| {sum(r.guidance > 0 for r in some)} "
                        f"| {sum(r.guidance for r in some)} |")
    return rows if len(rows) > 2 else []


def _masks(book: Book, design: Design) -> list[str]:
    judged = [line.masked for line in book.lines if line.masked and line.seed in design.seeds]
    rows = ["| verdicts of | wrong actions masked | right actions masked |", "|---|---|---|"]
    for name in judged[0] if judged else ():
        wrong, right, of_wrong, of_right = (sum(getattr(one[name], field) for one in judged)
                                            for field in ("wrong_masked", "right_masked", "wrong", "right"))
        rows.append(f"| {name} | {wrong} of {of_wrong} ({wrong / of_wrong:.0%}) "
                    f"| {right} of {of_right} ({right / of_right:.0%}) |")
    return rows if judged else []


def _rates(book: Book, design: Design) -> list[str]:
    tried = {name: book.tuned(name) for name in design.variants if book.tuned(name)}
    if not tried:
        return []
    rows = [f"| learning rate: mean score on tuning tasks | {' | '.join(f'{r:g}' for r in design.rates)} |",
            f"|---|{'---|' * len(design.rates)}"]
    for name, scores in tried.items():
        best = max(scores.values())
        cells = (f"**{scores[r]:.1f}**" if scores.get(r) == best else f"{scores[r]:.1f}" if r in scores else "–"
                 for r in design.rates)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def _shares(book: Book, design: Design, decoding: Decoding) -> list[str]:
    rows = [f"| {decoding} | solved | share | 95 % | chores done | by seed | failed actions | steps | summaries | "
            "trained tokens |", "|---|---|---|---|---|---|---|---|---|---|"]
    runs = {name: book.of(name, decoding) for name in design.variants}
    rows += [f"| {name} | {_cells(book, of_one, name, decoding)} |" for name, of_one in runs.items() if of_one]
    return rows if len(rows) > 2 else []


def _cells(book: Book, runs: Sequence[Run], name: str, decoding: Decoding) -> str:
    solved, outcomes = book.solved(name, decoding), [o for r in runs for o in r.outcomes]
    low, high = interval(solved)
    failed = sum(o.errors for o in outcomes) / max(1, sum(o.steps for o in outcomes))
    by_seed = ", ".join(str(_solved(r.outcomes)) for r in runs)
    return " | ".join((
        f"{_solved(outcomes)} of {len(outcomes)}", f"{mean(solved):.1%}", f"{low:.1%} to {high:.1%}",
        f"{mean(book.scores(name, decoding)):.1%}", by_seed, f"{failed:.0%}",
        f"{_per(outcomes, lambda o: o.steps):.1f}", f"{_per(outcomes, lambda o: o.summaries):.1f}",
        f"{sum(r.trained for r in runs) // len(runs):,}"))


def _families(book: Book, design: Design, decoding: Decoding) -> list[str]:
    names = sorted({t.family for t in design.suite("held-out")})
    rows = [f"| {decoding}, solved by kind of task | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name in design.variants:
        outcomes = [o for r in book.of(name, decoding) for o in r.outcomes]
        if outcomes:
            parts = ([o for o in outcomes if o.family == family] for family in names)
            rows.append(f"| {name} | {' | '.join(f'{_solved(p)} of {len(p)}' for p in parts)} |")
    return rows if len(rows) > 2 else []


class Tested(msgspec.Struct, frozen=True):
    """A pair with a way of decoding: the differences of tasks done as a whole and of chores done, and the corrected p
    of the one that the design tests."""

    decoding: Decoding
    pair: tuple[str, str]
    differences: Mapping[Measure, Difference]
    p: float


def _tested(book: Book, design: Design) -> list[Tested]:
    found = [(decoding, pair, _both(book, decoding, pair)) for decoding in design.decodings for pair in design.pairs
             if {r.seed for r in book.of(pair[0], decoding)} & {r.seed for r in book.of(pair[1], decoding)}]
    corrected = holm([both[design.measure].p for _, _, both in found], len(design.pairs) * len(design.decodings))
    return [Tested(*one, p) for one, p in zip(found, corrected, strict=True)]


def _both(book: Book, decoding: Decoding, pair: tuple[str, str]) -> dict[Measure, Difference]:
    return {"chores": paired(*(book.scores(name, decoding) for name in pair)),
            "solved": paired(*(book.solved(name, decoding) for name in pair))}


def _differences(design: Design, tested: Sequence[Tested]) -> list[str]:
    family = len(design.pairs) * len(design.decodings)
    rows = [f"| difference in points | {' | 95 % | '.join(_MEASURES.values())} | 95 % | p over seeds | p over tasks "
            f"| p of {family}, Holm | seeds |", "|---|---|---|---|---|---|---|---|---|"]
    for one in tested:
        main = one.differences[design.measure]
        figures = " | ".join(_points(one.differences[name]) for name in _MEASURES)
        rows.append(f"| {one.decoding}: {one.pair[0]} − {one.pair[1]} | {figures} | {main.p_seeds:.4f} "
                    f"| {main.p_tasks:.4f} | {one.p:.4f} | {main.seeds} |")
    if not tested:
        return []
    return [*rows, "", f"The p are those of {_MEASURES[design.measure]}."]


def _points(one: Difference) -> str:
    return f"{100 * one.mean:+.1f} | {100 * one.low:+.1f} to {100 * one.high:+.1f}"


def _sentences(design: Design, tested: Iterable[Tested]) -> list[str]:
    """What the tests say, and what they leave open."""
    rows = []
    for one in tested:
        main = one.differences[design.measure]
        shown = "neither provably more nor less" if one.p >= ALPHA else "more" if main.mean > 0 else "less"
        rows.append(f"* {one.decoding.capitalize()}, {one.pair[0]} did {shown} than {one.pair[1]} "
                    f"({100 * main.mean:+.1f} points of {_MEASURES[design.measure]}, p = {one.p:.4f} after Holm; "
                    f"{main.seeds} of {len(design.seeds)} seeds).")
    return rows


def _solved(outcomes: Sequence[Outcome]) -> int:
    return sum(o.score == 100.0 for o in outcomes)


def _per(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> float:
    return sum(value(o) for o in outcomes) / len(outcomes)
