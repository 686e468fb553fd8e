"""Which items of a trajectory a filter lets through: only what is new to it is looked at. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.desk.blindness import seen
from app.trajectory.facets import Facets
from core.domain.steps import ERROR
from core.domain.trajectory import Trajectory

FILTERS = ("all", "errors", "guidance", "verdicts", "scores")

_OTHERS = {"guidance": ("guidance", "summary"), "scores": ("score", "submission")}
"""What a filter lists that is no step."""


def new_items(trajectory: Trajectory, filter: str, facets: Facets, taken: int, steps_taken: int, reader: str
              ) -> Iterator[int]:
    """The items from the `taken`-th on (of steps: from the `steps_taken`-th on) that a filter and facets let through;
    a blind `reader` gets none because of what others think of it."""
    if filter in _OTHERS:
        items = trajectory.items
        for at in items.others_in(taken, len(items)) if not facets.count else ():
            if items.others[at].kind in _OTHERS[filter]:
                yield items.places[at]
        return
    steps: Iterable[int] = facets.steps_of(trajectory, steps_taken, reader)
    if filter == "errors":
        failed = failed_from(trajectory, steps_taken)
        steps = sorted({*failed} & {*steps}) if facets.count else failed
    elif filter == "verdicts":
        opinions = trajectory.steps.opinions
        steps = (at for at in steps if at in opinions and seen(opinions[at].verdicts, reader))
    yield from items_of(trajectory, steps)


def failed_from(trajectory: Trajectory, start: int) -> list[int]:
    """The failed steps from the `start`-th on."""
    return [at for at, flags in enumerate(trajectory.steps.flags[start:], start) if flags & ERROR]


def items_of(trajectory: Trajectory, steps: Iterable[int]) -> Iterable[int]:
    """The items of some steps."""
    return map(trajectory.items.of_step, steps) if trajectory.items.places else steps
