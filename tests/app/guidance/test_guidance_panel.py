"""Guidance: stored before the box is cleared, its fate shown, changeable while queued, drafts survive."""

from __future__ import annotations

from contextlib import closing

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.eventually import eventually
from support.logs import PERSON, Maker
from support.panels import workplace

from app.guidance.model import GuidanceModel, lines_of
from app.guidance.panel import build
from core.client.replica import Replica
from core.domain.events import (
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceEdited,
    GuidanceWithdrawn,
    Placed,
    SessionStateChanged,
)
from core.domain.trajectory import fold
from core.protocol.messages import Nak
from core.protocol.operations import MAX_WORDS, ChangeGuidance, Guide
from core.store import log
from core.store.sqlite import connect


def session(guidance: int = 0) -> Maker:
    maker = Maker(5)
    maker.say(SessionStateChanged(state="running"))
    for _ in range(guidance):
        maker.guide("look at the loader")
    return maker


def lines_for(maker: Maker, commands=()):
    trajectory = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)])
    return lines_of(trajectory, commands)


async def test_a_message_is_in_the_outbox_before_the_box_is_cleared(tmp_path):
    with workplace(tmp_path, session()) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        panel.box.setPlainText("use the training split\nplease 中文")
        QTest.keyClick(panel.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert panel.box.toPlainText(), "cleared before it was stored"
        assert panel.box.isReadOnly()
        await eventually(lambda: not panel.box.toPlainText())
        queued = replica.commands("s1")
        assert [q.op.text for q in queued] == ["use the training split\nplease 中文"]
        assert "on this computer" in panel.list.model().rows[0].fate
        await place.scope.close()
        panel.deleteLater()


async def test_enter_alone_is_for_the_text_and_empty_is_not_sent(tmp_path):
    with workplace(tmp_path, session()) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        QTest.keyClick(panel.box, Qt.Key.Key_Return)
        QTest.keyClick(panel.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert panel.box.toPlainText() == "\n"
        assert replica.commands("s1") == []
        await place.scope.close()
        panel.deleteLater()


def test_a_text_that_nobody_would_take_is_not_sent_and_says_so_while_it_is_written(qtbot, tmp_path):
    with workplace(tmp_path, session()) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(700, 300)
        panel.show()
        place.cursor.move("s1")
        panel.box.setPlainText("长" * (MAX_WORDS + 1))
        assert panel.writing.hint.isVisible() and panel.writing.hint.text() == (
            "32,769 characters: a message has at most 32,768.")
        assert not panel.writing.when.isVisible() and not panel.send.isEnabled()
        QTest.keyClick(panel.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert not replica.commands("s1") and len(panel.box.toPlainText()) == MAX_WORDS + 1, "nothing is lost"
        panel.box.setPlainText("short")
        assert not panel.writing.hint.isVisible() and panel.writing.when.isVisible() and panel.send.isEnabled()


async def test_a_draft_survives_a_crash_and_belongs_to_its_session(tmp_path):
    with workplace(tmp_path, session(), session()) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        panel.box.setPlainText("half a thought")
        for there in ("s2", "s1", "s2"):
            place.cursor.move(there)
            assert panel.box.toPlainText() == {"s1": "half a thought", "s2": ""}[there], "at once, before the disk"
        panel.box.setPlainText("another")
        await eventually(lambda: replica.draft("s2") == "another" and replica.draft("s1") == "half a thought")
        place.cursor.move("s1")
        assert panel.box.toPlainText() == "half a thought"
        await place.scope.close()
        panel.deleteLater()
    again = Replica(replica.path)
    assert again.draft("s1") == "half a thought"
    again.close()


async def test_edit_and_withdraw_are_asked_for(tmp_path):
    with workplace(tmp_path, session(guidance=2)) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        panel.box.setPlainText("a draft")
        panel.list.setCurrentIndex(panel.list.model().index(0))
        place.actions["guide.edit"].trigger()
        assert panel.box.toPlainText() == "look at the loader"
        panel.box.setPlainText("look at the tokenizer")
        panel.send.click()
        assert panel.box.toPlainText() == "a draft"
        panel.list.setCurrentIndex(panel.list.model().index(1))
        QTest.keyClick(panel.list, Qt.Key.Key_Delete)
        await eventually(lambda: len(replica.commands("s1")) == 2)
        assert {q.op.text for q in replica.commands("s1")} == {"look at the tokenizer", None}
        await eventually(lambda: "asked" in panel.list.model().rows[1].fate)
        assert not panel.list.model().rows[0].changeable
        await place.scope.close()
        panel.deleteLater()


async def test_the_newest_message_that_waits_is_changed_where_none_is_chosen(tmp_path):
    with workplace(tmp_path, session(guidance=2)) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        newest = panel.list.model().rows[-1]
        assert not panel.list.currentIndex().isValid() and not place.actions["guide.withdraw"].isEnabled()
        place.actions["guide.edit"].trigger()
        panel.box.setPlainText("look at the tokenizer")
        panel.send.click()
        await eventually(lambda: replica.commands("s1"))
        assert [(q.op.guidance, q.op.text) for q in replica.commands("s1")] == [(newest.id, "look at the tokenizer")]
        await place.scope.close()
        panel.deleteLater()


async def test_the_box_is_free_in_another_session_and_when_the_disk_would_not_have_the_message(tmp_path):
    with workplace(tmp_path, session(), session()) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        panel.box.setPlainText("to the first")
        panel.send.click()
        assert panel.box.isReadOnly()
        place.cursor.move("s2")
        assert not panel.box.isReadOnly()
        await eventually(lambda: not place.sender.storing)
        place.cursor.move("s1")
        assert not panel.box.isReadOnly() and panel.box.toPlainText() == ""
        replica._writer.do_blocking(lambda conn: conn.execute("PRAGMA busy_timeout=20").fetchall())
        panel.box.setPlainText("to a full disk")
        with closing(connect(replica.path)) as other:
            other.execute("BEGIN IMMEDIATE")
            panel.send.click()
            await eventually(lambda: not place.sender.storing)
            other.execute("ROLLBACK")
        assert not panel.box.isReadOnly() and panel.box.toPlainText() == "to a full disk"
        assert [q.op.text for q in replica.commands()] == ["to the first"]
        await place.scope.close()
        panel.deleteLater()


async def test_an_edit_ends_with_its_session_and_never_costs_the_draft(tmp_path):
    with workplace(tmp_path, session(guidance=2), session()) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        panel.box.setPlainText("a draft")
        for row in (0, 1):
            panel.list.setCurrentIndex(panel.list.model().index(row))
            place.actions["guide.edit"].trigger()
        panel.writing.cancel.click()
        assert panel.box.toPlainText() == "a draft"
        place.actions["guide.edit"].trigger()
        place.cursor.move("s2")  # of the same title
        assert panel.box.toPlainText() == "" and panel.writing.cancel.isHidden()
        panel.box.setPlainText("to the second")
        panel.send.click()
        await eventually(lambda: replica.commands())
        assert [(q.session, type(q.op)) for q in replica.commands()] == [("s2", Guide)]
        await place.scope.close()
        panel.deleteLater()


def test_every_fate_has_its_words():
    maker = session(guidance=1)
    guidance = next(iter(maker._waiting))[0]
    assert [(x.fate, x.changeable) for x in lines_for(maker)] == [("on the server, waits for the next step", True)]
    maker.say(GuidanceChangeAsked(guidance=guidance, request="r1", text="other"), PERSON)
    assert "edit asked" in lines_for(maker)[0].fate
    maker.say(GuidanceEdited(guidance=guidance, text="other", request="r1"))
    assert lines_for(maker)[0].text == "other"
    maker.add_step()
    assert "delivered at step 1" in lines_for(maker)[0].fate
    assert not lines_for(maker)[0].changeable
    maker.say(GuidanceChangeRefused(guidance=guidance, request="r2", step=1))
    assert "too late" in lines_for(maker)[0].fate
    over = session(guidance=1)
    over.say(SessionStateChanged(state="stopped"))
    assert "to be resumed" in lines_for(over)[0].fate
    over.say(SessionStateChanged(state="finished"))
    assert lines_for(over)[0].fate == "the session ended before it was delivered"
    other = session(guidance=1)
    other.say(GuidanceWithdrawn(guidance=other._waiting[0][0]), PERSON)
    assert lines_for(other)[0].fate == "withdrawn"


def test_what_the_server_refused_says_why(tmp_path):
    from core.store.outbox import Queued

    reply = msgspec.json.encode(Nak(id="x", cseq=1, kind="InvalidInput", code="text_too_long", sentence="Too long.",
                                    params={"limit": 32768}))
    at = session().at
    queued = Queued(cseq=1, id="x", session="s1", op=Guide(guidance="g1", text="hello"), state="refused", reply=reply,
                    created_at=at)
    asked = Queued(cseq=2, id="y", session="s1", op=ChangeGuidance(guidance="g1"), created_at=at)
    fate = lines_for(session(), [queued])[0].fate
    assert fate == "refused: This text is too long: 32768 characters are the most.", "in the reader's language"
    later = msgspec.structs.replace(queued, cseq=3, id="z", op=Guide(guidance="g2", text="go on"), state="queued",
                                    reply=None)
    assert not lines_for(session(), [queued])[0].is_over
    assert lines_for(session(), [queued, later])[0].is_over, "who has sent another one has read it"
    waiting = msgspec.structs.replace(queued, state="queued", reply=None)
    assert "withdrawal asked" in lines_for(session(), [asked, waiting])[0].fate


async def test_what_the_agent_does_never_scrolls_the_queue_that_is_being_read(tmp_path):
    with workplace(tmp_path, session(guidance=40)) as (place, replica):
        panel = build(place, None)
        panel.resize(400, 500)
        panel.show()
        place.cursor.move("s1")
        bar = panel.list.verticalScrollBar()
        await eventually(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
        bar.setValue(0)
        maker = session(guidance=40)
        maker.guide("one more")
        maker.add_step()
        bodies = maker.bodies[replica.head("s1"):]
        await replica.place("s1", replica.head("s1") + 1, bodies)
        await eventually(lambda: panel.list.model().rowCount() == 41)
        await eventually(lambda: "delivered" in panel.list.model().rows[0].fate)
        assert bar.value() == 0
        await place.scope.close()
        panel.deleteLater()


def test_the_model_is_sound(qtmodeltester):
    model = GuidanceModel()
    qtmodeltester.check(model)
    maker = session()
    for _ in range(3):
        maker.guide()
        maker.add_step()
        trajectory = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)])
        model.show(trajectory, ())
    assert model.rowCount() == 3
    model.show(None, ())
    assert model.rowCount() == 0


def test_a_finished_session_says_that_guidance_is_over(qtbot, tmp_path):
    maker = session()
    maker.finish()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1")
        assert not panel.box.isEnabled()
        assert "ended" in panel.box.placeholderText() and not panel.writing.when.text()


def test_who_wrote_half_a_sentence_reads_below_it_that_the_session_ended(qtbot, tmp_path):
    maker = session()
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1")
        panel.box.setPlainText("half a sent")
        assert "not reached" in panel.writing.when.text()
        held = len(maker.bodies)
        maker.finish()
        head = replica._writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[held:]))
        place.desks.local._on_events("s1", held + 1, head)
        qtbot.waitUntil(lambda: not panel.box.isEnabled())
        assert panel.box.toPlainText() == "half a sent"
        assert "ended" in panel.writing.when.text()


def test_messages_that_are_over_leave_the_room_to_the_box(qtbot, tmp_path):
    maker = session(guidance=1)
    maker.add_step()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1")
        assert panel.queue.title.text() == "Nothing is under way"
        panel.resize(500, 600)
        small = panel.minimumSizeHint().height()
        panel.queue.earlier.setChecked(True)
        assert panel.minimumSizeHint().height() >= small + panel.list.minimumHeight() and panel.writing.isVisible()
        panel.resize(500, 260)
        QApplication.processEvents()
        assert not panel.writing.isVisible() and panel.list.height() > 2 * panel.list.sizeHintForRow(0)
        panel.start_writing()
        assert panel.writing.isVisible() and not panel.queue.shows_all, "who writes has the room again"
