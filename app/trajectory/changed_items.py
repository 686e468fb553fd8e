"""Which lines of a step list look different because of what came since it was drawn. No Qt."""

from __future__ import annotations

from msgspec.structs import astuple

from core.domain.trajectory import Trajectory


class ChangedItems:
    """What was known of one trajectory when it was asked last; `news` goes on from there."""

    def __init__(self) -> None:
        self._touched = self._rescored = 0
        self._guidance: dict[str, tuple[object, ...]] = {}

    def take(self, trajectory: Trajectory) -> set[int]:
        """The items of steps that were judged, noted or logged again, of guidance that changed, and of submissions
        that were scored again."""
        items, touched = trajectory.items, trajectory.steps.touched
        found = {items.of_step(at) for at in touched[self._touched :]}
        self._touched = len(touched)
        guidance = {name: astuple(state) for name, state in trajectory.guidance.items()}
        found |= {items.of_other("guidance", name) for name in guidance if self._guidance.get(name) != guidance[name]}
        self._guidance = guidance
        fresh = {one.ordinal for one in trajectory.rescored[self._rescored :]}
        self._rescored = len(trajectory.rescored)
        found |= {items.of_other("score", at) for at, one in enumerate(trajectory.scores) if one.ordinal in fresh}
        handed = enumerate(trajectory.submissions)
        return found | {items.of_other("submission", at) for at, one in handed if one.ordinal in fresh}
