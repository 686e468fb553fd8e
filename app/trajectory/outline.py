"""The phases of a session: what lies between summaries, guidance and changes of the score."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QCoreApplication

from app.kit import quantities
from app.kit.safe_text import one_line
from app.kit.two_lines import TwoLines
from core.domain.steps import ERROR
from core.domain.trajectory import Item, Trajectory

_FAILED = bytes(int(bool(flags & ERROR)) for flags in range(256))


class Phase(msgspec.Struct, frozen=True):
    """Items first..last. `item` begins it; None for the beginning of the session."""

    first: int
    last: int
    item: Item | None = None


def phases_of(trajectory: Trajectory) -> list[Phase]:
    """The phases in order; a score that is the same as before begins none."""
    items = trajectory.items
    if not len(items):
        return []
    starts: list[tuple[int, Item | None]] = []
    score: float | None = None
    for place, item in zip(items.places, items.others, strict=True):
        if item.kind == "submission":
            continue
        if item.kind == "score":
            total = trajectory.scores[int(item.ref)].total
            if total is None or total == score:
                continue
            score = total
        starts.append((place, item))
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, None))
    ends = [place - 1 for place, _ in starts[1:]] + [len(items) - 1]
    return [Phase(first, last, item) for (first, item), last in zip(starts, ends, strict=True)]


def lines_of(trajectory: Trajectory, phase: Phase) -> TwoLines:
    """How a phase is listed: what began it, and its steps, errors and length."""
    title, sign, meaning = _title(trajectory, phase.item)
    return TwoLines(title=title, sign=sign, meaning=meaning, below=_below(trajectory, phase))


def _title(trajectory: Trajectory, item: Item | None) -> tuple[str, str, str]:
    if item is None:
        return QCoreApplication.translate("Outline", "Beginning"), "▸", "muted"
    if item.kind == "summary":
        summary = trajectory.summaries[str(item.ref)]
        return QCoreApplication.translate("Outline", "Summary of {first}–{last}").format(
            first=quantities.number(summary.first), last=quantities.number(summary.last)), "≡", "ink"
    if item.kind == "guidance":
        return one_line(trajectory.guidance[str(item.ref)].text, 120), "★", "person"
    score = trajectory.scores[int(item.ref)]
    return QCoreApplication.translate("Row", "score {value}").format(value=quantities.score(score.total)), "◆", "ink"


def _below(trajectory: Trajectory, phase: Phase) -> str:
    steps, items = trajectory.steps, trajectory.items
    inside = len(items.others_in(phase.first, phase.last))
    count = phase.last - phase.first + 1 - inside
    if not count:
        return QCoreApplication.translate("Outline", "no step yet")
    first = phase.first - len(items.others_in(0, phase.first - 1))
    last = first + count - 1
    parts = [QCoreApplication.translate("Outline", "steps {first}–{last}").format(
        first=quantities.number(steps.numbers[first]), last=quantities.number(steps.numbers[last]))]
    failed = bytes(steps.flags[first : last + 1]).translate(_FAILED).count(1)
    if failed:
        parts.append(f"✗ {quantities.number(failed)}")
    took = steps.ended[last] - steps.started[first]
    if took == took and took > 0:
        parts.append(quantities.duration(took))
    return " · ".join(parts)
