"""A user who may be no person has rows in the list, and is not among people."""

import pytest

from app.desk.row_text import row_text
from app.guidance.model import lines_of
from app.outline.phases import phases_of
from app.step.aside import aside_of
from app.trajectory.digest_controller import digest_of
from app.trajectory.facets import Facets
from app.trajectory.filters import counts_of, new_items
from app.trajectory.overview import Overview
from core.domain import events as e
from core.domain.events import Placed
from core.domain.step import StepBody
from core.domain.trajectory import Trajectory
from core.formats.imported import SessionBuilder


def run(author: str) -> Trajectory:
    builder = SessionBuilder("openai-chat", "a.json", b"a")
    builder.create("Find it", "Find it")
    builder.step(StepBody(number=1, thought="Where?"), [], None)
    builder.fact(e.GuidanceQueued(guidance="g", text="There."), author)
    builder.fact(e.GuidanceDelivered(guidance="g", step=2))
    builder.step(StepBody(number=2, thought="Here."), [], None)
    made = Trajectory("s")
    for seq, body in enumerate(builder.build_without_end().bodies, 1):
        made.apply(Placed(session="s", seq=seq, body=body))
    return made


@pytest.mark.parametrize(("author", "word", "people", "phases"), [
    ("person", "Person", 1, 2), ("simulated user", "Simulated user", 0, 2), ("user", "User", 0, 1)])
def test_a_row_says_whose_words_they_are(qtbot, author, word, people, phases) -> None:
    trajectory = run(author)
    row = row_text(trajectory, "guidance", 1, 1)
    assert (row.tool, row.title, row.ground) == (word.removesuffix(" user"), "There.", "person" if people else "")
    assert row.time == "", "the file has no times: that of the import is nobody's"
    assert counts_of(trajectory)["guidance"] == people
    assert list(new_items(trajectory, "guidance", Facets(), 0, 0, "")) == [1] * people
    assert Overview(trajectory).lines == [(1, "person")] * people
    assert len(lines_of(trajectory, ())) == people
    digest = digest_of(trajectory, 1)
    assert digest is not None
    assert digest.guidance == people
    assert len(phases_of(trajectory)) == phases, "what an environment may have answered begins no phase"
    assert aside_of(trajectory, "guidance", "g", raw=False).title == ("Person's turn" if people else word)
