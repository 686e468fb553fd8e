"""Where many steps stand is told at once, and the same as for each alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.logs import Maker

from core.domain.events import Placed
from core.domain.items import Item, Items
from core.domain.steps import Steps
from core.domain.trajectory import Trajectory


@given(st.lists(st.booleans(), max_size=40), st.sets(st.integers(0, 45)))
def test_many_steps_stand_where_each_stands(kinds: list[bool], steps: set[int]) -> None:
    items = Items()
    for number, is_step in enumerate(kinds):
        items.add_step() if is_step else items.add(Item("score", number))
    wanted = sorted(steps)
    assert items.of_steps(wanted) == [items.of_step(step) for step in wanted]


def steps_of(numbers: list[int]) -> Steps:
    """Steps that are told by these numbers, in this order."""
    trajectory, maker = Trajectory("s"), Maker(1)
    for number in numbers:
        maker.step = number - 1
        maker.add_step()
    for seq, body in enumerate(maker.bodies, 1):
        trajectory.apply(Placed(session="s", seq=seq, body=body))
    return trajectory.steps


@given(st.one_of(st.integers(1, 5).map(lambda first: list(range(first, first + 6))),
                 st.lists(st.integers(1, 12), unique=True, max_size=6)), st.sets(st.integers(0, 14)))
def test_many_numbers_are_found_where_each_is_found(numbers: list[int], wanted: set[int]) -> None:
    steps = steps_of(numbers)
    assert steps.indices_of(wanted) == sorted(at for n in wanted if (at := steps.index_of(n)) is not None)
