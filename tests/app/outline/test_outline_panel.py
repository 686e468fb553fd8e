"""The outline: phases, what stands out in them, subagents with their own finds, the plan; driven by keys."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import PERSON, SERVER, Maker, fill
from support.panels import workplace

from app.outline.lines import Outlined, outline_of, text_of
from app.outline.model import LineTextRole
from app.outline.panel import build
from app.outline.phases import phases_of
from core.domain.events import FileChanged, Placed, ScoreGiven, SessionStateChanged, SubmissionMade, VerdictGiven
from core.domain.trajectory import Trajectory, fold
from core.formats import registry


def session_of(plan: str) -> Maker:
    """`s` works, `e` fails, `g` guides, `m` summarises, a figure is a score, `z` a pause of five hours, `f` changes a
    file, `k` masks the last step, `h` hands in, `.` ends."""
    maker = Maker(8)
    for letter in plan:
        if letter == "g":
            maker.guide("look at the loss")
        elif letter == "m":
            maker.summarise()
        elif letter == "z":
            maker.at += timedelta(hours=5)
        elif letter == "k":
            maker.say(VerdictGiven(step=maker.step, value="mask", reason="claims no errors"), PERSON)
        elif letter == "h":
            maker.say(SubmissionMade(ordinal=1, step=maker.step, blob=maker.keep(b"patch")))
        elif letter == ".":
            maker.say(SessionStateChanged(state="finished"))
        elif letter.isdigit():
            maker.say(ScoreGiven(ordinal=1, step=maker.step, total=10.0 * int(letter)), SERVER)
        else:
            maker.add_step(tool="sleep" if letter != "e" else "run_command", fails=letter == "e")
            if letter == "f":
                after = maker.keep(f"x = {maker.step}\n".encode())
                maker.say(FileChanged(host="main", path="src/a.py", after=after, size=6, step=maker.step))
    return maker


def folded(plan: str) -> Trajectory:
    return fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(session_of(plan).bodies, 1)])


def lines(plan: str) -> list[tuple[str, int, str, str]]:
    trajectory = folded(plan)
    one = Outlined("s1", trajectory)
    made = [(line.kind, line.depth, text.words, text.right) for line in outline_of(one, {"s1": one})
            if (text := text_of(line, trajectory))]
    return [line for line in made if line[0] != "file" or line[2] == "a.py"]  # a made step may change others


def test_phases_begin_with_people_summaries_other_scores_and_pauses():
    phases = phases_of(folded("ssemses5ss5s7zsgs"))
    assert [p.item.kind if p.item else p.begun_by for p in phases] == ["", "summary", "score", "score", "pause",
                                                                     "guidance"]
    assert [(p.first, p.last) for p in phases] == [(0, 2), (3, 6), (7, 11), (12, 12), (13, 13), (14, 15)]
    assert phases_of(Trajectory("empty")) == []


def test_a_pause_has_its_line_also_where_a_person_or_a_score_begins_the_phase():
    asked = lines("sszgss.")
    assert [(kind, words) for kind, _, words, _ in asked if kind in ("pause", "phase")] == [
        ("phase", "Beginning"), ("pause", "Pause of 5 h 01 min"), ("phase", "look at the loss")]
    alone = phases_of(folded("ss7zss"))
    assert [(phase.begun_by, phase.pause_s > 0) for phase in alone] == [("", False), ("item", False), ("pause", True)]


def test_what_stands_out_is_a_line_that_leads_there():
    found = lines("sfeesskh.")
    assert [(kind, depth, right) for kind, depth, _, right in found] == [
        ("task", 0, "0"), ("phase", 0, "1–6"), ("file", 1, "2"), ("errors", 1, "3–4"), ("masked", 1, "6"),
        ("submission", 1, "6"), ("end", 0, "6")]
    words = [words for _, _, words, _ in found]
    assert words[2] == "a.py" and words[3].endswith("×2") and words[4] == "claims no errors"


def test_failures_far_apart_are_no_lines_of_their_own_where_there_are_many():
    assert [kind for kind, *_ in lines("esssss" * 14 + "ee")].count("errors") == 1
    assert [kind for kind, *_ in lines("esssss" * 3)].count("errors") == 3


LOG = [
    {"type": "user", "message": {"role": "user", "content": "Make it fast"}},
    {"type": "assistant", "message": {"id": "m0", "role": "assistant", "content": [
        {"type": "tool_use", "id": "t0", "name": "TodoWrite", "input": {"todos": [
            {"content": "Look", "status": "completed"}, {"content": "Mend", "status": "in_progress"}]}}]}},
    {"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t0", "content": "ok"}]}},
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
    {"type": "user", "message": {"role": "user", "content": "And now the tests."}},
    {"type": "assistant", "message": {"id": "m2", "role": "assistant", "content": "Done."}},
]


def sessions_of(folder, log):
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "run-1", "uuid": f"u{n}", "parentUuid": None,
                                        "timestamp": f"2026-03-01T10:{n:02}:00Z"}) + "\n"
                            for n, line in enumerate(log)))
    return list(registry.read(path))


def test_a_failed_step_is_named_by_its_file_not_by_folders_that_push_the_name_out(tmp_path):
    edit = {"type": "tool_use", "id": "e1", "name": "Edit", "input": {
        "file_path": "/a/long/folder/of/many/model.py", "old_string": "a", "new_string": "b"}}
    [session] = sessions_of(tmp_path, [
        {"type": "user", "message": {"role": "user", "content": "Mend it."}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [edit]}},
        {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "e1", "is_error": True, "content": "File has not been read yet."}]}},
    ])
    trajectory = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(session.bodies, 1)])
    failed = [text_of(line, trajectory).words for line in outline_of(Outlined("s1", trajectory), {})
              if line.kind == "errors"]
    assert failed == ["Edit model.py"]


@pytest.fixture
def place(tmp_path):
    sessions = sessions_of(tmp_path, LOG)
    with workplace(tmp_path / "home") as (place, replica):
        for session in sessions:
            replica._writer.do_blocking(lambda conn, s=session: fill(conn, s.session, s.bodies, {
                name: s.blobs[name] for name in s.blobs}))
        yield place, [session.session for session in sessions]


def texts(view):
    model = view.list.model()
    return [model.data(model.index(row), LineTextRole) for row in range(model.rowCount())]


def test_the_outline_is_read_folded_filtered_and_left_by_keys(qtbot, place):
    place, (main, child) = place
    view = build(place, None)
    qtbot.addWidget(view)
    view.resize(260, 500)
    view.show()
    place.cursor.move(main, 1)
    assert view.list.isVisible() and not view.nothing.isVisible(), "nobody has typed a word"
    assert [text.words for text in texts(view)] == ["Task", "Mend", "Find the loop.", "And now the tests.", "Answer",
                                                    "Ended: finished"]
    assert (texts(view)[2].right, texts(view)[2].failed) == ("2", 1)
    assert view.plan.rows.items[1].words == "Mend" and view.plan.isVisible()
    view.list.setFocus()
    view.list.setCurrentIndex(view.list.model().index(2))
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert (place.cursor.session, place.cursor.step) == (child, 1)
    inside = texts(view)[3:5]
    assert [(text.icon, text.words) for text in inside] == [("circle-x", "rg loop"), ("message-square-text", "Report")]
    assert view.list.delegate.here == 3, "the line of what is read is marked"
    assert view.plan.rows.title == "Plan of step 1", "a subagent without a plan shows its caller's"
    view.list.setCurrentIndex(view.list.model().index(1))
    QTest.keyClick(view.list, Qt.Key.Key_Left)
    assert [text.words for text in texts(view)][1:3] == ["Mend", "And now the tests."]
    QTest.keyClick(view.list, Qt.Key.Key_Right)
    QTest.keyClicks(view.list, "answer")
    assert [text.words for text in texts(view)] == ["Answer"], "letters filter and are no commands"
    QTest.keyClick(view.words, Qt.Key.Key_Return)
    assert (place.cursor.session, place.cursor.step) == (main, 3)
    view.words.setText("no such line")
    assert view.nothing.isVisible() and not view.list.isVisible(), "what hides all says so, with a way out"
    QTest.keyClick(view.words, Qt.Key.Key_Escape)
    assert len(texts(view)) > 4 and not view.words.isVisible()
    assert view.list.isVisible() and view.window().focusWidget() is view.list


def test_a_turn_of_a_person_is_opened_in_the_step_panel(qtbot, place):
    place, (main, _) = place
    view = build(place, None)
    qtbot.addWidget(view)
    view.show()
    place.cursor.move(main, 1)
    opened = []
    place.cursor.aside_opened.connect(lambda kind, ref: opened.append(kind))
    view.list.setCurrentIndex(view.list.model().index(3))
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert opened == ["guidance"]
