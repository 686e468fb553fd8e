"""Remarks: written on selected words by keys at the real window, listed, gone to, hidden from the blind, on a page."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.eventually import eventually
from support.logs import Maker
from support.panels import told_session, workplace
from support.window import CTRL, press, shown_window, speaking

from app.kit.entries import TwoLinesRole
from app.kit.long_text import LongText
from app.remarks.page import PageController
from app.remarks.panel import build, remarks
from app.remarks.view import RemarksView
from app.step.panel import build as build_step
from app.step.view import StepView
from app.window.panel_dock import LEAST
from core.domain.anchor import TextAnchor, anchor_of, words_pattern
from core.domain.events import NoteAdded, Placed, VerdictGiven
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.formats.page.words import REASONS
from core.protocol.messages import Nak
from core.protocol.operations import AddNote

ADA, LI = Author(kind="person", name="ada"), Author(kind="person", name="li")
ALT = Qt.KeyboardModifier.AltModifier


def remarked() -> Maker:
    """Ada speaks of words of step 2 and of the session, Li of step 5."""
    maker = told_session()
    maker.say(NoteAdded(step=2, text="why this one?", anchor=TextAnchor(part="thought", exact="some words")), ADA)
    maker.say(NoteAdded(step=5, text="here it turns"), LI)
    maker.say(NoteAdded(step=0, text="a fine run"), ADA)
    return maker


def drawn(view: RemarksView) -> list[tuple[str, str]]:
    """Titles and texts of the rows."""
    model = view.list.model()
    lines = [model.index(row, 0).data(TwoLinesRole) for row in range(model.rowCount())]
    return [(one.title, one.below) for one in lines]


def test_everybodys_are_listed_found_and_hidden_from_the_blind(qtbot, tmp_path):
    with workplace(tmp_path, remarked()) as (place, _):
        view = build(place, None)
        qtbot.addWidget(view)
        assert drawn(view) == [] and "Select words" in view.empty.label.text()
        place.cursor.move("s1", 1)
        assert drawn(view) == [("Session", "a fine run"), ("Step 2 “some words”", "why this one?"),
                               ("Step 5", "here it turns")]
        notices = []
        place.notices.posted.connect(lambda notice: notices.append(repr(notice)))
        view.list.opened.emit(remarks(place.sight.trajectory)[1])
        assert place.cursor.step == 2 and place.cursor.sought is None, "step 2 has not these words: none are marked"
        assert any("no more: “some words”" in sentence for sentence in notices)
        view.filter.setText("TURNS")
        assert [text for _, text in drawn(view)] == ["here it turns"]
        view.filter.setText("nowhere")
        assert drawn(view) == [] and not view.nothing.isHidden()
        view.nothing.button.click()
        assert view.filter.text() == "" and len(drawn(view)) == 3
        place.settings.set("review.blind", True)
        assert drawn(view) == []


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_button_is_whole_in_the_least_room(qtbot, qapp, tmp_path, language):
    maker = told_session()
    maker.say(NoteAdded(step=2, text="why?"), ADA)
    with speaking(qapp, language), shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 1)
        dock = window.docks["remarks"]
        dock.setFloating(True)
        dock.show()
        dock.resize(LEAST.width(), LEAST.height() + 40)
        QApplication.processEvents()
        write = window.findChild(RemarksView).write
        assert dock.widget().minimumSizeHint().boundedTo(LEAST) == dock.widget().minimumSizeHint()
        assert write.isVisible() and write.visibleRegion().boundingRect() == write.rect()
        assert "Ctrl+Alt+M" in write.toolTip()


def test_a_blind_reader_sees_their_own_and_those_on_what_they_decided():
    maker = remarked()
    maker.say(VerdictGiven(step=5, value="mask"), ADA)
    made = fold("s", (Placed(session="s", seq=seq, body=body) for seq, body in enumerate(maker.bodies, 1)))
    assert [r.step for r in remarks(made, ADA.key)] == [0, 2, 5]
    assert [r.step for r in remarks(made, LI.key)] == [5]


async def test_words_are_selected_remarked_on_and_found_again_by_keys(tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (window, place):
        place.cursor.move("s1", 4)
        step, view = window.findChild(StepView), window.findChild(RemarksView)
        await eventually(lambda: "output of step" in step.text.text or len(step.text.text) > 80)
        text = step.text.text
        line = max(text.splitlines()[1:4], key=len).split()
        words = " ".join(line[:2])
        step.text.edit.setFocus()
        cursor = QTextCursor(step.text.edit.document())
        at = text.index(words)
        cursor.setPosition(at)
        cursor.setPosition(at + len(words), QTextCursor.MoveMode.KeepAnchor)
        step.text.edit.setTextCursor(cursor)
        press(window, Qt.Key.Key_M, CTRL | ALT)
        await eventually(view.box.isVisible)
        assert words in view.box.about.text() and QApplication.focusWidget() is view.box.text
        QTest.keyClicks(view.box.text, "look twice")
        press(window, Qt.Key.Key_Return, CTRL)
        held = place.desks.of("s1").replica
        await eventually(lambda: held.commands("s1"))
        [op] = [queued.op for queued in held.commands("s1")]
        assert isinstance(op, AddNote) and (op.step, op.text) == (4, "look twice")
        assert op.anchor is not None and op.anchor.exact == words
        assert op.content == place.sight.trajectory.step(4).body, "what the reader saw"
        [sent] = held.waiting()
        await held.answered(Nak(id=sent.id, cseq=sent.cseq, kind="Conflict", code="step_changed", sentence="x",
                                params={"step": 4}))
        await eventually(view.box.isVisible)
        assert view.box.text.toPlainText() == "look twice" and words in view.box.about.text(), "to be given again"
        await place.scope.close()


async def test_the_page_holds_what_people_spoke_of(qtbot, tmp_path):
    with shown_window(tmp_path, remarked(), layout="read") as (window, place):
        place.cursor.move("s1", 1)
        controller = PageController(place, SimpleNamespace(widget=window))
        path = tmp_path / "run.html"
        controller.export(place.sight.trajectory, path)
        await eventually(path.exists)
        text = path.read_text("utf-8")
        assert all(words in text for words in ("why this one?", "here it turns", "a fine run", 'id="step-3"'))
        assert 'id="step-4"' not in text
        assert set(REASONS.values()) <= set(controller.words().states.values()), "every reason has its words"
        place.settings.set("review.blind", True)
        controller.export(place.sight.trajectory, blind := tmp_path / "blind.html")
        await eventually(blind.exists)
        assert not any(words in blind.read_text("utf-8") for words in ("a fine run", "here it turns"))
        await place.scope.close()


def test_the_words_that_a_remark_stands_on_are_marked_in_the_step(qtbot, tmp_path):
    maker = remarked()
    log = fold("s1", [Placed(session="s1", seq=seq, body=body) for seq, body in enumerate(maker.bodies, 1)])
    words = " ".join(decode_body(maker.blobs[log.step(3).body]).observations[0].output.text.split()[:3])
    maker.say(NoteAdded(step=3, text="so it is", anchor=anchor_of(
        decode_body(maker.blobs[log.step(3).body]), words)), LI)
    with workplace(tmp_path, maker) as (place, _):
        step = build_step(place, None)
        qtbot.addWidget(step)
        step.resize(600, 400)
        step.show()
        place.cursor.move("s1", 3)
        marked = [one for one in step.text.edit.extraSelections() if one.format.toolTip()]
        assert [(one.cursor.selectedText(), one.format.toolTip()) for one in marked] == [
            (words, "li: so it is")]
        point = step.text.edit.cursorRect(marked[0].cursor).center()
        assert step.text.edit.words_under(point) == "li: so it is"
        place.cursor.to_step(4)
        assert not any(one.format.toolTip() for one in step.text.edit.extraSelections())
        place.settings.set("review.blind", True)
        place.cursor.to_step(3)
        assert not any(one.format.toolTip() for one in step.text.edit.extraSelections()), "what the blind may not see"


def test_of_equal_words_those_that_the_remark_stands_on_are_marked_and_gone_to(qtbot):
    body = StepBody(number=1, thought="First the file, then another. Again the file; the end.")
    anchor, view = anchor_of(body, "the file", "Again "), LongText()
    qtbot.addWidget(view)
    view.show_text(body.thought)
    view.mark_remarks([(anchor, "this one")])
    (marked,) = view.edit.extraSelections()
    assert marked.cursor.selectionStart() == body.thought.index("the file;")
    assert view.mark(words_pattern("the file")) == 1
    assert view.edit.textCursor().position() == body.thought.index("the file;")
    view.mark_remarks([])
    assert view.mark(words_pattern("the file")) == 2, "where no remark stands, all that is looked for"
