"""Which lines of a step list look different because of what came since it was drawn. No Qt."""

from __future__ import annotations

from msgspec.structs import astuple

from core.domain.trajectory import Trajectory


class ChangedItems:
    """What was known of one trajectory when it was asked last; `news` goes on from there."""

    def __init__(self) -> None:
        self._touched = 0
        self._guidance: dict[str, tuple[object, ...]] = {}

    def take(self, trajectory: Trajectory) -> set[int]:
        """The items of steps that were judged, noted or logged again, and of guidance that changed."""
        items, touched = trajectory.items, trajectory.steps.touched
        found = {items.of_step(at) for at in touched[self._touched :]}
        self._touched = len(touched)
        guidance = {name: astuple(state) for name, state in trajectory.guidance.items()}
        found |= {items.of_other("guidance", name) for name in guidance if self._guidance.get(name) != guidance[name]}
        self._guidance = guidance
        return found
