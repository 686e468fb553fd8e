"""What is said of a group of branches: its arms, their scores with intervals, and by how much they differ."""

from __future__ import annotations

from collections.abc import Sequence

from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.session import SessionRow
from core.supervision.groups import Arm, Interval, arms_of, differences


def group_words(rows: Sequence[SessionRow]) -> str:
    """A group as one may choose it: from which step, and what its arms are."""
    arms = ", ".join(f"{one_line(arm.name, 30)} ×{len(arm.sessions)}" for arm in arms_of(rows))
    return translate("CompareView", "Branches after step {n}: {arms}").format(
        n=quantities.number(min((row.parent_step for row in rows), default=0)), arms=arms)


def arm_lines(arms: Sequence[Arm]) -> list[str]:
    """One line an arm, then one for each difference to the first."""
    lines = [translate("CompareView", "{arm}: {scores}, {ended} of {count} ended").format(
        arm=one_line(arm.name, 60), scores=_mean(arm), ended=quantities.number(arm.ended),
        count=quantities.number(len(arm.sessions))) for arm in arms]
    lines += [translate("CompareView", "{arm} − {other}: {difference}").format(
        arm=one_line(one.arm, 60), other=one_line(one.other, 60),
        difference=f"{quantities.signed(one.mean, '.1f')}{_between(one.interval)}") for one in differences(arms)]
    return lines


def _mean(arm: Arm) -> str:
    if arm.mean is None:
        return translate("CompareView", "no score yet")
    return f"{quantities.score(arm.mean)}{_between(arm.interval)}"


def _between(interval: Interval | None) -> str:
    """The interval in which a mean lies with 95 %, or why there is none."""
    if interval is None:
        return translate("CompareView", " (no interval: too few)")
    return f" ({interval[0]:.1f}…{interval[1]:.1f})"
