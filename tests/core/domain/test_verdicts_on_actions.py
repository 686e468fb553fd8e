"""A verdict on one action: what it changes, what takes it back, and that older logs mean what they meant."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import START
from support.tally import tally

from core.domain.events import Placed, StepAdded, VerdictGiven, decode_event, encode_event, make_event
from core.domain.folded import decode_folded, encode_folded
from core.domain.head import make_head
from core.domain.step import Action, StepBody
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author, Verdict, by_action, outcome, step_outcome, take, verdict_key
from core.protocol.operations import GiveVerdict

LI, WU = Author(kind="person", name="li"), Author(kind="person", name="2:rule:li")
RULE, JUDGE = Author(kind="rule", name="r", version="1"), Author(kind="judge", name="m")
AUTHORS = (LI, WU, RULE, JUDGE)
COUNT = 3

Word = tuple[Author, int, str]
WORDS = st.lists(st.tuples(st.sampled_from(AUTHORS), st.integers(0, COUNT),
                           st.sampled_from(["keep", "mask", "unsure", "none"])), max_size=12)


def told(words: Sequence[Word], actions: int = COUNT) -> Trajectory:
    body = StepBody(number=1, actions=tuple(Action(call_id=f"c{i}", tool="run_command") for i in range(actions)))
    facts = [(Author(kind="agent", name="a"), StepAdded(head=make_head(body), body="1e" * 32)),
             *((a, VerdictGiven(step=1, action=n, value=v)) for a, n, v in words)]  # type: ignore[arg-type]
    events = [make_event(f, a, at=START + timedelta(seconds=i)) for i, (a, f) in enumerate(facts)]
    return fold("s", [Placed(session="s", seq=n, body=encode_event(e)) for n, e in enumerate(events, 1)])


def oracle(words: Sequence[Word], action: int) -> str:
    """By the sentences of the glossary, one after the other, without the fold."""
    last: dict[str, tuple[int, str]] = {}
    for author in AUTHORS:
        mine = [(i, n, v) for i, (a, n, v) in enumerate(words) if a == author]
        whole = next(((i, v) for i, n, v in reversed(mine) if n == 0), (-1, "none"))
        alone = next(((i, v) for i, n, v in reversed(mine) if n == action and i > whole[0]), (-1, "none"))
        word = alone if alone[1] != "none" else whole
        if word[1] != "none":
            last[author.key] = word
    people = [last[a.key] for a in (LI, WU) if a.key in last and last[a.key][1] in ("keep", "mask")]
    if people:
        return max(people)[1]
    machines = {last[a.key][1] for a in (RULE, JUDGE) if a.key in last}
    return "mask" if "mask" in machines else "keep" if "keep" in machines else "undecided"


@settings(max_examples=400, deadline=None)
@given(WORDS)
def test_what_counts_for_each_action_is_what_the_rules_in_words_say(words):
    entry = told(words).step(1)
    want = [oracle(words, n) for n in range(1, COUNT + 1)]
    parts = by_action(entry.verdicts.values(), COUNT)
    got = [outcome(parts[0])] * COUNT if 0 in parts else [outcome(parts[n]) for n in range(1, COUNT + 1)]
    assert got == want
    assert entry.outcome == ("undecided" if "undecided" in want else want[0] if len(set(want)) == 1 else "partly")
    assert set(entry.masked_actions) in ({n for n, v in enumerate(want, 1) if v == "mask"}, set())


def test_a_thousand_histories_of_verdicts_mask_no_other_action() -> None:
    chance, harm = random.Random(11), []
    for case in range(1_000):
        words = [(chance.choice(AUTHORS), chance.randint(0, COUNT), chance.choice(["keep", "mask", "none"]))
                 for _ in range(chance.randint(0, 8))]
        entry = told(words).step(1)
        parts = by_action(entry.verdicts.values(), COUNT)
        harm += [f"{case}.{n}" for n in range(1, COUNT + 1)
                 if outcome(parts.get(n, parts.get(0, []))) != oracle(words, n)]
    tally("histories of verdicts on steps and actions, outcomes compared", 1_000, harm, seed="11")


def test_a_word_on_the_step_takes_back_the_author_s_words_on_its_actions_and_nobody_else_s():
    entry = told([(LI, 2, "mask"), (RULE, 1, "mask"), (LI, 0, "keep")]).step(1)
    assert set(entry.verdicts) == {"1:rule:r", "person:li"} and entry.outcome == "keep"
    assert told([(LI, 0, "mask"), (LI, 2, "keep")]).step(1).masked_actions == (1, 3)
    assert told([(LI, 0, "mask"), (LI, 2, "keep"), (LI, 2, "none")]).step(1).outcome == "mask"


def test_a_word_on_the_step_that_comes_late_leaves_what_was_said_after_it():
    """Opinions of another computer are merged: they keep their times and come in any order."""
    verdicts: dict[str, Verdict] = {}
    later: datetime = START + timedelta(hours=1)
    take(verdicts, Verdict(author=LI, value="keep", action=2, at=later), later)
    take(verdicts, Verdict(author=LI, value="mask"), START)
    assert set(verdicts) == {"person:li", "2:person:li"} and step_outcome(verdicts.values(), 3) == "partly"


def test_no_author_s_name_can_pass_for_a_word_on_an_action():
    assert verdict_key(RULE, 2) == "2:rule:r" and verdict_key(WU) == "person:2:rule:li"
    entry = told([(WU, 0, "mask"), (RULE, 2, "keep")]).step(1)
    assert len(entry.verdicts) == 2


def test_a_verdict_on_an_action_that_the_step_lacks_has_no_effect():
    for actions, action in ((3, 4), (1, 2), (0, 1)):
        assert told([(LI, action, "mask")], actions).step(1).outcome == "undecided"
        assert told([(LI, 0, "keep"), (LI, action, "mask")], actions).step(1).outcome == "keep"


def test_what_older_programs_wrote_reads_as_before_and_new_words_on_steps_are_written_as_before():
    old = b'{"id":"e1","at":"2026-03-01T09:00:00Z","author":{"kind":"person","name":"li"},' \
          b'"fact":{"type":"verdict_given","step":1,"value":"mask"}}'
    fact = decode_event(old).fact
    assert isinstance(fact, VerdictGiven) and fact.action == 0
    assert b"action" not in encode_event(make_event(fact, LI))
    assert b"action" not in msgspec.json.encode(GiveVerdict(step=1, value="mask"))
    assert b'"action":2' in msgspec.json.encode(GiveVerdict(step=1, value="mask", action=2))


def test_a_folded_session_keeps_words_on_actions():
    trajectory = told([(LI, 0, "keep"), (LI, 2, "mask"), (RULE, 3, "mask")])
    again = decode_folded("s", encode_folded(trajectory), lambda seqs: {})
    assert again.steps.opinions == trajectory.steps.opinions
