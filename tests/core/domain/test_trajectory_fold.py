"""The trajectory is a fold: of a prefix it is what it was at that time."""

import copy

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import PERSON, RULE, Maker, make_session

from core.domain.errors import Conflict, NotFound
from core.domain.events import (
    FACT_KINDS,
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceEdited,
    GuidanceFact,
    GuidanceWithdrawn,
    OpinionFact,
    Placed,
    TagSet,
    UnknownFact,
    VerdictGiven,
    kinds_of,
)
from core.domain.folded import can_be_stored
from core.domain.session import ALLOWED, FINAL_STATES, SessionRow, advance
from core.domain.trajectory import FOLDS, NOT_FOLDED, Item, fold
from core.domain.verdict import Author


def placed(bodies, session="s"):
    return [Placed(session=session, seq=n, body=b) for n, b in enumerate(bodies, 1)]


def visible(t):
    """Everything that a reader can see of a trajectory."""
    return copy.deepcopy((t.seq, t.row, t.items, t.steps, t.summaries, t.guidance, t.scores, t.files, t.web_searches,
                          t.terminals, t.open_step))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 500), st.data())
def test_folding_a_prefix_is_stopping_there(seed, data):
    log = placed(make_session(steps=12, guidance=3, seed=seed)[0])
    cut = data.draw(st.integers(0, len(log)))
    part = fold("s", log[:cut])
    before = visible(part)
    whole = fold("s", log)
    assert visible(fold("s", log[:cut])) == before
    for one in log[cut:]:
        part.apply(one)
    assert visible(part) == visible(whole)


def test_the_row_is_the_same_fold():
    log = placed(make_session(steps=30, guidance=4, seed=1)[0])
    row = SessionRow(session="s")
    for one in log:
        row = advance(row, one.seq, one.event)
    whole = fold("s", log)
    assert row == whole.row
    assert (row.steps, row.state, row.score, row.guidance_waiting, row.attention) == (30, "finished", 73.0, 0, ())
    assert row.errors == sum(step.head.is_error for step in whole.steps)
    assert row.tokens == sum(s.head.usage.input_tokens + s.head.usage.output_tokens for s in whole.steps)


def test_a_gap_or_repeat_is_refused_and_changes_nothing():
    log = placed(make_session(steps=2, seed=1)[0])
    trajectory = fold("s", log[:3])
    before = visible(trajectory)
    for wrong in (log[2], log[4]):
        with pytest.raises(Conflict) as caught:
            trajectory.apply(wrong)
        assert caught.value.code == "seq_gap"
    assert visible(trajectory) == before


def test_guidance_goes_through_its_states():
    maker = Maker()
    first, second, third = maker.guide("a"), maker.guide("b"), maker.guide("c")
    maker.say(GuidanceChangeAsked(guidance=second, request="r", text=None), PERSON)
    asked = fold("s", placed(maker.bodies))
    assert [g.change for g in asked.guidance.values()] == ["", "withdraw", ""]
    assert asked.row.guidance_waiting == 3
    maker.say(GuidanceWithdrawn(guidance=second))
    maker.say(GuidanceChangeAsked(guidance=third, request="r", text="d"), PERSON)
    maker.say(GuidanceEdited(guidance=third, text="d"))
    maker._waiting = [(first, "a"), (third, "d")]
    maker.add_step()
    maker.say(GuidanceChangeAsked(guidance=first, request="r", text="late"), PERSON)
    maker.say(GuidanceChangeRefused(guidance=first, request="r", step=1))
    done = fold("s", placed(maker.bodies))
    fates = [(g.text, g.state, g.delivered_step, g.answered_step) for g in done.guidance.values()]
    assert fates == [("a", "answered", 1, 1), ("b", "withdrawn", None, None), ("d", "answered", 1, 1)]
    assert done.guidance[first].refused == "delivered_at_step:1" and done.row.guidance_waiting == 0
    assert done.items[:3] == [Item("guidance", first), Item("guidance", third), Item("step", 0)]


def test_what_is_said_about_unknown_guidance_or_steps_is_ignored():
    maker = Maker()
    for fact in (GuidanceEdited(guidance="?", text=""), GuidanceWithdrawn(guidance="?"), TagSet(step=9, tag="x"),
                 VerdictGiven(step=9, value="mask")):
        maker.say(fact)
    assert fold("s", placed(maker.bodies)).guidance == {}


def test_what_is_said_before_a_step_is_here_stands_when_it_comes():
    maker = Maker()
    maker.say(VerdictGiven(step=1, value="mask"), PERSON)
    maker.say(VerdictGiven(step=1, value="keep"), PERSON)
    maker.say(TagSet(step=1, tag="x"), PERSON)
    assert not can_be_stored(fold("s", placed(maker.bodies))), "a fold that is read again would have lost it"
    maker.add_step()
    trajectory = fold("s", placed(maker.bodies))
    assert [v.value for v in trajectory.step(1).verdicts.values()] == ["keep"] and set(trajectory.step(1).tags) == {"x"}
    assert can_be_stored(trajectory)


def test_the_latest_verdict_of_each_author_stands_and_a_person_decides():
    maker = Maker()
    maker.add_step()
    other = Author(kind="person", name="wang")
    finals = []
    for author, value in ((RULE, "mask"), (PERSON, "keep"), (other, "mask"), (PERSON, "keep"), (PERSON, "none"),
                          (other, "unsure")):
        maker.say(VerdictGiven(step=1, value=value), author)
        finals.append(fold("s", placed(maker.bodies)).step(1).outcome)
    assert finals == ["mask", "keep", "mask", "keep", "mask", "mask"]


def test_steps_and_contexts_are_found_by_number():
    trajectory = fold("s", placed(make_session(steps=40, seed=4)[0]))
    assert trajectory.step(7).head.number == 7 and trajectory.index_of(7) == 6 and trajectory.index_of(99) is None
    assert trajectory.context(1)[0].role == "system"
    summary = trajectory.summaries["sum15"]
    assert trajectory.summary_context(summary)[-1].source == "note"
    assert trajectory.summary_context(summary)[:-3] == trajectory.context(15)
    for missing in (trajectory.step, trajectory.context):
        with pytest.raises(NotFound):
            missing(41)


def test_a_session_that_finished_never_goes_on_and_every_state_has_its_rule():
    assert not ALLOWED["finished"] and set(ALLOWED) >= FINAL_STATES
    assert set().union(*ALLOWED.values()) == set(ALLOWED)
    assert all(state not in after for state, after in ALLOWED.items())


def test_every_kind_of_fact_is_folded_or_said_to_be_passed_over():
    assert set(FOLDS) | set(NOT_FOLDED) == {*FACT_KINDS.values(), UnknownFact}
    assert not set(FOLDS) & set(NOT_FOLDED)


def opinions_and_guidance(maker):
    trajectory = fold("s", placed(maker.bodies))
    entry = trajectory.step(1)
    return entry.verdicts, entry.notes, entry.tags, trajectory.guidance


@pytest.mark.parametrize("kind", [*kinds_of(GuidanceFact), *kinds_of(OpinionFact)])
def test_every_kind_of_opinion_and_word_about_guidance_changes_the_trajectory(kind):
    """A subject has one fold for all its kinds: a new kind needs a case of its own there."""
    maker = Maker()
    maker.add_step()
    about = {"guidance": maker.guide("use the cache"), "step": 1, "text": "other", "tag": "slow", "value": "mask",
             "request": "r"}
    fields = {f.encode_name: about[f.encode_name] for f in msgspec.structs.fields(kind) if f.encode_name in about}
    before = opinions_and_guidance(maker)
    maker.say(kind(**fields), RULE)
    assert opinions_and_guidance(maker) != before
