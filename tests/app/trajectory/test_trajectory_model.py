"""The step list: folds waiting but never what is read, finds what is folded, grows without moving the reader."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication
from support.logs import Maker, make_session

from app.desk.find_query import items_with
from app.kit import quantities
from app.trajectory.facets import Facets, choices_of, span_of, times_of
from app.trajectory.filters import counts_of
from app.trajectory.model import ListRow, RowTextRole, TrajectoryModel
from app.trajectory.overview import LEVELS, Overview, spans, strength
from app.trajectory.step_list import StepList
from core.domain.events import GuidanceEdited, NoteAdded, Placed, ScoreGiven, StepAdded, StepStarted, VerdictGiven
from core.domain.trajectory import Trajectory
from core.domain.verdict import Author

PERSON = Author(kind="person", name="li")


class Session:
    """A session that grows: `w` waits, `s` works, `e` fails, `g` guides, `m` summarises."""

    def __init__(self, plan: str = "") -> None:
        self.maker = Maker(3)
        self.trajectory = Trajectory("s1")
        self.model = TrajectoryModel()
        self.grow(plan)
        self.model.show(self.trajectory)

    def grow(self, plan: str) -> None:
        for letter in plan:
            if letter == "m":
                self.maker.summarise()
            elif letter == "g":
                self.maker.guide("use the training split")
            else:
                self.maker.add_step("sleep" if letter == "w" else "run_command", fails=letter == "e")
        self.sync()

    def sync(self) -> None:
        for seq in range(self.trajectory.seq, len(self.maker.bodies)):
            self.trajectory.apply(Placed(session="s1", seq=seq + 1, body=self.maker.bodies[seq]))

    @property
    def shape(self) -> str:
        return " ".join(f"{r.kind[0]}{r.first}" if r.first == r.last else f"{r.kind[0]}{r.first}-{r.last}"
                        for r in self.model.rows)


def test_three_waiting_steps_fold_two_do_not():
    assert Session("swwswwws").shape == "i0 i1 i2 i3 f4-6 i7"


def test_a_summarys_row_begins_with_its_words(monkeypatch):
    session = Session("ss")
    monkeypatch.setattr(session.maker, "text", lambda words: "<state_of_the_art>\n11.5 if a<b></state_of_the_art>\n"
                                                             "<lessons>Look first.</lessons>")
    session.grow("m")
    session.model.show(session.trajectory)
    (title,) = [session.model.texts.of(session.trajectory, row, "item", False, "").title for row in session.model.rows
                if session.trajectory.items[row.first].kind == "summary"]
    assert title == "11.5 if a<b> Look first."


def test_growth_step_by_step_equals_a_fresh_view(qtmodeltester):
    plan = "swwwwesmwwswwwwgswww"
    grown = Session()
    qtmodeltester.check(grown.model)
    for letter in plan:
        grown.grow(letter)
        grown.model.refresh()
    assert grown.shape == Session(plan).shape


def test_what_is_read_is_not_folded_away():
    session = Session("sww")
    session.grow("ww")
    session.model.refresh(reading=1)
    assert session.shape == "i0 i1 i2 i3 i4"
    session.grow("s")
    session.model.refresh(reading=1)
    assert session.shape == "i0 i1 i2 i3 i4 i5"


def test_a_fold_opens_and_closes(qtmodeltester):
    session = Session("swwws")
    qtmodeltester.check(session.model)
    assert session.model.toggle(1) == 1
    assert session.shape == "i0 i1 i2 i3 i4"
    assert session.model.toggle(2) == 1
    assert session.shape == "i0 f1-3 i4"


def tries(session: Session, *commands: str, fails: bool = False) -> None:
    for command in commands:
        session.maker.step += 1
        session.maker._enter_observation()
        body = session.maker._body("run_command", fails=fails)
        action = msgspec.structs.replace(body.actions[0], arguments={"command": command})
        session.maker.say(session.maker._step_fact(msgspec.structs.replace(body, actions=(action,))))


def test_a_loop_that_tries_the_same_is_one_line_and_says_what(qtmodeltester):
    session = Session("s")
    qtmodeltester.check(session.model)
    for command in ("make", "make", "make", "ls", "make", "sed", "make", "sed", "make", "sed"):
        tries(session, command, fails=command == "make")
        session.sync()
        session.model.refresh()
    assert session.shape == "i0 f1-3 i4 f5-10" == shape_of(session.trajectory)
    parts = session.model.index(1).data(RowTextRole)
    assert (parts.number, parts.meaning, parts.word) == ("2–4", "error", "3 failed")
    assert (parts.tool, parts.title) == ("Same ×3", "make")
    session.model.toggle(1)
    assert session.shape == "i0 i1 i2 i3 i4 f5-10"
    assert session.model.steps_of_rows(4, 5) == [5, 6, 7, 8, 9, 10, 11]


def test_what_only_looks_the_same_is_no_loop():
    session = Session("s")
    tries(session, *["cat > a.py <<EOF\n" + "x" * 300] * 4)
    session.sync()
    session.model.refresh()
    assert session.shape == "i0 i1 i2 i3 i4"


def test_guidance_divides_a_run():
    assert Session("wwwgww").shape == "f0-2 i3 i4 i5"
    assert Session("wwgwww").shape == "i0 i1 i2 f3-5"


def test_a_loop_of_two_takes_turns_three_times_on_one_side_of_what_divides_it():
    session = Session("s")
    tries(session, *("make", "sed") * 2)
    session.maker.summarise()
    tries(session, *("make", "sed") * 3)
    session.sync()
    session.model.refresh()
    assert session.shape == "i0 i1 i2 i3 i4 i5 f6-11"


def shape_of(trajectory) -> str:
    model = TrajectoryModel()
    model.show(trajectory)
    return " ".join(f"{r.kind[0]}{r.first}" if r.first == r.last else f"{r.kind[0]}{r.first}-{r.last}"
                    for r in model.rows)


def test_a_fold_tells_count_span_and_failure():
    session = Session("swwws")
    parts = session.model.index(1).data(RowTextRole)
    assert parts.number == "2–4"
    assert "×3" in parts.title
    assert parts.meaning == "muted"
    failing = Session()
    for fails in (False, True, False):
        failing.maker.add_step("sleep", fails=fails)
    failing.sync()
    failing.model.refresh()
    assert failing.shape == "f0-2"
    assert failing.model.index(0).data(RowTextRole).meaning == "error"


def test_revealing_an_item_opens_its_fold():
    session = Session("swwws")
    assert session.model.reveal(2) == 2
    assert session.shape == "i0 i1 i2 i3 i4"


@pytest.mark.parametrize(("kind", "shape"), [
    ("errors", "i2"), ("guidance", "i1"), ("all", "i0 i1 i2 i3 i4"), ("verdicts", "i4"), ("scores", "")])
def test_filters(kind, shape):
    session = Session("s" + "g" + "e" + "m" + "s")
    session.maker.say(VerdictGiven(step=3, value="keep"), PERSON)
    session.sync()
    session.model.set_view(filter=kind)
    assert session.shape == shape


def test_every_item_is_found_at_its_row():
    session = Session("swwwwesmwwswwwwgswww")
    for item in range(len(session.trajectory.items)):
        row = session.model.rows[session.model.row_of(item)]
        assert row.first <= item <= row.last
    for number in range(1, len(session.trajectory.steps) + 1):
        item = session.trajectory.items[session.model.item_of_step(number)]
        assert session.trajectory.steps[item.ref].head.number == number


def test_find_sees_folded_steps_and_guidance():
    session = Session("swwwsgs")
    assert items_with(session.trajectory, "SLEEP") == [1, 2, 3]
    hits = items_with(session.trajectory, "training split")
    assert [session.trajectory.items[i].kind for i in hits] == ["guidance"]
    assert items_with(session.trajectory, "  ") == []


def test_words_of_a_row():
    session = Session("e")
    session.maker.say(VerdictGiven(step=1, value="mask"), PERSON)
    session.sync()
    parts = session.model.index(0).data(RowTextRole)
    assert (parts.icon, parts.word, parts.meaning, parts.tool) == ("terminal", "exit 1", "error", "run_command")
    assert parts.verdict == "⊘ masked"
    assert "masked" in session.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_markup_in_a_title_is_text():
    session = Session()
    session.maker.say(ScoreGiven(ordinal=1, step=1, total=50.0, message="<b>bold</b>\x1b[31m\u202e"))
    session.sync()
    session.model.refresh()
    assert session.model.index(0).data(RowTextRole).title == "50.0 · <b>bold</b>‹RLO›"


def test_the_live_row_comes_and_goes(qtmodeltester):
    session = Session("ss")
    qtmodeltester.check(session.model)
    session.maker.say(StepStarted(number=3))
    session.sync()
    session.model.set_live("I think")
    assert session.model.rows[-1] == ListRow("live")
    assert "I think" in session.model.index(2).data(RowTextRole).title
    session.grow("s")
    session.model.refresh()
    assert session.shape == "i0 i1 i2 l-1"
    session.model.set_live(None)
    assert session.shape == "i0 i1 i2"


def test_the_overview_forgets_what_was_said_of_a_text_that_a_step_has_no_more():
    session = Session("sss")
    step = next(f for b in reversed(session.maker.bodies)
                if isinstance(f := Placed(session="s1", seq=1, body=b).event.fact, StepAdded))
    session.maker.say(VerdictGiven(step=3, value="mask"), PERSON)
    session.maker.say(NoteAdded(step=3, text="why?"), PERSON)
    session.sync()
    overview = Overview(session.trajectory)
    item = session.trajectory.items.of_step(2)
    assert overview.masked[item] and overview.notes == [item]
    session.maker.say(msgspec.structs.replace(step, is_rewritten=True))
    session.sync()
    assert overview.refresh()
    assert not overview.masked[item] and overview.notes == []


def test_the_overview_has_a_lane_for_failures_and_one_for_masks_and_grows():
    session = Session("sesgs")
    overview = Overview(session.trajectory)
    assert (list(overview.failed), list(overview.masked)) == ([0, 1, 0, 0, 0], [0] * 5)
    assert overview.lines == [(3, "person")]
    assert not overview.refresh()
    session.maker.say(VerdictGiven(step=2, value="mask"), PERSON)
    session.maker.say(NoteAdded(step=3, text="why?"), PERSON)
    session.grow("m")
    assert overview.refresh()
    assert (list(overview.failed), list(overview.masked)) == ([0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0])
    assert overview.notes == [2]
    again = Overview(session.trajectory)
    assert (again.failed, again.masked, again.notes) == (overview.failed, overview.masked, overview.notes)


def test_two_errors_in_a_hundred_are_an_even_pale_lane_and_a_cluster_is_dark():
    lane = bytearray(([0] * 24 + [1] + [0] * 25) * 2_000)
    cells = [strength(lane, *span) for span in spans(len(lane), 400)]
    assert set(cells) == {LEVELS[0]}
    lane[50_000:50_250] = bytes([1]) * 250
    assert max(strength(lane, *span) for span in spans(len(lane), 400)) == LEVELS[-1]
    assert strength(bytearray(10), 0, 10) == 0
    assert spans(5, 40) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]


# ---- the view ----------------------------------------------------------------------------------------


def shown(qtbot, session) -> StepList:
    view = StepList()
    qtbot.addWidget(view)
    view.setModel(session.model)
    view.resize(600, 300)
    view.show()
    qtbot.waitExposed(view)
    view.follow()
    return view


def test_following_shows_the_newest(qtbot):
    session = Session("s" * 60)
    view = shown(qtbot, session)
    session.grow("smsg" + "s" * 10)
    session.model.refresh()
    assert view.rows_in_sight()[-1] == session.model.rowCount() - 1


def test_reading_is_not_disturbed_by_growth(qtbot):
    session = Session("s" * 60)
    view = shown(qtbot, session)
    parts = []
    view.follow_changed.connect(lambda following, missed: parts.append((following, missed)))
    view.setCurrentIndex(session.model.index(20))
    qtbot.wait(20)
    place = view.rowViewportPosition(20)
    for letter in "swwwwgms":
        session.grow(letter)
        session.model.refresh(reading=20)
    qtbot.wait(20)
    assert view.rowViewportPosition(20) == place
    assert not view.is_following
    assert parts[-1][0] is False
    assert parts[-1][1] > 0


def test_folding_above_keeps_the_row_in_its_place(qtbot):
    session = Session("s" * 10 + "w" * 8 + "s" * 40)
    view = shown(qtbot, session)
    view.rest()
    view.show_row(25)
    qtbot.wait(20)
    step = session.model.step_of_row(25)
    place = view.rowViewportPosition(25)
    session.model.toggle(10)
    qtbot.wait(20)
    row = session.model.row_of(session.model.item_of_step(step))
    assert row == 32
    assert view.rowViewportPosition(row) == place


def test_guidance_rows_are_as_high_as_their_text(qtbot):
    session = Session("s" * 3)
    session.maker.guide("long words " * 60)
    session.grow("s")
    session.model.refresh()
    view = shown(qtbot, session)
    qtbot.waitUntil(lambda: view.rowHeight(3) > view.rowHeight(0))


def test_twenty_thousand_steps_open_at_once(qtbot, monkeypatch):
    session = Session("s")
    entry = session.trajectory.steps[0]
    for number in range(2, 20_001):
        title = f"python train.py --seed {number}"  # what is repeated would be folded into one row
        head = msgspec.structs.replace(entry.head, number=number, title=title)
        session.trajectory.steps.add(number, StepAdded(head=head, body=entry.body))
        session.trajectory.items.add_step()
    view = shown(qtbot, Session("s"))
    model = view.model()
    asked: set[int] = set()
    monkeypatch.setattr(model, "_text", lambda item, text=model._text: (asked.add(item), text(item))[1])
    model.show(session.trajectory)
    view.follow()
    view.grab()
    assert model.rowCount() > 10_000
    assert 0 < len(asked) < 200, "only the rows in sight are written out"


def test_taking_the_focus_opens_no_row_and_goes_on_following(qtbot) -> None:
    bodies, _ = make_session(steps=30, guidance=0, seed=3)
    trajectory, model, view = Trajectory("s"), TrajectoryModel(), StepList()
    qtbot.addWidget(view)
    view.setModel(model)
    model.show(trajectory)
    view.show()
    view.follow()
    opened: list[int] = []
    view.opened.connect(opened.append)
    for seq, body in enumerate(bodies, 1):
        trajectory.apply(Placed(session="s", seq=seq, body=body))
        if seq == 20:
            model.refresh()
            QApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusIn))
    model.refresh()
    assert view.is_following
    assert not opened


def changed_rows(session: Session) -> list[int]:
    """The lines of which the model tells that they look different, when it takes what came."""
    changed: list[int] = []
    session.model.dataChanged.connect(note := lambda top, bottom: changed.extend(range(top.row(), bottom.row() + 1)))
    session.sync()
    session.model.refresh()
    session.model.dataChanged.disconnect(note)
    return sorted(set(changed))


def test_only_lines_that_look_different_are_drawn_anew():
    session = Session("ssgsssssssss")
    session.maker.add_step("run_command")
    assert changed_rows(session) == [], "a new line needs no word on the others"
    session.maker.say(VerdictGiven(step=2, value="mask", reason="r"), PERSON)
    assert changed_rows(session) == [1]
    guidance = next(iter(session.trajectory.guidance))
    session.maker.say(GuidanceEdited(guidance=guidance, text="use the test split"), PERSON)
    assert changed_rows(session) == [session.model.item_of("guidance", guidance)]
    session.maker.add_step("sleep")
    session.maker.add_step("sleep")
    assert changed_rows(session) == []
    session.maker.add_step("sleep")
    assert changed_rows(session) == [session.model.rowCount() - 1], "three that wait become one line"


def test_the_line_that_is_written_now_moves_down_and_is_drawn_anew():
    session = Session("sss")
    session.model.set_live("thinking")
    session.maker.add_step("run_command")
    assert changed_rows(session) == [3, 4]


def test_a_blind_reader_sees_no_opinion_of_others_before_giving_one():
    session = Session("sss")
    other = Author(kind="person", name="wang")
    session.maker.say(VerdictGiven(step=2, value="mask", reason="r"), other)
    session.maker.say(NoteAdded(step=2, text="n"), other)
    session.sync()
    session.model.refresh()
    verdict = lambda: session.model.index(1).data(RowTextRole).verdict  # noqa: E731
    overview = lambda: Overview(session.trajectory, session.model.reader)  # noqa: E731
    assert verdict() and overview().masked[1] and overview().notes == [1]
    session.model.set_reader(PERSON.key)
    assert verdict() == "" and not overview().masked[1] and overview().notes == []
    assert counts_of(session.trajectory)["undecided"] == 2 and "person:wang" in choices_of(session.trajectory).authors
    counts = counts_of(session.trajectory, PERSON.key)
    assert (counts["undecided"], counts["verdicts"]) == (3, 0)
    assert "person:wang" not in choices_of(session.trajectory, PERSON.key).authors
    session.model.set_view(filter="undecided")
    assert session.model.rowCount() == 3
    session.model.set_view(filter="verdicts")
    assert session.model.rowCount() == 0
    session.model.set_view(filter="all", facets=Facets(outcome="mask"))
    assert session.model.rowCount() == 0
    session.model.set_view(facets=Facets())
    session.maker.say(VerdictGiven(step=2, value="keep"), PERSON)
    session.sync()
    session.model.refresh()
    assert verdict() and overview().notes == [1]


@pytest.mark.parametrize("began", [-62_135_596_800, -3_600, 0, 253_402_300_799])
def test_steps_of_any_time_can_be_filtered_by_it(began):
    """From the first hour of year 1 to the last of year 9999, also before 1970, where the seconds are negative."""
    [span] = times_of([float(began)])
    first, last = span_of(span)
    assert first <= began < last
    assert quantities.moment(first).year <= quantities.moment(last).year
