"""A trajectory that reads steps again from the log, and one kept as bytes, are the same as the plain fold."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import make_session

from core.domain.errors import InvalidInput
from core.domain.events import NoteAdded, Placed, StepAdded, VerdictGiven, encode_event, make_event
from core.domain.folded import VERSION, decode_folded, encode_folded
from core.domain.step_entry import Note
from core.domain.steps import ERROR, RECENT_BLOCKS, WAITING
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author

PERSON = Author(kind="person", name="li")


def placed(bodies):
    return [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)]


def reader(bodies):
    return lambda seqs: {seq: bodies[seq - 1] for seq in seqs}


def lazily(bodies, upto=None):
    made = Trajectory("s", reader(bodies))
    for one in placed(bodies)[:upto]:
        made.apply(one)
    return made


def visible(t):
    return copy.deepcopy((t.seq, t.row, list(t.items), list(t.steps), t.summaries, t.guidance, t.scores, t.files,
                          t.web_searches, {k: list(o) for k, o in t.terminals.items()}, t.open_step, t.created,
                          [t.context(e.head.number) for e in t.steps]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 500), st.data())
def test_reading_again_is_the_plain_fold_and_so_is_what_was_kept(seed, data):
    bodies, _ = make_session(steps=90, guidance=4, seed=seed)
    cut = data.draw(st.integers(0, len(bodies)))
    held = lazily(bodies, cut)
    assert visible(held) == visible(fold("s", placed(bodies)[:cut]))
    again = decode_folded("s", encode_folded(held), reader(bodies))
    assert visible(again) == visible(held)
    for one in placed(bodies)[cut:]:
        again.apply(one)
        held.apply(one)
    assert visible(again) == visible(held) == visible(fold("s", placed(bodies)))


def with_a_step_again(bodies, **changes):
    """An import that tells step 3 once more, without its usage, and is judged before and after."""
    fact = next(f for b in bodies if isinstance(f := Placed(session="s", seq=1, body=b).event.fact, StepAdded)
                and f.head.number == 3)
    again = msgspec.structs.replace(fact, body="f" * 64, **changes, head=msgspec.structs.replace(
        fact.head, title="told again", is_error=True, usage=type(fact.head.usage)()))
    say = [VerdictGiven(step=3, value="mask"), again, NoteAdded(step=3, text="still here")]
    return [*bodies, *(encode_event(make_event(f, PERSON)) for f in say)], fact


def test_a_step_that_is_told_again_keeps_usage_and_opinions():
    bodies, fact = with_a_step_again(make_session(steps=6, guidance=0, seed=4)[0])
    held, plain = lazily(bodies), fold("s", placed(bodies))
    assert visible(held) == visible(plain) == visible(decode_folded("s", encode_folded(held), reader(bodies)))
    entry = held.step(3)
    assert (entry.head.title, entry.head.usage, entry.outcome) == ("told again", fact.head.usage, "mask")
    assert [n.text for n in entry.notes] == ["still here"]


def test_opinions_on_a_text_that_a_step_has_no_more_do_not_stand():
    bodies, _ = with_a_step_again(make_session(steps=6, guidance=0, seed=4)[0], is_rewritten=True)
    held, plain = lazily(bodies), fold("s", placed(bodies))
    assert visible(held) == visible(plain) == visible(decode_folded("s", encode_folded(held), reader(bodies)))
    assert held.step(3).outcome == "undecided" and not held.step(3).verdicts
    assert [n.text for n in held.step(3).notes] == ["still here"], "what was said of the new text stands"


def test_what_is_said_later_reaches_an_entry_that_was_looked_at():
    bodies, _ = make_session(steps=5, guidance=0, seed=2, finished=False)
    bodies = [*bodies, encode_event(make_event(VerdictGiven(step=2, value="mask"), PERSON))]
    held = lazily(bodies, len(bodies) - 1)
    entry = held.step(2)
    held.apply(placed(bodies)[-1])
    assert entry.outcome == "mask"


def test_columns_say_what_entries_say():
    bodies, _ = make_session(steps=120, guidance=2, seed=9)
    held = lazily(bodies)
    for at, entry in enumerate(held.steps):
        flags, shape = held.steps.flags[at], held.steps.shape(at)
        assert bool(flags & ERROR) == entry.head.is_error
        assert bool(flags & WAITING) == entry.head.is_waiting
        assert (shape.tools, shape.family, shape.hosts) == (entry.head.tools, entry.head.family, entry.head.hosts)
        assert held.steps.started[at] == entry.head.started_at.timestamp()
        assert held.items.of_step(at) == list(held.items).index(held.items[held.items.of_step(at)])
        assert held.items.step_at(held.items.of_step(at)) == at


def test_only_so_many_entries_stay_in_memory():
    bodies, _ = make_session(steps=100, guidance=0, seed=1)
    steps = [b for b in bodies if isinstance(Placed(session="s", seq=1, body=b).event.fact, StepAdded)]
    made = Trajectory("s", reader(steps * 30))
    for seq, body in enumerate(steps * 30, 1):
        fact = Placed(session="s", seq=seq, body=body).event.fact
        made.steps.add(seq, msgspec.structs.replace(fact, head=msgspec.structs.replace(fact.head, number=seq)))
    assert len(made.steps._blocks) <= RECENT_BLOCKS
    assert made.steps[7].seq == 8


def test_nothing_that_a_trajectory_knows_is_left_out():
    """A new member of Trajectory must be put into core.domain.folded, or a session opened again would lack it."""
    bodies, _ = make_session(steps=30, guidance=3, seed=6)
    held = lazily(bodies)
    held.spent = {"person:li": {3: 12.5}}
    held.notes = [Note(PERSON, datetime(2026, 3, 2, tzinfo=UTC), "of the whole session")]
    again = decode_folded("s", encode_folded(held), reader(bodies))
    derived = {"_read", "contexts", "early"}
    assert {n: v for n, v in vars(again).items() if n not in derived} == {
        n: v for n, v in vars(held).items() if n not in derived}


@pytest.mark.parametrize("damage", [
    lambda d: b"", lambda d: d[: len(d) // 2], lambda d: d.replace(VERSION.encode(), b"9" * len(VERSION), 1),
    lambda d: b"\x81\xa1a\x01",
])
def test_other_bytes_are_refused(damage):
    bodies, _ = make_session(steps=5, guidance=1, seed=3)
    with pytest.raises(InvalidInput):
        decode_folded("s", damage(encode_folded(lazily(bodies))), reader(bodies))
