"""The task stands above every trajectory; a subagent is entered at the step that called it, and left again."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from support.logs import PERSON, Maker, fill
from support.panels import workplace

from app.desk.row_text import RowText
from app.step.panel import build as build_step
from app.terminals.panel import build as build_terminals
from app.trajectory.model import RowTextRole
from app.trajectory.panel import build
from app.trajectory.row_ink import short_path
from core.domain.events import Branched, VerdictGiven, encode_event, make_event
from core.domain.request import requested
from core.formats import registry

LOG = [
    {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
    {"type": "user", "message": {"role": "user", "content": "# Make it fast\nThe **parser** is slow."}},
    {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [
        {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Find the loop."}}]}},
    {"type": "user", "isSidechain": True, "agentId": "a1", "message": {"role": "user", "content": "Find the loop."}},
    {"type": "assistant", "isSidechain": True, "agentId": "a1", "message": {
        "id": "s1", "role": "assistant", "content": [
            {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "rg loop"}}]}},
    {"type": "user", "isSidechain": True, "agentId": "a1", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "Exit code 2\nnone"}]}},
    {"type": "assistant", "isSidechain": True, "agentId": "a1", "message": {
        "id": "s2", "role": "assistant", "content": "It is in p.py."}},
    {"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "It is in p.py."}]}},
    {"type": "user", "message": {"role": "user", "content": "Mend it now."}},
    {"type": "assistant", "message": {"id": "m2", "role": "assistant", "content": "Done."}},
]


@pytest.fixture
def place(tmp_path):
    """A workplace with a run and its subagent; main's name first."""
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "run-1", "uuid": f"u{n}", "parentUuid": None,
                                        "timestamp": f"2026-03-01T10:0{n}:00Z"}) + "\n" for n, line in enumerate(LOG)))
    sessions = list(registry.read(path))
    with workplace(tmp_path / "home") as (place, replica):
        for session in sessions:
            replica._writer.do_blocking(lambda conn, s=session: fill(conn, s.session, s.bodies, {
                name: s.blobs[name] for name in s.blobs}))
        yield place, [session.session for session in sessions]


def texts(panel):
    model = panel.list.model()
    return [model.index(row).data(RowTextRole) for row in range(model.rowCount())]


def test_the_task_is_pinned_and_a_turn_of_a_person_is_a_row(qtbot, place):
    place, (main, _) = place
    panel, step = build(place, None), build_step(place, None)
    qtbot.addWidget(panel), qtbot.addWidget(step)
    place.cursor.move(main, 1)
    [(key, row, below)] = panel.pinned.rows
    assert (key, row.title, below) == ("task", "Make it fast", "The parser is slow.")
    assert place.sight.row.title == "Make it fast The parser is slow.", "never /clear"
    turn = texts(panel)[1]
    assert (turn.icon, turn.title, turn.ground) == ("user-round", "Mend it now.", "person")
    place.actions["go.task"].trigger()
    assert step.title.text() == "Task"
    place.actions["go.next_person"].trigger()
    assert "Mend it now." in step.text.edit.toPlainText()


def test_a_subagent_is_entered_at_its_call_and_left_again(qtbot, place):
    place, (main, child) = place
    panel = build(place, None)
    qtbot.addWidget(panel)
    place.cursor.move(main, 1)
    call = texts(panel)[0]
    assert (call.tool, call.icon, call.word) == ("Task", "bot", "2 steps  ✗ 1")
    panel.list.setFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert (place.cursor.session, place.cursor.step) == (child, 1)
    caller = panel.pinned.rows[1][1]
    assert (caller.number, caller.word) == ("1", "step 1 of 2  ✗ 1")
    assert [(text.number, text.depth) for text in texts(panel)] == [("1", 0), ("1.1", 1), ("1.2", 1), ("", 0), ("2", 0)]
    assert texts(panel)[1].word == "exit 2"
    place.actions["go.caller"].trigger()
    assert (place.cursor.session, place.cursor.step) == (main, 1)


def test_nothing_handed_in_is_told(qtbot, place):
    place, (main, _) = place
    qtbot.addWidget(build(place, None))
    place.cursor.move(main, 1)
    with qtbot.waitSignal(place.notices.posted):
        place.actions["go.handed_in"].trigger()


@pytest.mark.parametrize(("text", "asked"), [
    ("<command-name>/clear</command-name>", ""), ("/model opus", ""), ("/home/a.py is broken", "/home/a.py is broken"),
    ("<command-message>o</command-message><command-name>/o</command-name><command-args>do</command-args>", "/o do"),
    ("# Context from my IDE setup:\n\n## Active file: a\n\n## My request for Codex:\nMend it", "Mend it"),
    ("<system-reminder>be brief</system-reminder>\nHello", "Hello"),
    ("<image name=[Image #1]>\n[input_image]\n</image>\n[Image #1] Align it", "[Image #1] Align it"),
    ("<task>\nSort it\n</task>\n<environment_details>\n…</environment_details>", "Sort it")])
def test_what_was_asked(text, asked):
    assert requested(text) == asked


@pytest.mark.parametrize(("path", "cells", "shown"), [
    ("a/b/c.py", 20, ("a/b/", "c.py")), ("x/structure.md", 13, ("", "structure.md")),
    ("todo-app/src/deep/notes/structure.md", 30, ("todo-app/…/notes/", "structure.md")),
    ("todo-app/src/deep/notes/structure.md", 24, ("todo-app/…/", "structure.md")),
    ("/w/src/deep/x.py", 14, ("/w/…/deep/", "x.py")), ("/very_long_first_folder/x/y/z.py", 12, ("…/x/y/", "z.py")),
    ("C:\\w\\src\\deep\\x.py", 14, ("C:\\…\\deep\\", "x.py")), ("src\\deep\\x.py", 20, ("src\\deep\\", "x.py")),
    ("/w/a.py · 12", 40, ("/w/", "a.py · 12")), ("averylongname.md", 9, ("", "aver…e.md"))])
def test_a_path_is_shortened_in_its_middle(path, cells, shown):
    assert short_path(path, cells) == shown


def test_commands_without_a_recorded_terminal_are_told(qtbot, place):
    place, (_, child) = place
    view = build_terminals(place, None)
    qtbot.addWidget(view)
    place.cursor.move(child, 1)
    texts = " ".join(label.text() for label in view.findChildren(QLabel))
    assert "This log keeps no terminal" in texts and "opened no shell" not in texts


def test_a_fold_tells_what_is_masked_in_it_and_never_hides_the_step_that_is_read(tmp_path, qtbot):
    maker = Maker(1)
    for _ in range(5):
        maker.add_step("sleep")
    maker.say(VerdictGiven(step=2, value="mask", reason="idle"), PERSON)
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", None)
        [row] = texts(panel)
        assert (row.tool, row.word, row.meaning, row.is_chip) == ("Waited", "1 masked", "mask", True)
        place.cursor.to_step(3)
        assert len(texts(panel)) == 5
        place.settings.set("trajectory.fold_waiting", False)
        place.settings.set("trajectory.fold_waiting", True)
        place.cursor.to_step(4)
        assert len(texts(panel)) == 5 and texts(panel)[1].state == "mask"


def test_a_branch_names_what_it_branched_from_and_leads_back_there(qtbot, tmp_path):
    first, branch = Maker(1, "The first"), Maker(2, "Another way")
    for _ in range(3):
        first.add_step()
    fact = Branched(parent="s1", step=2, base=2, snapshot="x", group="q", arm="without")
    branch.bodies.insert(1, encode_event(make_event(fact, PERSON)))
    branch.step = 2
    branch.add_step()
    with workplace(tmp_path, first, branch) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s2", 3)
        row = panel.pinned.rows[1][1]
        assert (row.title, row.number, row.word) == ("branched from The first", "2", "without")
        place.actions["go.caller"].trigger()
        assert (place.cursor.session, place.cursor.step) == ("s1", 2)


def test_a_task_that_is_too_long_for_its_line_goes_on_in_the_second(qtbot, tmp_path):
    asked = "Train a classifier for the reviews and choose everything on the training split alone, then report"
    with workplace(tmp_path, Maker(3)) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        pinned = panel.pinned
        pinned.show_rows([("task", RowText(icon="target", tool="Task", title=asked, face="strong"), "")])
        for width, lines in ((420, 2), (1600, 1)):
            pinned.resize(width, 60)
            [(_, row, below)] = pinned._drawn()
            assert (f"{row.title} {below}".strip(), 1 + bool(below)) == (asked, lines)
            assert pinned.sizeHint().height() > pinned._delegate.ink.height + (lines - 1) * 10
            assert pinned._delegate.ink.bold_metrics.horizontalAdvance(row.title) < width, "nothing is cut"
