"""The history of guidance over all sessions on this computer: found by keys, opened at its step, used again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.eventually import eventually
from support.logs import Maker
from support.window import CTRL, press, shown_window

from app.guidance import history as guidance_history
from app.guidance.model import MOST_LINES
from app.guidance.view import GuidanceView
from core.domain.events import SessionStateChanged
from core.protocol.operations import Guide
from core.store import outbox

ALT = Qt.KeyboardModifier.AltModifier


def guided(seed: int, title: str, *texts: str) -> Maker:
    maker = Maker(seed, title)
    maker.say(SessionStateChanged(state="running"))
    maker.add_step()
    for text in texts:
        maker.guide(text)
        maker.add_step()
    return maker


def lines_in(panel: GuidanceView) -> list[tuple[str, str]]:
    return [(line.text, line.fate) for line in panel.list.model().rows]


def send(place, session: str, text: str) -> None:
    """Put guidance into the outbox, without a server."""
    writer = place.desks.local.replica._writer
    writer.do_blocking(lambda conn: outbox.add(conn, session, Guide(guidance="g", text=text)))
    place.desks.outbox_changed.emit()


async def test_what_was_said_anywhere_is_found_opened_and_used_again(qapp, tmp_path):
    lab = guided(1, "Lab work", "use the small split", "look at the loss")
    farm = guided(40, "Farm <b>work</b>", "the split is wrong: 用训练集")
    with shown_window(tmp_path, lab, farm, guided(80, "Here"), layout="live") as (window, place):
        send(place, "s3", "split it")
        place.cursor.move("s3")
        panel = window.findChild(GuidanceView)
        window.activateWindow()
        await eventually(window.isActiveWindow)
        assert [text for text, _ in lines_in(panel)] == ["split it"]
        press(window, Qt.Key.Key_H, CTRL | ALT)
        assert panel.queue.words.hasFocus() and panel.queue.everywhere.isVisible()
        await eventually(lambda: len(lines_in(panel)) == 4)
        QTest.keyClicks(panel.queue.words, "split")
        assert lines_in(panel) == [
            ("use the small split", "Lab work · delivered at step 2, answered at 2"),
            ("the split is wrong: 用训练集", "Farm <b>work</b> · delivered at step 2, answered at 2"),
            ("split it", "Here · on this computer, waits for the server")]
        panel.queue.words.selectAll()
        QTest.keyClicks(panel.queue.words, "farm")
        panel.list.setFocus()
        panel.list.setCurrentIndex(panel.list.model().index(0))
        assert not place.actions["guide.withdraw"].isEnabled() and not place.actions["guide.effect"].isEnabled()
        press(window, Qt.Key.Key_Insert)
        assert panel.box.toPlainText() == "the split is wrong: 用训练集" and place.cursor.session == "s3"
        assert panel.writing.isVisible() and not panel.queue.shows_all, "the box has its place again"
        press(window, Qt.Key.Key_H, CTRL | ALT)
        assert not panel.writing.isVisible(), "there is no room for both"
        QTest.keyClicks(panel.queue.words, "farm")
        await eventually(lambda: len(lines_in(panel)) == 1)
        press(window, Qt.Key.Key_Down)
        press(window, Qt.Key.Key_Return)
        assert (place.cursor.session, place.cursor.step) == ("s2", 2)
        assert not place.actions["guide.find_all"].isChecked(), "its own messages are shown again"
        panel.queue.words.clear()
        assert [text for text, _ in lines_in(panel)] == ["the split is wrong: 用训练集"]
        place.cursor.move("s3")
        assert panel.box.toPlainText() == "the split is wrong: 用训练集", "what was taken is a draft"


async def test_what_is_sent_meanwhile_joins_the_list(qapp, tmp_path):
    with shown_window(tmp_path, guided(1, "Lab work", "one"), layout="live") as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        panel.queue.start_find()
        panel.queue.everywhere.click()
        await eventually(lambda: panel.list.model().rows[0].session == "s1")
        assert len(lines_in(panel)) == 1
        send(place, "s1", "two")
        await eventually(lambda: len(lines_in(panel)) == 2)
        panel.queue.everywhere.click()
        assert [line.session for line in panel.list.model().rows] == ["", ""]


async def test_many_sessions_are_read_a_little_at_a_time_and_the_newest_are_listed(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(guidance_history, "SLICE_S", 0.0)  # a session at a time
    makers = [guided(n, f"Session {n}", *[f"look at {n}.{i}" for i in range(30)]) for n in range(9)]
    with shown_window(tmp_path, *makers, layout="live") as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        panel.queue.start_find()
        panel.queue.everywhere.click()
        assert {line.session for line in panel.list.model().rows} == {""}, "not yet: the window is free meanwhile"
        place.desks.servers_changed.emit()
        await eventually(lambda: len(lines_in(panel)) == MOST_LINES)
        assert lines_in(panel)[-1][0] == "look at 8.29", "the newest"
        QTest.keyClicks(panel.queue.words, "at 0.0")
        assert [text for text, _ in lines_in(panel)] == ["look at 0.0"], "all are looked through"
