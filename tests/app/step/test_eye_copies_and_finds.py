"""The eye: what is gone from the context, whether a text is still in it, and copies to take away."""

from __future__ import annotations

import json
import os
import subprocess

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from support.logs import Maker
from support.window import CTRL, SHIFT, press, shown_window

from app.kit import theme, tokens
from app.step.context import TOKENS
from app.step.context_search import Presence, contexts_of, haystack, left_for_good, wanted_text
from app.step.eye_view import EyeView
from app.step.request_text import as_curl, request_of
from app.step.view import StepView
from core.domain.context import MessageRef, delta_between
from core.domain.events import Placed
from core.domain.message import Message, ToolCall
from core.domain.step import Output
from core.domain.task import ModelSettings
from core.domain.trajectory import fold
from core.store import blobs

KEY = "sk-proj-" + "Ab3" * 12
names = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


def marmalade() -> Maker:
    """Step 2 is told the word "marmalade"; the summary after step 6 drops it from the contexts."""
    maker = Maker(3)
    maker.add_step()
    maker.guide("use the marmalade split")
    for _ in range(5):
        maker.add_step()
    maker.summarise()
    for _ in range(3):
        maker.add_step()
    return maker


@given(st.lists(names, max_size=8))
@settings(max_examples=60)
def test_contexts_and_what_left_them_agree_with_the_deltas(contexts):
    refs = [[MessageRef(hash=n, role="user") for n in one] for one in contexts]
    steps = [(i, delta_between(refs[i - 2] if i > 1 else [], now)) for i, now in enumerate(refs, 1)]
    assert [found for _, found in contexts_of(steps)] == refs
    ever, now = {n for one in contexts for n in one}, set(contexts[-1]) if contexts else set()
    gone = left_for_good(steps)
    assert {ref.hash for ref, _ in gone} == ever - now
    for ref, since in gone:
        assert ref.hash in contexts[since - 2] and all(ref.hash not in one for one in contexts[since - 1 :])


def test_a_text_is_looked_for_as_the_model_read_it():
    call = ToolCall(id="c", name="write_file", arguments='{"text": "first\\nsecond Line"}')
    message = Message(role="assistant", content="a  b", reasoning="hidden thought", tool_calls=(call,))
    assert wanted_text("First second\nline") in haystack(message)
    assert "hidden thought" not in haystack(message)
    held = Presence("x", ((2, 4), (8, 8)))
    assert [held.holds(n) for n in (1, 2, 4, 5, 8)] == [False, True, True, False, True]
    assert [held.last_before(n) for n in (1, 3, 6, 9)] == [None, 3, 4, 8]


def test_no_figure_of_the_eye_touches_the_edge(qtbot, tmp_path):
    with shown_window(tmp_path, marmalade()) as (window, place):
        place.cursor.move("s1", 9)
        press(window, Qt.Key.Key_C)
        table = window.findChild(EyeView).table
        qtbot.waitUntil(lambda: table.model().rowCount() > 2)
        table.clearSelection()
        table.scrollToTop()
        cell = table.visualRect(table.model().index(1, TOKENS))
        inked = table.viewport().grab(cell).toImage()
        middle = range(4, inked.height() - 4)
        colours = [{inked.pixel(x, y) for y in middle} for x in range(inked.width())]
        last = max(x for x, found in enumerate(colours) if len(found) > 1)
        assert cell.right() <= table.viewport().width() and 0 < last <= inked.width() - theme.px(tokens.SIDE)


def test_a_typed_text_tells_its_steps_and_the_strip_goes_there(qtbot, tmp_path):
    with shown_window(tmp_path, marmalade()) as (window, place):
        place.cursor.move("s1", 9)
        press(window, Qt.Key.Key_C)
        eye = window.findChild(EyeView)
        assert eye.isVisible()
        press(window, Qt.Key.Key_C, SHIFT)
        assert eye.presence.box.hasFocus()
        QTest.keyClicks(eye.presence.box, "MARMALADE")
        qtbot.waitUntil(lambda: "Gone" in eye.presence.answer.text())
        trajectory = place.desks.local.trajectory("s1")
        guidance = next(iter(trajectory.guidance))
        steps = [e.head.number for e in trajectory.steps
                 if any(ref.source == f"guidance:{guidance}" for ref in trajectory.context(e.head.number))]
        assert f"Gone since step {steps[-1] + 1}" in eye.presence.answer.text()
        assert f"Steps with it: {steps[0]}–{steps[-1]}" in eye.presence.answer.text()
        press(window, Qt.Key.Key_Return)
        press(window, Qt.Key.Key_Left)  # in the strip: to the border before
        press(window, Qt.Key.Key_Left)
        assert place.cursor.step == steps[-1]
        assert f"✓ In the context at step {steps[-1]}" in eye.presence.answer.text()
        marked = eye.table.currentIndex().row()
        assert eye.table.model().lines[marked].ref.source == f"guidance:{guidance}"
        assert "◆" in eye.table.model().index(marked, 1).data()
        QTest.keyClicks(eye.presence.box, " nowhere")
        qtbot.waitUntil(lambda: "In no step" in eye.presence.answer.text())


class Written(Maker):
    """Steps whose thoughts and outputs are given."""

    pairs = (("Is it tangerine?", "quince"), ("A quince, then.", "no"), ("Or not.", "a tangerine"), ("It is.", "yes"))

    def _body(self, tool, fails):
        body, (thought, output) = super()._body(tool, fails), self.pairs[self.step - 1]
        seen = msgspec.structs.replace(body.observations[0], output=Output(text=output, total_chars=len(output)))
        return msgspec.structs.replace(body, thought=thought, observations=(seen,))


def test_what_the_model_alone_said_is_told_from_what_it_read(qtbot, tmp_path):
    """It wrote "tangerine" before a tool told it, and "quince" after."""
    maker = Written(3)
    for _ in Written.pairs:
        maker.add_step(fails=False)
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        place.cursor.move("s1", 3)
        press(window, Qt.Key.Key_C)
        presence = window.findChild(EyeView).presence
        presence.ask("tangerine")
        qtbot.waitUntil(lambda: "! Only its own words: nothing that it read up to step 3" in presence.answer.text())
        place.cursor.to_step(4)
        assert "✓ In the context at step 4" in presence.answer.text(), "a tool has said so since"
        presence.ask("quince")
        qtbot.waitUntil(lambda: "✓ In the context at step 4. Steps with it: 2–4" in presence.answer.text())
    own = Presence("x", ((2, 4),), read_at=4)
    assert [own.is_own(n) for n in (1, 2, 3, 4)] == [False, True, True, False]
    assert not Presence("x", ((2, 4),), missing=("a",)).is_own(3), "what is not here may have said so"


def test_a_selected_text_is_looked_for(qtbot, tmp_path):
    with shown_window(tmp_path, marmalade()) as (window, place):
        place.cursor.move("s1", 9)
        panel = window.findChild(StepView)
        edit = panel.text.edit
        edit.setFocus()
        cursor = QTextCursor(edit.document().findBlockByNumber(1))
        cursor.select(QTextCursor.SelectionType.LineUnderCursor)
        edit.setTextCursor(cursor)
        selected = panel.text.selected
        press(window, Qt.Key.Key_C, SHIFT)
        assert selected and panel.eye.presence.box.text() == " ".join(selected.split())
        qtbot.waitUntil(lambda: "step" in panel.eye.presence.answer.text())


def test_what_summaries_dropped_is_listed_with_the_step_that_lost_it(qtbot, tmp_path):
    with shown_window(tmp_path, marmalade()) as (window, place):
        place.cursor.move("s1", 9)
        place.actions["view.eye"].setChecked(True)
        eye = window.findChild(EyeView)
        eye.shown.setFocus()
        press(window, Qt.Key.Key_End)
        eye.shown.activated.emit(eye.shown.currentIndex())
        qtbot.waitUntil(lambda: eye.table.model().rowCount() > 0)
        trajectory = place.desks.local.trajectory("s1")
        earlier = {r.hash for e in trajectory.steps[:8] for r in trajectory.context(e.head.number)}
        now = {r.hash for r in trajectory.context(9)}
        assert {line.ref.hash for line in eye.table.model().lines} == earlier - now
        assert {line.since for line in eye.table.model().lines} == {7}
        assert eye.table.model().index(0, 1).data(Qt.ItemDataRole.ToolTipRole) == "− since step 7"
        place.cursor.to_step(4)
        qtbot.waitUntil(lambda: eye.table.model().rowCount() == 0)
        place.cursor.to_step(8)
        qtbot.waitUntil(lambda: eye.table.model().rowCount() > 0)


def test_the_context_is_copied_as_json_and_as_a_command_without_secrets(qtbot, tmp_path):
    maker = marmalade()
    maker.guide(f"the key is {KEY}, it's mine")
    maker.add_step()
    with shown_window(tmp_path, maker) as (window, place):
        notices = []
        place.notices.posted.connect(notices.append)
        place.cursor.move("")
        place.actions["view.copy_json"].trigger()
        assert "choose a step" in notices[-1].sentence
        place.cursor.move("s1", 10)
        place.actions["view.copy_json"].trigger()
        request = json.loads(QGuiApplication.clipboard().text())
        assert len(request["messages"]) == len(place.desks.local.trajectory("s1").context(10))
        assert KEY in json.dumps(request)
        place.actions["view.copy_curl"].trigger()
        text = QGuiApplication.clipboard().text()
        assert KEY not in text and "[openai_key removed]" in text and "1 secret" in notices[-1].sentence
        assert '"Authorization: Bearer $OPENAI_API_KEY"' in text
        menu = [a.text().replace("&", "") for a in window.findChild(EyeView).copy.menu().actions()]
        assert menu == ["Copy the context as JSON", "Copy the context as a curl request"]


@pytest.mark.parametrize("stays", [True, False])
async def test_a_copy_that_waits_for_a_message_is_made_only_for_who_stays(tmp_path, stays):
    maker = marmalade()
    late = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)]).context(9)[-1].hash
    data = maker.blobs.pop(late)
    with shown_window(tmp_path, maker) as (_window, place):
        QGuiApplication.clipboard().setText("mine")
        place.cursor.move("s1", 9)
        place.actions["view.copy_json"].trigger()
        assert QGuiApplication.clipboard().text() == "mine", "a message is not here yet"
        if not stays:
            place.cursor.to_step(2)
        await place.desks.of("s1").replica.store_blob(late, blobs.compress(data))
        text = QGuiApplication.clipboard().text()
        assert len(json.loads(text)["messages"]) == len(place.desks.local.trajectory("s1").context(9)) if stays else (
            text == "mine")


def test_a_shell_runs_the_command_exactly(tmp_path):
    odd = "it's $HOME `id` \\ \"q\"\nEND_OF_REQUEST\n中文 \x1b[0m"
    messages = [Message(role="user", content=odd)]
    model = ModelSettings(kind="openai", name="m", base_url="https://me:pw@host/v1/?key=1", temperature=0.5)
    tools = json.dumps([{"name": "run", "description": "d", "parameters": {"type": "object"}}]).encode()
    text, removed = as_curl(request_of(messages, tools, model), model)
    assert removed == 0
    fake = tmp_path / "curl"
    fake.write_text('#!/bin/sh\nfor a in "$@"; do printf "%s\\n" "$a"; done >"$OUT.args"\ncat >"$OUT"\n')
    fake.chmod(0o755)
    out = tmp_path / "got"
    subprocess.run(["bash", "-c", text], check=True,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "OUT": str(out),
                        "OPENAI_API_KEY": "k1"})
    sent = json.loads(out.read_text())
    assert sent["messages"] == [{"role": "user", "content": odd}]
    assert sent["tools"][0]["function"]["name"] == "run" and sent["temperature"] == 0.5
    arguments = (tmp_path / "got.args").read_text().splitlines()
    assert arguments[0] == "https://host/v1/chat/completions" and "Authorization: Bearer k1" in arguments


def test_ctrl_is_for_copying_the_selection_not_for_the_eye(qtbot, tmp_path):
    with shown_window(tmp_path, marmalade()) as (window, place):
        place.cursor.move("s1", 4)
        edit = window.findChild(StepView).text.edit
        edit.setFocus()
        edit.selectAll()
        press(window, Qt.Key.Key_C, CTRL)
        assert "Observation" in QGuiApplication.clipboard().text()
        assert not window.findChild(StepView).eye_is_open
