"""What the study of people found: each variant with its mean over seeds and items, and its difference to what learns
alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from study.intervals import Tried, interval, mean, paired
from study.people_design import VARIANTS, Case, Setting

ALONE = ("grpo", "sft")
"""What every variant is compared with."""

Column = Literal["sampled", "greedy", "before", "before_greedy"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A finished unit, of which design (by its hash): the share of plays of each item that reached the goal, and what
    it cost."""

    design: str
    case: Case
    is_tuning: bool
    sampled: list[float]
    greedy: list[float]
    before: list[float]
    before_greedy: list[float]
    sessions: int
    cpu_s: float


def read(path: Path) -> list[Found]:
    """The lines of a file of results. The end of one whose writer was killed is taken away."""
    data = path.read_bytes() if path.is_file() else b""
    if data and not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)
    return [msgspec.json.decode(line, type=Found) for line in data.splitlines(keepends=True) if line[-1:] == b"\n"]


def tuned(found: Sequence[Found], variant: str) -> dict[float, float]:
    """What each rate of a variant came to, sampled and greedy together."""
    return {one.case.rate: (_mean(one.sampled) + _mean(one.greedy)) / 2 for one in found
            if one.is_tuning and one.case.variant == variant}


def chosen_rates(setting: Setting, found: Sequence[Found]) -> dict[str, float]:
    """The rate of each variant: the best, of those that are alike the smallest."""
    if len(setting.rates) == 1:
        return dict.fromkeys(VARIANTS, setting.rates[0])
    return {variant: max(sorted(rates), key=lambda rate: rates[rate])
            for variant in VARIANTS if (rates := tuned(found, variant))}


def table(setting: Setting, found: Sequence[Found]) -> list[str]:
    """Both tables as lines of Markdown; 95 % by a bootstrap over seeds and items, differences on what both have."""
    lines = [f"**{setting.title}**, {len([f for f in found if not f.is_tuning])} units.", ""]
    if len(setting.rates) > 1:
        lines += [f"| variant, tuned |{''.join(f' {rate:g} |' for rate in setting.rates)}",
                  "|---|" + "---|" * len(setting.rates)]
        lines += [f"| {variant} |" + "".join(f" {_percent(tuned(found, variant).get(rate))} |"
                                             for rate in setting.rates) for variant in VARIANTS] + [""]
    lines += ["| variant | adviser | rate | seeds | sampled | greedy | sampled less GRPO | greedy less GRPO | "
              "sampled less SFT | greedy less SFT |", "|---" * 10 + "|"]
    return [*lines, *_rows([one for one in found if not one.is_tuning])]


def _rows(found: Sequence[Found]) -> list[str]:
    groups: dict[tuple[str, str], list[Found]] = {}
    for one in found:
        groups.setdefault((one.case.variant, one.case.adviser), []).append(one)
    plain = groups.get(("grpo", ""), [])
    lines = [f"| the start | | | {len(plain)} | {_share(_by_item(plain, 'before'))} | "
             f"{_share(_by_item(plain, 'before_greedy'))} | | | | |"] if plain else []
    for (variant, adviser), members in groups.items():
        cells = [_share(_by_item(members, "sampled")), _share(_by_item(members, "greedy"))]
        cells += [_less(members, groups.get((other, ""), []), column) if other != variant else ""
                  for other in ALONE for column in ("sampled", "greedy")]
        lines.append(f"| {variant} | {adviser} | {members[0].case.rate:g} | {len(members)} | {' | '.join(cells)} |")
    return lines


def _less(first: Sequence[Found], second: Sequence[Found], column: Column) -> str:
    own, base = _by_item(first, column), _by_item(second, column)
    if not own.keys() & base.keys():
        return ""
    less = paired(own, base)
    return f"{100 * less.mean:+.0f} ({100 * less.low:+.0f} to {100 * less.high:+.0f})"


def _by_item(found: Sequence[Found], column: Column) -> Tried:
    return {(one.case.seed, str(n)): value for one in found for n, value in enumerate(getattr(one, column))}


def _share(values: Tried) -> str:
    low, high = interval(values)
    return f"{100 * mean(values):.0f} % ({100 * low:.0f}-{100 * high:.0f})"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"
