"""Taking over in a real window: a real server, a real runner in a real environment, the keyboard."""

from __future__ import annotations

import json
import os

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.panels import told_session
from support.parts import Parts, stopped
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.window import shown_window

from app.desk.row_text import step_row
from app.takeover.view import TakeoverView
from app.trajectory.agent_strip import AgentStrip
from app.trajectory.facets import Facets
from app.trajectory.filters import counts_of, new_items
from app.window.session_head import SessionHead
from core.domain.step import decode_body
from core.domain.task import EnvironmentSettings
from core.domain.tool_form import FormField, ToolForm
from core.environments.registry import ENVIRONMENTS
from core.store.endpoint import read_endpoint
from core.store.home import Home

ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
TASK = """id = "craft"
title = "Craft planks"
description = "Craft what the goal says."
[environment]
kind = "textcraft"
[agent.model]
kind = "scripted"
script = """


def lab_of(folder, recipes) -> tuple[Parts, list[str]]:
    """A server with a task whose agent's first answer takes ten minutes, and the others no time."""
    commands = ENVIRONMENTS["textcraft"].plan(EnvironmentSettings(kind="textcraft"))
    turns = "\n".join(f'[[turn]]\npace_s = {0 if n else 600}.0\n[[turn.calls]]\ntool = "act"\n'
                      f'arguments = {{command = "{command}"}}' for n, command in enumerate(commands))
    (folder / "tasks/craft").mkdir(parents=True)
    (folder / "tasks/craft/task.toml").write_text(TASK + json.dumps(turns) + "\n", encoding="utf-8")
    lab = Parts(folder)
    lab.env["PYTHONPATH"] += f"{os.pathsep}{recipes}"
    return lab, commands


async def test_a_person_cuts_a_slow_model_off_acts_by_keyboard_and_hands_back(qapp, tmp_path, textcraft):  # noqa: F811
    lab, commands = lab_of(tmp_path / "lab", textcraft)
    lab.start_server()
    with stopped(lab, "none"):
        session = lab.tiphys("run", "craft")[-1]["session"]
        async with window(tmp_path / "desk") as made:
            home = Home(tmp_path / "lab")
            entry = made.place.servers.add(read_endpoint(home).url, home.admin_token.read_text(), "lab")
            await eventually(lambda: "lab: connected" in made.window.status.links_text)
            desk = next(d for d in made.desks.all if d.server == entry.id)
            key = f"{session}@{entry.id}"
            made.cursor.move(key)
            await eventually(lambda: (t := desk.trajectory(key)) is not None and t.open_step is not None)
            made.window.activateWindow()
            await eventually(made.window.isActiveWindow)
            QTest.keyClick(made.window, Qt.Key.Key_T, ALT)
            view = made.window.docks["takeover"].widget()
            await eventually(lambda: view.form.form is not None and view.carry_out.isEnabled())
            assert "Goal: craft" in view.seen.toPlainText(), "what the agent saw is seen before the first step"
            line = view.form.fields["command"]
            made.cursor.focus_list()
            QTest.keyClick(made.window, Qt.Key.Key_T, ALT)
            await eventually(line.hasFocus)  # who has the session is led to it again
            QTest.keyClick(line, Qt.Key.Key_Return)
            assert view.problem.text() == "“command” is empty, and act needs it."
            view.why.setText("Logs first.")
            QTest.keyClicks(line, commands[0])
            if picture := os.environ.get("TIPHYS_PICTURE"):
                made.window.resize(1440, 900)
                made.window.grab().save(picture)
            QTest.keyClick(line, Qt.Key.Key_Return)
            await eventually(lambda: len(desk.trajectory(key).steps) == 1 and not line.text())
            strip = made.window.findChild(AgentStrip).text
            assert strip.head == "You write step 2" and strip.facts[0] == "the agent waits"
            assert "root acts" in made.window.findChild(SessionHead).facts.text()
            QTest.keyClick(made.window, Qt.Key.Key_B, ALT)
            await eventually(lambda: desk.row(key).state == "finished" and len(desk.trajectory(key).steps) == 2)
            if picture:
                made.window.grab().save(picture.replace(".png", "-after.png"))
            told = desk.trajectory(key)
            assert [entry.head.author for entry in told.steps] == ["root", ""] and desk.row(key).score == 100.0
            row = step_row(told, 0)
            assert (row.tool, row.word, row.icon, row.meaning) == ("act", "root", "user-round", "person")
            assert counts_of(told)["guidance"] == 1 and list(new_items(told, "guidance", Facets(), 0, 0, "")) == [
                told.items.of_step(0)], "it is among what people did"
            made.cursor.move(key, 1)
            step = made.window.docks["step"].widget()
            await eventually(lambda: step.about.text().startswith("by root"))
            assert not view.carry_out.isVisibleTo(made.window), "it is the agent's again"
            await eventually(lambda: not view.empty.button.isVisibleTo(view))  # nobody takes over what has ended
            await eventually(lambda: desk.replica.body(told.steps[0].body) is not None)
            body = decode_body(desk.replica.body(told.steps[0].body))
            assert (body.thought, body.actions[0].arguments) == ("Logs first.", {"command": commands[0]})
        shown = lab.tiphys("show", session)[0]
        assert [step["author"] for step in shown["steps"]] == ["root", None]


def test_tab_goes_from_the_tool_through_its_fields_and_back_and_what_lacks_is_seen(qtbot):
    view = TakeoverView(QAction("Take over"), QAction("Hand back"), None)
    qtbot.addWidget(view)
    view.offer([ToolForm(name="open", about="", fields=(FormField(name="name"),)),
                ToolForm(name="run", about="", fields=(FormField(name="command", is_required=True, is_long=True),
                                             *(FormField(name=f"more{n}") for n in range(8))))])
    view.show_holder("You write step 2.", may_act=True)
    view.resize(300, 220)
    view.show()
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    assert view.tool.currentText() == "run", "who takes over wants to do something, not to open it"
    command, last = view.form.fields["command"], view.form.fields["more7"]
    view.tool.setFocus()
    QTest.keyClick(view.tool, Qt.Key.Key_Tab)
    assert view.focusWidget() is command
    QTest.keyClick(command, Qt.Key.Key_Backtab)
    assert view.focusWidget() is view.tool
    last.setFocus()
    QTest.keyClick(last, Qt.Key.Key_Tab)
    assert view.focusWidget() is view.why
    view.say_problem("“command” is missing.", "command")
    qtbot.waitUntil(lambda: command.visibleRegion().boundingRect().height() == command.height())


def test_in_a_small_window_the_command_is_seen_whole_with_what_carries_it_out(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        made.resize(1280, 720)
        made.lay_out("live")
        place.cursor.move("s1")
        made.show_panel("takeover")
        view = made.docks["takeover"].widget()
        about = "Run a shell command, of any number of lines, in a terminal. " * 4
        fields = FormField(name="command", is_required=True, is_long=True), *(FormField(name=str(n)) for n in range(5))
        view.offer([ToolForm(name="run_command", about=about, fields=fields), ToolForm(name="b", about="", fields=())])
        view.show_holder("You write step 11.", may_act=True)
        for widget in (view.form.fields["command"], view.tool, view.why, view.carry_out):
            qtbot.waitUntil(lambda w=widget: w.visibleRegion().boundingRect().size() == w.size())
