"""What is tried again and again is found at any length, at any period that is looked for, wherever it stands."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from app.trajectory.rows import _same_again


@given(st.lists(st.sampled_from((0, 1, 255, 256, 65_536, 2**32 - 1)), max_size=60), st.integers(1, 3),
       st.integers(1, 5))
def test_stretches_are_those_that_a_plain_comparison_finds(keys: list[int], period: int, least: int) -> None:
    same = [a == b for a, b in zip(keys, keys[period:], strict=False)]
    expected, first = [], 0
    for at in range(len(same) + 1):
        if at == len(same) or not same[at]:
            if at - first >= least:
                expected.append((first, at))
            first = at + 1
    assert list(_same_again(array("I", keys), period, least)) == expected
