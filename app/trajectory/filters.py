"""Which items of a trajectory a filter lets through: only what is new to it is looked at. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from app.trajectory.facets import Facets
from core.domain.blindness import is_judged, judged_count, seen
from core.domain.steps import ERROR, PERSON
from core.domain.trajectory import Item, Trajectory

ALL = "all"
FILTERS = (ALL, "undecided", "errors", "changes", "guidance", "verdicts", "scores")
"""Several of those of steps hold together, joined by "+"."""

ALONE = (ALL, "guidance", "scores")
"""What cannot be joined: it lists no steps, or all."""

_OTHERS = {"guidance": ("guidance",), "scores": ("score", "submission")}
"""What a filter lists that is no step; that of people lists the steps, too, that one of them wrote."""

_FAILED, _WRITTEN = (bytes(int(bool(flags & bit)) for flags in range(256)) for bit in (ERROR, PERSON))


def new_items(trajectory: Trajectory, filter: str, facets: Facets, taken: int, steps_taken: int, reader: str
              ) -> Iterator[int]:
    """The items from the `taken`-th on (of steps: from the `steps_taken`-th on) that a filter and facets let through;
    a blind `reader` gets none because of what others think of it."""
    if filter in _OTHERS:
        items = trajectory.items
        found = [items.places[at] for at in items.others_in(taken, len(items)) if not facets.count
                 and _lists(trajectory, items.others[at], filter)]
        if filter == "guidance":
            found += items_of(trajectory, sorted(
                {*steps_with(trajectory, PERSON, steps_taken)} & {*facets.steps_of(trajectory, steps_taken, reader)}))
        yield from sorted(found)
        return
    wanted = filter.split("+")
    steps: Iterable[int] = facets.steps_of(trajectory, steps_taken, reader)
    if "errors" in wanted:
        failed = steps_with(trajectory, ERROR, steps_taken)
        steps = sorted({*failed} & {*steps}) if facets.count else failed
    if "changes" in wanted:
        changing = changing_steps(trajectory)
        steps = (at for at in steps if at in changing)
    opinions = trajectory.steps.opinions
    if "verdicts" in wanted:
        steps = (at for at in steps if at in opinions and seen(opinions[at].verdicts, reader))
    if "undecided" in wanted:
        steps = (at for at in steps if not is_judged(trajectory.steps, at, reader))
    yield from items_of(trajectory, steps)


def _lists(trajectory: Trajectory, item: Item, filter: str) -> bool:
    """Whether a filter of what is no step lists the item; a user who may be no person is not among people."""
    return item.kind in _OTHERS[filter] and (item.kind != "guidance" or trajectory.guidance[str(item.ref)].by_person)


def counts_of(trajectory: Trajectory, reader: str = "") -> dict[str, int]:
    """How many each of FILTERS lists to a `reader`, as in `new_items`."""
    steps, others = trajectory.steps, trajectory.items.others
    kinds = Counter[str](other.kind for other in others)
    return {ALL: len(steps), "undecided": len(steps) - judged_count(steps, reader),
            "errors": steps.flags.translate(_FAILED).count(1), "changes": len(changing_steps(trajectory)),
            "guidance": sum(_lists(trajectory, other, "guidance") for other in others)
            + steps.flags.translate(_WRITTEN).count(1),
            "verdicts": sum(bool(seen(o.verdicts, reader)) for o in steps.opinions.values()),
            "scores": sum(kinds[k] for k in _OTHERS["scores"])}


def changing_steps(trajectory: Trajectory) -> set[int]:
    """The steps, by index, that changed a file."""
    found = (trajectory.index_of(number) for number in {change.step for change in trajectory.files})
    return {at for at in found if at is not None}


def steps_with(trajectory: Trajectory, bit: int, start: int) -> list[int]:
    """The steps from the `start`-th on that have a flag."""
    return [at for at, flags in enumerate(trajectory.steps.flags[start:], start) if flags & bit]


def items_of(trajectory: Trajectory, steps: Iterable[int]) -> Iterable[int]:
    """The items of some steps."""
    return map(trajectory.items.of_step, steps) if trajectory.items.places else steps
