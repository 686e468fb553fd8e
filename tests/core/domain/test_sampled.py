"""Sampled tokens as they rest in a log, and the rows that they make."""

from __future__ import annotations

import math
from array import array

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import sampled
from core.domain.errors import InvalidInput
from core.domain.sampled import Sampled, decode_sampled, encode_sampled, token_rows

IDS = st.lists(st.integers(0, 2**31 - 1), max_size=20)


def one(prompt: list[int], ids: list[int], *, continues: bool = False, **more: object) -> Sampled:
    return Sampled.of(ids=ids, logprobs=[-0.5] * len(ids), prompt_ids=prompt, continues=continues, **more)


@given(IDS, IDS, st.booleans())
def test_what_is_stored_comes_back(prompt, ids, continues):
    made = one(prompt, ids, continues=continues, policy="p", version=7, temperature=0.5, top_p=0.9)
    again = decode_sampled(encode_sampled(made))
    assert again == made and (again.prompt_ids, again.ids, again.logprobs) == (prompt, ids, [-0.5] * len(ids))


def test_answers_that_go_on_are_one_row_and_others_begin_one():
    rows = token_rows([(1, one([1, 2], [3])), (2, one([4], [5, 6], continues=True, version=1)), (3, one([9], [8]))])
    assert [row.ids for row in rows] == [[1, 2, 3, 4, 5, 6], [9, 8]]
    assert rows[0].is_own == [False, False, True, False, True, True]
    assert rows[0].steps == [0, 0, 1, 0, 2, 2] and rows[0].versions == [-1, -1, 0, -1, 1, 1]
    assert rows[0].logprobs == [0.0, 0.0, -0.5, 0.0, -0.5, -0.5] and rows[1].steps == [0, 3]


def test_another_policy_or_temperature_has_a_row_of_its_own_with_the_past_as_context():
    rows = token_rows([(1, one([1], [2])), (2, one([3], [4], continues=True, temperature=0.5))])
    assert [row.ids for row in rows] == [[1, 2], [1, 2, 3, 4]]
    assert rows[1].is_own == [False, False, False, True] and rows[1].temperature == 0.5


@pytest.mark.parametrize("make", [
    lambda: Sampled.of(ids=[1], logprobs=[], prompt_ids=[]), lambda: one([], [-1]), lambda: one([2**31], []),
    lambda: Sampled.of(ids=[1], logprobs=[float("nan")], prompt_ids=[]),
    lambda: Sampled.of(ids=[1], logprobs=[2.0], prompt_ids=[]), lambda: decode_sampled(b"no"),
    lambda: decode_sampled(encode_sampled(Sampled(packed_ids=b"abcd"))),
    lambda: decode_sampled(encode_sampled(Sampled(packed_ids=b"abc", packed_logprobs=b"abc"))),
    lambda: one([], [1], texts=["a", "b"]), lambda: decode_sampled(encode_sampled(Sampled(texts=("a",)))),
    lambda: token_rows([(1, one([1], [2], continues=True))])])
def test_what_cannot_be_is_refused(make):
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.code == "bad_sampled"


def test_a_log_of_somebody_elses_holds_no_number_that_none_could_be():
    """`of` makes none of these; whoever wrote the log wrote the bytes."""
    sound = one([1], [2, 3])
    for field, kind, value in [("packed_ids", "I", 2**31), ("packed_prompt", "I", 2**32 - 1),
                               *(("packed_logprobs", "f", x) for x in (math.nan, math.inf, -math.inf, 0.5, 3e38))]:
        numbers = array(kind, [value] * (1 if field == "packed_prompt" else 2)).tobytes()
        with pytest.raises(InvalidInput, match="sampled tokens"):
            decode_sampled(encode_sampled(msgspec.structs.replace(sound, **{field: numbers})))


def test_answers_that_tell_the_past_again_and_again_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(sampled, "MOST_IN_ROWS", 1_000)
    several = [(n, one([1] * 50, [2], continues=n > 1, policy=f"p{n % 2}")) for n in range(1, 20)]
    with pytest.raises(InvalidInput, match="rows of more than 1,000"):
        token_rows(several)
