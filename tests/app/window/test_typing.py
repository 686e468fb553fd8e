"""Prose never becomes verdicts: what is typed for a box is in it, or does nothing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from support.eventually import eventually
from support.logs import Maker
from support.panels import told_session
from support.window import CTRL, settle, shown_window, write

from app.window.layouts import LAYOUTS
from app.window.status import StatusController
from core.domain.events import SessionStateChanged
from core.domain.tool_form import FormField, ToolForm
from core.protocol.operations import GiveVerdict, Guide, TakeOver

PROSE = "mask unit tests, keep notes"
"""Its letters are M, K, U, N, T, S and others: each is a command of the window."""


def session(state: str = "running") -> Maker:
    made = told_session()
    made.say(SessionStateChanged(state=state))
    return made


async def read(made, place) -> None:
    """The window has the keys, and a step is looked at."""
    made.activateWindow()
    await eventually(made.isActiveWindow)
    place.cursor.move("s1", 4)
    settle()


def given(place) -> list[str]:
    """The verdicts that were given."""
    return [one.op.value for one in place.desks.local.replica.commands("s1") if isinstance(one.op, GiveVerdict)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_g_at_once_leads_into_the_box_in_every_layout(qtbot, tmp_path, layout):
    with shown_window(tmp_path, session(), filled=False) as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        place.cursor.move("s1", 4)
        made.layouts.show(layout)
        write(made, "g" + PROSE)
        settle()
        box = made.docks["guidance"].widget().box
        assert box.toPlainText() == PROSE and box.hasFocus() and not box.visibleRegion().isEmpty()


@pytest.mark.parametrize("where", ["behind a tab", "closed", "thin", "floating"])
def test_g_brings_the_box_to_the_front_wherever_it_is(qtbot, tmp_path, where):
    with shown_window(tmp_path, session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        place.cursor.move("s1", 4)
        dock = made.docks["guidance"]
        {"behind a tab": made.tabifiedDockWidgets(dock)[0].raise_, "closed": dock.hide,
         "thin": lambda: made.thin.toggle("guidance"), "floating": lambda: dock.setFloating(True)}[where]()
        settle()
        made.activateWindow()
        settle()
        write(made, "g" + PROSE)
        box = dock.widget().box
        assert box.toPlainText() == PROSE and not box.visibleRegion().isEmpty()


async def test_g_where_nobody_can_be_guided_leaves_prose_without_effect_until_esc(qapp, tmp_path):
    with shown_window(tmp_path, session("finished"), layout="read") as (made, place):
        status = StatusController(place, made.status, made)
        await read(made, place)
        write(made, "g" + PROSE)
        assert made.docks["guidance"].isVisible(), "it says why not"
        assert made.status.keys.text() == "Letters do nothing · Esc returns to the list"
        assert not place.sender.storing and given(place) == []
        write(made, "\x1b")
        assert made.docks["trajectory"].widget().list.hasFocus()
        assert made.status.keys.text() == "Keys act on the list"
        write(made, "m")
        await eventually(lambda: given(place) == ["mask"])
        status.deleteLater()
        await place.scope.close()


async def test_what_is_typed_before_a_session_is_taken_over_judges_nothing(qapp, tmp_path):
    with shown_window(tmp_path, session(), layout="read") as (made, place):
        await read(made, place)
        write(made, "t", CTRL | Qt.KeyboardModifier.AltModifier)
        write(made, PROSE)
        await eventually(lambda: not place.sender.storing)
        assert [type(one.op) for one in place.desks.local.replica.commands("s1")] == [TakeOver]
        await place.scope.close()


async def test_who_writes_as_the_session_ends_judges_nothing(qapp, tmp_path):
    maker = session()
    with shown_window(tmp_path, maker, layout="live") as (made, place):
        await read(made, place)
        write(made, "g" + PROSE)
        box, replica = made.docks["guidance"].widget().box, place.desks.local.replica
        head = replica.head("s1")
        maker.say(SessionStateChanged(state="finished"))
        await replica.place("s1", head + 1, maker.bodies[head:])
        await eventually(lambda: not box.isEnabled())
        write(made, PROSE)
        settle()
        assert box.toPlainText() == PROSE and given(place) == []
        await eventually(lambda: replica.draft("s1") == PROSE)
        await place.scope.close()


async def test_who_writes_as_another_reader_takes_over_judges_nothing(qapp, tmp_path):
    with shown_window(tmp_path, session(), layout="live") as (made, place):
        made.activateWindow()
        await eventually(made.isActiveWindow)
        place.cursor.move("s1", 4)
        made.show_panel("takeover")
        view = made.docks["takeover"].widget()
        view.offer([ToolForm(name="run_command", about="", fields=(
            FormField(name="command", is_long=True), FormField(name="waits", kind="boolean"), FormField(name="host")))])
        view.show_holder("You write step 11.", may_act=True)
        settle()
        view.form.start_writing()
        write(made, PROSE)
        view.show_holder("kim writes the next actions.", may_act=False)
        write(made, PROSE)
        assert view.form.given()["command"] == PROSE
        assert not place.sender.storing and given(place) == []
        await place.scope.close()


async def test_what_is_typed_while_a_message_is_stored_comes_behind_it(qapp, tmp_path):
    with shown_window(tmp_path, session(), layout="live") as (made, place):
        await read(made, place)
        write(made, "glook")
        write(made, "\r", CTRL)
        write(made, PROSE)
        box = made.docks["guidance"].widget().box
        await eventually(lambda: box.toPlainText() == PROSE)
        sent = [one.op for one in place.desks.local.replica.commands("s1")]
        assert [op.text for op in sent if isinstance(op, Guide)] == ["look"]
        assert given(place) == []
        await place.scope.close()


def test_what_takes_the_keys_from_who_writes_gives_them_back(qtbot, tmp_path):
    with shown_window(tmp_path, session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        place.cursor.move("s1", 4)
        settle()
        write(made, "gwait")
        box = made.docks["guidance"].widget().box
        place.cursor.focus_list()
        qtbot.waitUntil(box.hasFocus)
        write(made, "\x1b")
        assert made.docks["trajectory"].widget().list.hasFocus(), "the reader leaves it"


def test_g_before_the_session_is_here_gives_the_keys_to_the_box_when_it_opens(qtbot, tmp_path):
    with shown_window(tmp_path, session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        write(made, "g" + PROSE)
        panel = made.docks["guidance"].widget()
        assert not panel.box.isEnabled()
        place.cursor.move("s1")
        qtbot.waitUntil(panel.box.hasFocus)
        write(made, "now")
        assert panel.box.toPlainText() == "now"
