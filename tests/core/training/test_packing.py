"""Rows are dealt out without one lost, in packs that fit, of like work on every device; merging keeps every weight."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
pytest.importorskip("torch")

from core.training.copies import Counted, cut_tail, merge  # noqa: E402
from core.training.packing import Work, groups, packs, work_of  # noqa: E402
from core.training.updates import Levers, Shuffled, UpdateCollator  # noqa: E402


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 100), st.integers(1, 4), st.integers(1, 5))
def test_every_row_is_computed_once_and_every_device_takes_as_many_turns(lengths, most, devices, rows):
    for dealt in (packs(lengths, most, devices, Work(1.0, 0.1)), groups(lengths, rows, devices)):
        assert len(dealt) == devices and len({len(parts) for parts in dealt}) == 1 and dealt[0]
        assert sorted(row for parts in dealt for part in parts for row in part) == list(range(len(lengths)))
    for part in (p for parts in packs(lengths, most, devices, Work()) for p in parts):
        assert len(part) <= 1 or sum(lengths[i] for i in part) <= most


def test_packs_have_equal_work_not_equal_tokens():
    lengths = [4000, *[500] * 8]
    work = Work(1.0, 0.001)
    [one], [other] = packs(lengths, 8000, 2, work)
    assert one == [0] and sorted(other) == list(range(1, 9))
    assert sum(work.of(lengths[i]) for i in other) < work.of(4000)


def test_the_work_of_a_model_weighs_attention_by_its_shape():
    class Config:
        hidden_size, num_attention_heads, num_key_value_heads, intermediate_size, head_dim = 4096, 32, 8, 12_288, 128

    told = work_of(Config)
    assert told.per_token == 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 12_288
    assert told.of(131_072) / (8 * told.of(16_384)) > 2.5  # as many tokens, but in one row


ROWS = st.lists(st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(0, 63)), max_size=12)


def rows_of(drawn):
    return [Counted(np.array(ids), np.array([float(bits >> n & 1) * (n > 0) for n in range(len(ids))]))
            for ids, bits in drawn]


@settings(deadline=None)
@given(ROWS, st.booleans(), st.booleans())
def test_merging_keeps_what_is_trained_after_which_tokens(drawn, prefixes, cut):
    """How often each prediction counts (these tokens, then that one) is the same, whatever is merged."""
    def told(rows):
        counts = {}
        for row in rows:
            for at in np.flatnonzero(row.weights):
                key = tuple(row.ids[: at + 1].tolist())
                counts[key] = counts.get(key, 0.0) + float(row.weights[at])
        return counts

    rows = rows_of(drawn)
    short = [cut_tail(r) for r in rows] if cut else rows
    joined = merge(short, prefixes=prefixes)
    assert told(joined) == told(rows)
    seen = [tuple(r.ids.tolist()) for r in joined]
    assert len(set(seen)) == len(seen)
    if prefixes:
        assert not any(a != b and b[: len(a)] == a for a in seen for b in seen)
    else:
        assert set(seen) == {tuple(r.ids.tolist()) for r in short}, "copies are joined, and nothing else"


def test_an_update_without_anything_trained_is_still_computed_by_every_device():
    for levers in (Levers(pack=8), Levers()):
        told = UpdateCollator(levers, 0, 1, 2)([{"input_ids": [1, 2], "labels": [1, -100]}])
        [part] = told["parts"]
        assert told["weight"] == 0 and (part["labels"] == -100).all()


def test_an_epoch_takes_every_row_once_in_an_order_of_its_own():
    told = Shuffled(10, 4, 42)
    first = list(told)
    assert [len(b) for b in first] == [4, 4, 2] == [4] * 2 + [len(told) - 1]
    assert sorted(i for b in first for i in b) == list(range(10)) and first == list(told)
    told.set_epoch(1)
    assert list(told) != first and sorted(i for b in told for i in b) == list(range(10))
