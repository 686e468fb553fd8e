"""Contexts as deltas: exact, in order, and linear in size."""


import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cost import cost_s
from support.logs import make_session

from core.domain.context import (
    MOST_MESSAGES,
    ContextDelta,
    Contexts,
    MessageRef,
    PreviousRange,
    apply_delta,
    delta_between,
)
from core.domain.errors import InvalidInput
from core.domain.events import Placed, StepAdded, decode_event
from core.domain.trajectory import fold

refs = st.builds(
    MessageRef, hash=st.sampled_from("abcdefg"), role=st.sampled_from(["user", "tool"]), tokens=st.integers(0, 2)
)
contexts = st.lists(refs, max_size=12)


@given(contexts, contexts)
def test_a_delta_gives_back_the_context(before, after):
    assert apply_delta(before, delta_between(before, after)) == after


@given(st.lists(contexts, max_size=80))
def test_contexts_are_the_same_whatever_the_order_of_asking(lists):
    deltas = [delta_between(before, after) for before, after in zip([[], *lists], lists, strict=False)]
    held = Contexts(deltas.__getitem__)
    for index in [*range(len(lists) - 1, -1, -1), *range(len(lists))]:
        assert held.at(index) == lists[index]
    assert held.at(-1) == []


def test_a_context_that_grows_is_one_run_and_what_entered():
    before = [MessageRef(hash=str(n), role="user") for n in range(5)]
    new = MessageRef(hash="new", role="tool")
    assert delta_between(before, [*before, new]).parts == (PreviousRange(start=0, stop=5), new)
    assert delta_between(before, before[:1] + before[3:]).parts == (PreviousRange(start=0, stop=1),
                                                                    PreviousRange(start=3, stop=5))


def test_a_returned_context_is_the_callers_own():
    ref = MessageRef(hash="a", role="user")
    held = Contexts([delta_between([], [ref])].__getitem__)
    held.at(0).append(ref)
    assert held.at(0) == [ref]


@pytest.mark.parametrize("part", [PreviousRange(start=0, stop=2), PreviousRange(start=-1, stop=1),
                                  PreviousRange(start=1, stop=0)])
def test_a_delta_that_refers_outside_is_refused(part):
    with pytest.raises(InvalidInput) as caught:
        apply_delta([MessageRef(hash="a", role="user")], ContextDelta(parts=(part,)))
    assert caught.value.code == "context_delta"


def test_storage_of_a_long_session_is_linear():
    """Sizes of deltas do not grow with the number of steps, contexts of many messages notwithstanding."""
    bodies, _ = make_session(steps=400, guidance=10, seed=2)
    facts = [f for b in bodies if isinstance(f := decode_event(b).fact, StepAdded)]
    assert max(len(f.context.parts) for f in facts) < 12
    trajectory = fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)])
    assert max(len(trajectory.context(step.head.number)) for step in trajectory.steps) > 20


@given(st.lists(contexts, min_size=1, max_size=60), st.lists(st.integers(0, 59), max_size=80))
def test_contexts_equal_the_plain_fold_in_any_order_of_asking(lists, asked):
    deltas = [delta_between(before, after) for before, after in zip([[], *lists], lists, strict=False)]
    plain: list[list[MessageRef]] = []
    for delta in deltas:
        plain.append(apply_delta(plain[-1] if plain else [], delta))
    held = Contexts(deltas.__getitem__)
    for index in (at % len(lists) for at in asked):
        assert held.at(index) == plain[index]


@st.composite
def histories(draw) -> list[ContextDelta]:
    """Contexts that keep any stretches of the one before, in any order, and take in messages that are like no other."""
    deltas: list[ContextDelta] = []
    length = 0
    for number in range(draw(st.integers(1, 12))):
        parts: list[PreviousRange | MessageRef] = []
        for place in range(draw(st.integers(1, 4))):
            start = draw(st.integers(0, length))
            span = PreviousRange(start=start, stop=draw(st.integers(start, length)))
            parts.append(span if span.stop > start else MessageRef(hash=f"{number}.{place}", role="user"))
        deltas.append(ContextDelta(parts=tuple(parts)))
        length = sum(part.stop - part.start if isinstance(part, PreviousRange) else 1 for part in parts)
    return deltas


@given(histories(), st.lists(st.integers(0, 11), min_size=1, max_size=20))
def test_stretches_that_are_kept_from_within_others_are_found_where_they_entered(deltas, asked):
    plain: list[list[MessageRef]] = [[]]
    for delta in deltas:
        plain.append(apply_delta(plain[-1], delta))
    held = Contexts(deltas.__getitem__)
    for index in (at % len(deltas) for at in asked):
        assert held.at(index) == plain[index + 1]


keeps = st.builds(PreviousRange, start=st.integers(-1, 6), stop=st.integers(-1, 6)).filter(lambda k: k.start != k.stop)


@given(st.lists(st.lists(st.one_of(keeps, refs), max_size=5), min_size=1, max_size=8))
def test_what_does_not_fit_is_refused_where_it_is_needed(parts):
    deltas = [ContextDelta(parts=tuple(one)) for one in parts]
    held = Contexts(deltas.__getitem__)
    before: list[MessageRef] = []
    for index, delta in enumerate(deltas):
        try:
            before = apply_delta(before, delta)
        except InvalidInput:
            with pytest.raises(InvalidInput):
                held.at(index)
            return
        assert held.at(index) == before


@pytest.mark.parametrize("forward", [True, False])
def test_going_through_a_long_session_looks_at_each_delta_a_few_times(forward):
    refs_ = [MessageRef(hash=str(n), role="user") for n in range(2_000)]
    deltas = [ContextDelta(parts=(PreviousRange(start=0, stop=n), ref) if n else (ref,)) for n, ref in enumerate(refs_)]
    looks = 0

    def delta_at(index: int) -> ContextDelta:
        nonlocal looks
        looks += 1
        return deltas[index]

    held = Contexts(delta_at)
    for index in range(2_000) if forward else reversed(range(2_000)):
        assert len(held.at(index)) == index + 1
    assert looks < 4 * 2_000


def test_a_few_deltas_cannot_describe_more_than_any_memory_holds():
    """Each keeps all of the context before it twice: after thirty steps that would be a thousand million messages."""
    ref = MessageRef(hash="0" * 64, role="user")
    deltas = [ContextDelta(parts=(ref,))]
    deltas += [ContextDelta(parts=(PreviousRange(start=0, stop=2**n),) * 2) for n in range(30)]
    contexts = Contexts(lambda i: deltas[i])
    assert len(contexts.at(10)) == 2**10
    for index in (30, 20):
        with pytest.raises(InvalidInput) as caught:
            contexts.at(index)
        assert caught.value.code == "context_delta"
    with pytest.raises(InvalidInput):
        apply_delta([ref] * MOST_MESSAGES, ContextDelta(parts=(PreviousRange(start=0, stop=MOST_MESSAGES), ref)))


def test_as_many_equal_results_cost_no_more_than_different_ones() -> None:
    """An agent may be answered the same thousands of times: equal texts of other steps are many refs of one hash."""
    def refs(step: int, name: str) -> list[MessageRef]:
        return [MessageRef(hash=name.format(n), role="tool", source=f"step:{step}") for n in range(6000)]

    def seconds(name: str) -> float:
        before, after = refs(1, name), refs(2, name)
        return cost_s(lambda: delta_between(before, after))

    assert len(delta_between(refs(1, "same"), refs(2, "same")).parts) == 6000
    assert seconds("same") < 20 * seconds("r{}")
