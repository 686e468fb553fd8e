"""A whole review at the real window without the mouse, through a real server; tags and active time are in the log."""

from __future__ import annotations

import contextlib

import msgspec
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from support.eventually import eventually
from support.logs import PERSON, RULE, Maker
from support.panels import told_session, workplace
from support.window import CTRL, SHIFT, press, shown_window
from support.wire import account, fill, running_client, serving

from app.review import active_time
from app.review.active_time import SEND_S, ActiveTime
from app.review.panel import ReviewController
from app.review.view import ReviewView
from app.trajectory.step_list import StepList
from app.window.keys_dialog import KeysDialog
from core.aio import TaskScope
from core.domain.events import TimeSpent, VerdictGiven
from core.domain.verdict import Author
from core.protocol.operations import AddNote, GiveVerdict, SetTag, TellTime

OTHER = Author(kind="person", name="wang")


def sent(place) -> list[object]:
    """What this window told the server, oldest first."""
    return [q.op for q in sorted(place.desks.of("s1").replica.commands("s1"), key=lambda q: q.cseq)]


def verdicts(place) -> list[tuple[int, str]]:
    return [(op.step, op.value) for op in sent(place) if isinstance(op, GiveVerdict)]


@contextlib.contextmanager
def reviewing(folder, maker: Maker):
    with shown_window(folder, maker, layout="read") as (window, place):
        place.cursor.move("s1", 2)
        yield window, place, window.findChild(ReviewView)


async def test_move_keep_mask_unsure_take_back_undo_and_next(tmp_path):
    with reviewing(tmp_path, told_session()) as (window, place, _view):
        for key, modifiers in ((Qt.Key.Key_K, None), (Qt.Key.Key_J, None), (Qt.Key.Key_M, None), (Qt.Key.Key_J, SHIFT),
                               (Qt.Key.Key_U, None), (Qt.Key.Key_U, SHIFT)):
            press(window, key, modifiers or Qt.KeyboardModifier.NoModifier)
        await eventually(lambda: len(verdicts(place)) == 4)
        assert verdicts(place) == [(2, "keep"), (3, "mask"), (2, "unsure"), (2, "none")]
        press(window, Qt.Key.Key_Z)
        press(window, Qt.Key.Key_Z)
        await eventually(lambda: verdicts(place)[4:] == [(2, "unsure"), (2, "keep")])
        press(window, Qt.Key.Key_Z, SHIFT)
        await eventually(lambda: verdicts(place)[6:] == [(2, "unsure")])
        press(window, Qt.Key.Key_X)
        assert place.cursor.step == 4
        await place.scope.close()


async def test_a_reason_and_a_note_are_written_without_the_mouse(tmp_path):
    with reviewing(tmp_path, told_session()) as (window, place, view):
        place.settings.set("review.reasons", "Cheats\nWastes time")
        assert [view.bar.reason.itemText(i) for i in range(view.bar.reason.count())] == ["Cheats", "Wastes time"]
        view.bar.reason.setFocus()
        QTest.keyClicks(view.bar.reason.lineEdit(), "Cheats")
        view._opinions.setFocus()
        press(window, Qt.Key.Key_M)
        press(window, Qt.Key.Key_N)
        QTest.keyClicks(QApplication.focusWidget(), "it read the test split")
        press(window, Qt.Key.Key_Return, CTRL)
        await eventually(lambda: len(sent(place)) == 2)
        [verdict, note] = sent(place)
        assert verdict.reason == "Cheats" and isinstance(note, AddNote) and note.text == "it read the test split"
        await place.scope.close()


def tagged(place) -> list[SetTag]:
    """The words on tags that were sent, without what the reader saw."""
    return [msgspec.structs.replace(op, content="") for op in sent(place)]


async def test_tags_are_put_on_completed_taken_off_and_undone(tmp_path):
    maker = told_session()
    with reviewing(tmp_path, maker) as (window, place, view):
        press(window, Qt.Key.Key_T)
        assert view.bar.tags.box.hasFocus()
        QTest.keyClicks(view.bar.tags.box, "turning  point")
        press(window, Qt.Key.Key_Return)
        assert view.bar.tags.line.text() == "# turning point"
        press(window, Qt.Key.Key_Escape)
        assert not view.bar.tags.box.isVisible()
        place.cursor.mark((4, 5, 6))
        press(window, Qt.Key.Key_T)
        QTest.keyClicks(view.bar.tags.box, "loop")
        press(window, Qt.Key.Key_Return)
        await eventually(lambda: len(sent(place)) == 4)
        assert tagged(place) == [SetTag(step=2, tag="turning point"), *(SetTag(step=n, tag="loop") for n in (4, 5, 6))]
        press(window, Qt.Key.Key_Escape)
        press(window, Qt.Key.Key_Z)
        await eventually(lambda: tagged(place)[4:] == [SetTag(step=n, tag="loop", on=False) for n in (4, 5, 6)])
        place.cursor.mark(())
        place.cursor.to_step(2)
        press(window, Qt.Key.Key_T)
        QTest.keyClicks(view.bar.tags.box, "turning point")
        press(window, Qt.Key.Key_Return)
        await eventually(lambda: tagged(place)[-1] == SetTag(step=2, tag="turning point", on=False))
        assert view.bar.tags.line.text() == ""
        await place.scope.close()


async def test_one_key_judges_a_fold_and_a_selected_range(tmp_path):
    maker = Maker(3)
    maker.add_step(fails=False)
    for _ in range(5):
        maker.add_step(tool="sleep", fails=False)
    for _ in range(3):
        maker.add_step(fails=False)
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 1)
        steps = window.findChild(StepList)
        steps.setFocus()
        press(window, Qt.Key.Key_Down)  # onto the fold
        press(window, Qt.Key.Key_M)
        await eventually(lambda: verdicts(place) == [(n, "mask") for n in range(2, 7)])
        press(window, Qt.Key.Key_Z)
        await eventually(lambda: verdicts(place)[5:] == [(n, "none") for n in range(2, 7)])
        place.cursor.to_step(7)
        press(window, Qt.Key.Key_Down, SHIFT)
        press(window, Qt.Key.Key_K)
        await eventually(lambda: verdicts(place)[10:] == [(7, "keep"), (8, "keep")])
        await place.scope.close()


def test_next_disagreement_and_how_far_two_people_agree(qtbot, tmp_path):
    maker = told_session()
    for number, mine, theirs in ((3, "keep", "mask"), (5, "mask", "mask"), (8, "mask", "keep")):
        maker.say(VerdictGiven(step=number, value=mine), PERSON)
        maker.say(VerdictGiven(step=number, value=theirs), OTHER)
    maker.say(TimeSpent(seconds={3: 61.0, 5: 4.0}), OTHER)
    with reviewing(tmp_path, maker) as (window, place, _view):
        press(window, Qt.Key.Key_D)
        assert place.cursor.step == 3
        press(window, Qt.Key.Key_D)
        assert place.cursor.step == 8
        told = window.docks["disagreements"].widget()
        assert "κ" in told.numbers.text() and "33%" in told.numbers.text()
        assert "wang: active time 1 min 05 s on 2 step" in told.numbers.text()
        assert maker.bodies and RULE


async def test_question_mark_shows_every_key_and_a_changed_one(tmp_path):
    with reviewing(tmp_path, told_session()) as (window, place, _view):
        place.settings.set("keys.review.keep", "L")
        press(window, Qt.Key.Key_L)
        await eventually(lambda: verdicts(place) == [(2, "keep")])
        press(window, Qt.Key.Key_Question)
        dialog = window.findChild(KeysDialog)
        assert dialog is not None
        told = {label.text() for label in dialog.findChildren(QLabel)}
        assert "L" in told and "T" in told
        for action in place.actions.table:
            if place.actions[action.key].shortcuts():
                text = place.actions[action.key].text().replace("&", "")
                assert text in told, text
        dialog.close()
        await place.scope.close()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_only_time_at_work_is_counted_and_told_after_a_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr(active_time, "MOST_STEPS", 1)
    with reviewing(tmp_path, told_session()) as (window, place, _view):
        clock, front = Clock(), [True]
        held = ActiveTime(place, window, clock=clock, is_front=lambda: front[0])

        def pass_(seconds: int) -> None:
            for _ in range(seconds):
                clock.now += 1
                held.tick()

        held.used()
        pass_(10)
        place.cursor.to_step(3)
        held.used()
        pass_(500)  # a cup of tea: 60 s count, the rest does not
        assert {n: round(s) for n, s in held.of("s1").items()} == {2: 10, 3: 60}
        front[0] = False
        held.used()
        pass_(30)
        front[0] = True
        assert sum(held.of("s1").values()) == 70
        assert sent(place) == [], "who merely looks leaves nothing in the log"
        held.used()
        held.judged("s1")
        pass_(int(SEND_S) + 1)
        held.send_times()
        await eventually(lambda: sum(s for op in sent(place) for s in op.seconds.values()) >= 130)
        assert all(isinstance(op, TellTime) and len(op.seconds) == 1 for op in sent(place))
        assert {step for op in sent(place) for step in op.seconds} == {2, 3}, "of many steps too all are told"
        assert held.of("s1") == {}
        place.settings.set("review.time", False)
        held.used()
        pass_(5)
        assert held.of("s1") == {}
        await place.scope.close()


async def test_a_refusal_of_time_ends_it_for_that_session_only(tmp_path):
    """Time is told when its session is left, so the answer comes while another one is looked at."""
    async with serving(tmp_path / "home") as server:
        for name in ("s1", "s2"):
            await fill(server, name, told_session().bodies)
        token = account(tmp_path / "home", "wang", "view")
        async with (running_client(tmp_path / "r.db", server.url, token, "s1", "s2") as client,
                    TaskScope("time") as scope):
            await eventually(lambda: all(client.replica.head(s) == client.replica.head("s1") > 9 for s in ("s1", "s2")))
            with workplace(tmp_path / "home", client=client, scope=scope) as (place, replica):
                clock, parent = Clock(), QObject()
                held = ActiveTime(place, parent, clock=clock, is_front=lambda: True)
                for number, session in enumerate(("s1", "s2", "s1", "s2"), 1):
                    place.cursor.move(session, 2)
                    held.judged(session)
                    clock.now += 5
                    place.cursor.move("s2" if session == "s1" else "s1", 3)
                    await eventually(lambda n=min(number, 2): len(told := replica.commands()) == n
                                     and all(q.state == "refused" for q in told))
                    # the refusal rests in the replica a moment before it is told here
                    await eventually(lambda s=session: not place.sender.storing and s in held._refused)
                assert sorted(q.session for q in replica.commands()) == ["s1", "s2"], "each was told once, in vain"
                parent.deleteLater()


async def test_real_keys_at_the_real_window_are_what_counts(qtbot, tmp_path):
    with reviewing(tmp_path, told_session()) as (window, place, view):
        controller = window.findChild(ReviewController)
        held = controller._time
        held._is_front = lambda: True
        window.windowHandle().installEventFilter(held)
        for key in (Qt.Key.Key_J, Qt.Key.Key_Down):  # one that is a command's, and one that is not
            held._used = before = -1e9
            QTest.keyClick(window.windowHandle(), key)
            assert held._used > before
        held._last -= 5
        held.tick()
        held.changed.emit()
        assert "your active time" in view._spent.text()
        await place.scope.close()
