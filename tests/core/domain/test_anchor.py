"""A remark's words are found again wherever they moved, and nowhere where they are gone."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.domain.anchor import MOST_EXACT, TextAnchor, anchor_of, find, find_drawn, texts_of
from core.domain.step import Action, Observation, Output, StepBody

BODY = StepBody(
    number=3,
    thought="First **read** the file, then\nread the file again; the file is short.",
    actions=(Action(call_id="a", tool="Bash", arguments={"command": "cat the file", "timeout": 30}),
             Action(call_id="b", tool="Read", arguments={"file_path": "/x/y"})),
    observations=(Observation(call_id="b", output=Output(text="the file\n= = =\nend")),
                  Observation(call_id="z", output=Output(text="of nobody"))),
)


def words(anchor: TextAnchor | None, body: StepBody = BODY) -> str:
    found = find(anchor, body) if anchor is not None else None
    return found.text.text[found.start : found.stop] if found is not None else ""


def test_what_is_drawn_without_marks_and_in_other_lines_is_found_in_the_text() -> None:
    anchor = anchor_of(BODY, "First read the file, then read")
    assert anchor is not None and anchor.part == "thought"
    assert anchor.exact == "First **read** the file, then\nread"


def test_what_stands_before_chooses_between_equal_words() -> None:
    first, last = anchor_of(BODY, "the file", "First read "), anchor_of(BODY, "the file", "again; ")
    assert first is not None and last is not None
    assert BODY.thought[last.start :].startswith("the file is short") and first.start < last.start


def test_every_text_of_a_step_can_be_meant() -> None:
    command, output = anchor_of(BODY, "cat the"), anchor_of(BODY, "= = =")
    assert command is not None and (command.part, command.action, command.name) == ("action", 1, "command")
    assert output is not None and (output.part, output.action) == ("output", 2)
    assert anchor_of(BODY, "of nobody") == TextAnchor(part="output", exact="of nobody")
    assert anchor_of(BODY, "not in it") is None and anchor_of(BODY, " \n ") is None


def test_a_selection_over_several_texts_counts_with_its_longest_line() -> None:
    anchor = anchor_of(BODY, "is short.\nAction 1 of 2  Bash\ncommand: cat the file")
    assert anchor is not None and anchor.exact in ("cat the file", "is short")


def test_words_that_moved_are_found_where_their_neighbours_are() -> None:
    anchor = anchor_of(BODY, "the file", "again; ")
    assert anchor is not None
    moved = msgspec.structs.replace(BODY, thought="the file! And much more. " + BODY.thought)
    place = find(anchor, moved)
    assert place is not None and moved.thought[place.start :].startswith("the file is short")
    elsewhere = StepBody(number=3, observations=(Observation(call_id="q", output=Output(text="so the file is")),))
    assert words(anchor, elsewhere) == "", "the same words in another place are not those"
    assert find(anchor, StepBody(number=3, thought="another")) is None


def test_equal_words_elsewhere_are_not_those_that_were_cut_out() -> None:
    rows = [f"{n:03} | a long name of a column that all rows have | status | FAILED | case {n}\n" for n in range(9)]
    body = StepBody(number=1, thought="".join(rows))
    anchor = anchor_of(body, "FAILED", "".join(rows[:4]) + rows[4].partition("FAILED")[0])
    assert anchor is not None and body.thought[anchor.start :].startswith("FAILED | case 4")
    for without in (rows[:4] + rows[5:], rows[5:], rows[:4]):
        assert find(anchor, StepBody(number=1, thought="".join(without))) is None
    cut = "".join(rows[2:5])[: -len(" | case 4\n")]
    place = find(anchor, StepBody(number=1, thought=cut))
    assert place is not None and place.stop == len(cut)


def test_in_what_is_drawn_the_words_with_the_same_neighbours_are_those() -> None:
    drawn = "Step 3\nFirst read the file, then read the file again; the file is short.\nAction 1  Bash\ncat the file"
    for before, after in (("First read ", ", then"), ("then read ", " again"), ("again; ", " is short")):
        anchor = anchor_of(BODY, "the file", before)
        place = find_drawn(anchor, drawn) if anchor is not None else None
        assert place is not None and drawn[: place[0]].endswith(before) and drawn[place[1] :].startswith(after)


@given(st.text(min_size=1, max_size=300), st.data())
def test_any_span_of_any_text_is_found_as_it_was(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    body = StepBody(number=1, thought=text)
    anchor = anchor_of(body, text[start:stop], text[:start])
    if anchor is None:
        assert not text[start:stop].strip()
        return
    place = find(anchor, body)
    assert place is not None and (place.start, text[place.start : place.stop]) == (anchor.start, anchor.exact)


def test_a_long_selection_is_cut_and_stays_within_bounds() -> None:
    body = StepBody(number=1, thought="word " * 10_000)
    anchor = anchor_of(body, body.thought)
    assert anchor is not None and len(anchor.exact) <= MOST_EXACT
    assert msgspec.json.decode(msgspec.json.encode(anchor), type=TextAnchor) == anchor
    assert [t.part for t in texts_of(BODY)] == ["thought", "action", "action", "action", "output", "output"]
