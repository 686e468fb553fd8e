"""The step as text with its envelopes, and the exact context with what entered and left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from support.eventually import eventually
from support.logs import AGENT, Maker
from support.panels import told_session, workplace

from app.kit import quantities, theme
from app.kit.long_text import LongText, Part
from app.step.context import ContextModel
from app.step.context_lines import lines_of
from app.step.message_looks import MessageLook, look_of
from app.step.message_parts import parts_of_message
from app.step.message_words import source_words
from app.step.panel import build
from app.step.parts import envelope, observation_parts, parts_of
from app.step.read_step import read_step
from core.client.client import Client
from core.domain.context import MessageRef
from core.domain.events import encode_event, make_event
from core.domain.message import Message, ToolCall
from core.domain.step import Action, ActionError, Observation, Output, StepBody, encode_body
from core.domain.tools import OWN
from core.formats.tools import table_of

START = datetime(2026, 3, 1, tzinfo=UTC)
refs = st.lists(st.builds(MessageRef, hash=st.sampled_from("abcdef"), role=st.just("user")), max_size=8)


def text_of(parts) -> str:
    return "".join(p.text for p in parts)


def test_a_step_reads_thought_action_observation():
    body = StepBody(number=1, thought="I look.", actions=(
        Action(call_id="a", tool="run_command", arguments={"command": "ls\npwd", "timeout": 30}),
        Action(call_id="b", tool="open_file", malformed="no JSON")), observations=(
        Observation(call_id="b", status="refused", error=ActionError(kind="malformed", message="No JSON.")),
        Observation(call_id="a", exit_code=2, output=Output(text="out", truncated=True, total_chars=90_000)),))
    text = text_of(parts_of(body))
    order = ["Thought", "I look.", "run_command  (1 of 2)", "ls\npwd\n", "timeout: 30\n", "Observation  ✓ finished",
             "exit code 2", "out\n", "3 of 90,000", "open_file  (2 of 2)", "no JSON", "✗ refused", "No JSON."]
    places = [text.index(word) for word in order]
    assert places == sorted(places)


def test_the_envelope_tells_all():
    text = envelope(Observation(call_id="a", status="timeout", exit_code=124, job="j1", started_at=START,
                                ended_at=START + timedelta(minutes=3, seconds=5),
                                output=Output(terminal="main/sh", truncated=True)))
    assert text == "timeout · exit code 124 · 3 min 05 s · job j1 · terminal main/sh · truncated"


def test_what_failed_is_not_called_finished():
    failed = Observation(call_id="a", error=ActionError(kind="tool_error", message="Read it first."),
                         output=Output(text="Read it first."))
    assert [p.text for p in observation_parts(failed)] == ["Observation  ✗ failed\n", "Read it first.\n\n"]
    code = msgspec.structs.replace(failed, exit_code=1, error=ActionError(kind="exit_code", message="exit code 1"))
    assert envelope(code) == "exit code 1"


def test_a_difference_lies_on_its_grounds_also_where_its_lines_are_wrapped(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.resize(220, 400)
    view.show_parts([Part(text="Edit\n", style="heading"),
                     Part(text=f" same\n-{'old ' * 20}\n+{'new ' * 20}\n\n", style="block", lexer="diff")])
    view.show()
    assert (view.edit.grounds, view.edit.tinted) == ([(2, 4)], {3: "removed_line", 4: "added_line"})
    shown, at = view.edit.grab().toImage(), [view.edit._room(n, n) for n in (2, 3, 4)]
    inks = [{shown.pixelColor(x, int(y)).name() for x in range(20, 190) for y in (room.top() + 3, room.bottom() - 4)}
            for room in at]
    assert at[1].height() > 2 * at[0].height()
    for names, colour in zip(inks, ("window", "removed_line", "added_line"), strict=True):
        assert theme.colour(colour).name() in names and theme.colour("base").name() not in names


def test_a_call_of_which_its_file_does_not_name_the_tool_is_called_one():
    call = parts_of(StepBody(number=1, actions=(Action(call_id="1", tool="unknown"),)))
    assert call[0].text == "Call  its file does not name the tool\n"
    assert parts_of(StepBody(number=1, actions=(Action(call_id="1", tool="bash"),)))[0].text == "bash\n"
    assert parts_of(StepBody(number=1, thought="Done."))[0].text == "Answer\n"


def test_a_frame_stands_apart_from_the_lines_above_and_below_it(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.resize(400, 400)
    view.show_parts([Part(text="shell\n", style="heading"), Part(text="ls -l\n", style="block", lexer="bash"),
                     Part(text="host: gpu-1\n\n", style="mono"), Part(text="Observation\n", style="heading"),
                     Part(text="total 0\n", terminal=True), Part(text="Thought\n", style="heading")])
    view.show()
    assert view.text.split("\n") == [
        "shell", "", "ls -l", "", "host: gpu-1", "", "Observation", "", "total 0", "", "Thought", ""]
    narrow = view.edit._room(1, 1).height()
    assert view.edit.grounds == [(2, 2), (8, 8)] and 4 <= narrow < view.edit._room(0, 0).height() / 2
    frame = view.edit._room(2, 2).bottom() + 2.5
    assert frame < view.edit._room(4, 4).top()


def test_a_message_is_shown_exactly():
    text = text_of(parts_of_message(Message(role="assistant", content="\x1b[31mhi", reasoning="because", tool_calls=(
        ToolCall(id="c1", name="run_command", arguments='{"command":"ls"}'),
        ToolCall(id="c2", name="broken", arguments="{not json")))))
    for word in ("assistant", "\x1b[31mhi", "because", "run_command", '"command": "ls"', "{not json"):
        assert word in text
    assert all(p.escapes for p in parts_of_message(Message(role="user", content="x"))[1:])


def test_the_eye_draws_what_people_wrote_and_shows_it_raw_on_demand():
    task = Message(role="user", content="# Aim\n\nMake **it** `run`.")
    assert [(p.text.strip(), p.style) for p in parts_of_message(task)[1:] if p.text.strip()] == [
        ("Aim", "subhead"), ("Make", "prose"), ("it", "strong"), ("run", "code"), (".", "prose")]
    assert text_of(parts_of_message(task, raw=True)).endswith("# Aim\n\nMake **it** `run`.\n")
    assert "**" in text_of(parts_of_message(Message(role="tool", content="a **b**"))), "outputs stay as they are"


@given(refs, refs)
def test_entered_and_left_account_for_every_message(before, after):
    lines = lines_of(before, after)
    assert [line.ref for line in lines if line.change != "left"] == after
    stayed = sum(line.change == "" for line in lines)
    assert stayed + sum(line.change == "left" for line in lines) == len(before)


def test_the_sum_says_when_tokens_are_estimated(qapp, qtmodeltester):
    model = ContextModel()
    exact = MessageRef(hash="a", role="user", tokens=1_000, estimated=False, source="task")
    guess = MessageRef(hash="b", role="tool", tokens=234, source="step:4")
    model.show([exact], [exact, guess])
    qtmodeltester.check(model)
    assert model.tokens() == ("≈ 1,234 tokens, estimated: the log does not count each message", "≈ 1,234 tokens")
    assert "1 entered" in model.summary()
    model.show([exact, guess], [exact], 100_000)
    assert model.tokens() == ("1,000 of 100.0k tokens, counted", "1,000 of 100.0k tokens")
    model.set_shown("left")
    assert [line.ref for line in model.lines] == [guess]
    assert source_words("step:4") == "step 4"
    assert source_words("guidance:g1") == "guidance"


def test_the_panel_follows_the_cursor(qtbot, tmp_path):
    with workplace(tmp_path, told_session()) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 4)
        assert panel.title.text() == "Step 4"
        assert "Observation" in panel.text.text
        place.actions["view.eye"].setChecked(True)
        assert panel.eye_is_open
        wanted = place.desks.local.trajectory("s1").context(4)
        assert len([line for line in panel.eye.table.model().lines if not line.is_border]) == len(wanted)
        assert panel.eye.text.text
        place.cursor.follow()
        assert panel.title.text() == "Step 10"
        place.cursor.move("", None)
        assert not panel.title.isVisible()


def test_the_day_is_told_once_and_again_where_it_is_another(qtbot, tmp_path):
    """The session's head tells the day: a step of that day has the clock alone, so that its tokens are not cut off."""
    maker = Maker(2)
    maker.add_step()
    maker.at += timedelta(days=2)
    maker.add_step()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        began = place.sight.row.started_at
        assert panel.about.text().startswith(quantities.clock(began)[:2]) and quantities.day(began) not in (
            panel.about.text())
        place.cursor.to_step(2)
        assert quantities.day(began + timedelta(days=2)) in panel.about.text()


def test_the_list_of_messages_is_as_high_as_it_needs_until_it_is_dragged(qtbot, tmp_path):
    maker = Maker(2)
    for _ in range(3):
        maker.add_step()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(700, 900)
        panel.show()
        place.cursor.move("s1", 3)
        place.actions["view.eye"].setChecked(True)
        eye = panel.eye
        qtbot.waitUntil(lambda: eye.table.viewport().height() >= eye.table.verticalHeader().length() > 0)
        assert eye.table.height() < eye.text.height(), "what is left is the message's"
        eye._split.splitterMoved.emit(100, 1)
        eye._split.setSizes([100, 500])
        before = eye._split.sizes()
        eye.show_context()
        assert eye._split.sizes() == before


def test_a_stale_body_is_dropped(qtbot, tmp_path):
    maker = Maker(2)
    for _ in range(3):
        maker.add_step()
    held_back, maker.blobs = maker.blobs, {}
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        place.cursor.move("s1", 2)
        first, second = (place.desks.local.trajectory("s1").steps[i].body for i in (0, 1))
        from core.store import blobs

        for name in (second, first):
            replica._writer.do_blocking(lambda conn, n=name: blobs.put(conn, held_back[n]))
            place.desks.local._on_blob(name)
        assert panel.title.text() == "Step 2"
        from core.domain.step import decode_body

        assert decode_body(held_back[second]).thought in panel.text.text
        assert decode_body(held_back[first]).thought not in panel.text.text


def test_a_text_that_is_not_here_says_why(qtbot, tmp_path):
    maker = Maker(2)
    for _ in range(2):
        maker.add_step()
    fact = maker.add_step()
    again = msgspec.structs.replace(fact, body=maker.keep(b"no body"))
    maker.bodies[-1] = encode_event(make_event(again, AGENT))
    for name in [name for name in maker.blobs if name != again.body]:
        del maker.blobs[name]
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        assert "switched off" in panel.text.edit.placeholderText()
        place.desks.local.attach(Client(replica, "ws://127.0.0.1:1", "token"))
        assert "as soon as the server is reached" in panel.text.edit.placeholderText()
        place.desks.local._on_absent(place.desks.local.trajectory("s1").steps[0].body)
        assert "The server does not hold this text" in panel.text.edit.placeholderText()
        place.cursor.to_step(2)
        assert "as soon as" in panel.text.edit.placeholderText(), "that was about the other step"
        place.cursor.to_step(3)
        assert panel.text.text.startswith("This step cannot be read: ")
        place.desks.local.detach()


def test_a_summary_opens_beside_the_step(qtbot, tmp_path):
    maker = Maker(2)
    for _ in range(4):
        maker.add_step()
    maker.summarise()
    maker.add_step()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 2)
        summary = next(iter(place.desks.local.trajectory("s1").summaries.values()))
        place.cursor.open_aside("summary", summary.id)
        assert panel.text.text.strip() == summary.text.strip()
        place.actions["view.eye"].setChecked(True)
        lines = panel.eye.table.model().lines
        assert [line.ref.source for line in lines if line.change == "entered"][-1] == "note"
        assert len([line for line in lines if line.change == "entered"]) <= 3, "against the step before the summary"
        place.cursor.to_step(3)
        assert panel.title.text() == "Step 3"


async def test_what_was_opened_aside_is_left_when_the_log_is_another_one(tmp_path):
    maker = Maker(2)
    maker.guide("look at the loader")
    for _ in range(3):
        maker.add_step()
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1")
        guidance = next(iter(place.desks.local.trajectory("s1").guidance))
        place.cursor.open_aside("guidance", guidance)
        assert panel.text.text.strip() == "look at the loader"
        await replica.forget("s1")
        await replica.place("s1", 1, maker.bodies[:2])
        await eventually(lambda: panel.title.text() == "Task")
        await replica.place("s1", 3, maker.bodies[2:])
        await eventually(lambda: panel.title.text() == "Step 3")
        await place.scope.close()
        panel.deleteLater()


def test_what_an_action_is_for_decides_how_it_is_drawn():
    body = StepBody(number=1, actions=(
        Action(call_id="a", tool="shell", arguments={"command": ["bash", "-lc", "make"], "workdir": "/w"}),
        Action(call_id="b", tool="update_plan", arguments={"plan": [{"step": "Look", "status": "completed"},
                                                                    {"step": "Mend", "status": "in_progress"}]}),
        Action(call_id="c", tool="Edit", arguments={"file_path": "a.py", "old_string": "x\ny", "new_string": "x\nz"})),
        observations=(Observation(call_id="a", output=Output(text='{"ok":[1]}')),))
    text = text_of(parts_of(body, table_of("codex-cli")))
    for shown in ("make\nworkdir: /w", "  ✓ Look\n  ▸ Mend\n", "file_path: a.py\n", " x\n-y\n+z\n", '"ok": [\n'):
        assert shown in text, shown
    raw = text_of(parts_of(body, table_of("codex-cli"), raw=True))
    assert '"bash"' in raw and '{"ok":[1]}' in raw


async def test_raw_text_is_one_key_away(tmp_path):
    maker = Maker(2)
    maker.guide("look at **the** loader")
    maker.add_step()
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        place.cursor.move("s1")
        place.cursor.open_aside("guidance", next(iter(place.desks.local.trajectory("s1").guidance)))
        assert panel.text.text.strip() == "look at the loader"
        place.actions["view.raw"].setChecked(True)
        assert panel.text.text.strip() == "look at **the** loader"
        place.cursor.to_step(1)
        await eventually(lambda: "run_command" in panel.text.text)
        place.actions["view.raw"].setChecked(False)
        assert "run_command" in panel.text.text


async def test_the_eye_says_what_each_message_is_and_folds_those_of_one_step(tmp_path, qtbot):
    maker = Maker(1)
    for _ in range(4):
        maker.add_step("run_command")
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 4)
        place.actions["view.eye"].setChecked(True)
        model = panel.eye.table.model()
        await eventually(lambda: any(line.more and not line.is_border for line in model.lines))
        rows = [[model.index(row, column).data() for column in range(7)] for row in range(model.rowCount())]
        first = next(row for row, line in enumerate(model.lines) if line.more and not line.is_border)
        assert rows[first][2:4] == ["run_command", "1"] and "–" in rows[first][0]
        assert [row[2] for row in rows[-2:]] == ["run_command", "Result"], "what entered stands alone"
        assert rows[-1][3] == "3" and rows[-1][4], "its step and its first words"
        count = model.rowCount()
        model.toggle(first)
        assert model.rowCount() > count
        assert sum(panel.eye._model.shares.values()) == sum(ref.tokens for ref in model.refs)
        assert "of 100.0k tokens" in panel.eye.shares.toolTip(), "where the older half is summarised"


async def test_the_chosen_message_is_named_as_its_row_is_and_raw_by_its_call(tmp_path, qtbot):
    maker = Maker(1)
    for _ in range(3):
        maker.add_step("run_command")
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 3)
        place.actions["view.eye"].setChecked(True)
        await eventually(lambda: panel.eye.text.text.startswith("Result · run_command · step 2\n"))
        place.actions["view.raw"].setChecked(True)
        await eventually(lambda: panel.eye.text.text.startswith("tool  answers c2\n"))


def test_what_people_said_and_summaries_stand_alone_among_the_messages_of_a_step():
    model = ContextModel()
    refs = [MessageRef(hash=name * 64, role=role, tokens=1, source=source) for name, role, source in (
        ("a", "assistant", "step:5"), ("b", "tool", "step:5"), ("c", "user", "summary:m"), ("d", "user", "guidance"))]
    looks = zip(refs, ("shell", "result", "user", "user"), strict=True)
    model.show(refs, refs)
    model.show_looks({ref.hash: MessageLook(kind=kind, words="x", tool="Bash" * (kind == "shell"), step=5)
                      for ref, kind in looks})
    assert [model.index(row, 2).data() for row in range(model.rowCount())] == ["Bash", "Summary", "Person"]


def test_what_a_failed_step_got_back_counts_as_errors():
    model = ContextModel()
    refs = [MessageRef(hash=name * 64, role=role, tokens=7) for name, role in (
        ("a", "user"), ("b", "assistant"), ("c", "tool"), ("d", "assistant"), ("e", "tool"))]
    kinds = (("user", 0), ("shell", 4), ("result", 4), ("shell", 5), ("result", 5))
    looks = {ref.hash: MessageLook(kind=kind, words="x", step=step)
             for ref, (kind, step) in zip(refs, kinds, strict=True)}
    model.show(refs, refs)
    model.show_looks(looks, frozenset({4}))
    assert model.shares == {"system": 0, "task": 7, "steps": 21, "errors": 7, "entered": 0}
    inks = [model.index(row, 6).data(Qt.ItemDataRole.ForegroundRole) for row in range(model.rowCount())]
    assert inks == [theme.colour("person"), theme.colour("error"), theme.colour("muted")]
    model.show_looks(looks)
    assert model.shares["errors"] == 0


def test_a_note_of_the_program_is_no_persons_word():
    model = ContextModel()
    refs = [MessageRef(hash=name * 64, role="user", tokens=1, source=source)
            for name, source in (("a", "note"), ("b", "guidance:g1"))]
    model.show(refs, refs)
    model.show_looks({ref.hash: MessageLook(kind="user", words="x", step=step) for step, ref in enumerate(refs, 3)})
    assert [model.index(row, 2).data() for row in range(2)] == ["Note", "Person"]


def test_a_message_at_a_glance():
    call = ToolCall(id="1", name="shell", arguments='{"command": ["bash", "-lc", "make"]}')
    look = look_of(Message(role="assistant", content="So.", tool_calls=(call,)), table_of("codex-cli"))
    assert (look.kind, look.tool, look.words) == ("shell", "shell", "make")
    assert look_of(Message(role="user", content="<system-reminder>x</system-reminder> Do it")).words == "Do it"
    broken = ToolCall(id="1", name="f", arguments="{not")
    assert look_of(Message(role="assistant", tool_calls=(broken,))).words == "{not"
    assert look_of(Message(role="tool", content="ok", tool_call_id="1")).kind == "result"


def test_what_an_editor_refused_in_words_alone_is_marked_as_its_row_is():
    actions = (Action(call_id="1", tool="edit"), Action(call_id="2", tool="open"))
    body = StepBody(number=1, actions=actions, observations=(
        Observation(call_id="1", output=Output(text="Your proposed edit has introduced new syntax error(s).")),
        Observation(call_id="2", output=Output(text="1:a"))))
    shown = ["".join(p.text for p in read_step(encode_body(body), OWN, False, b"", refused).parts)
             for refused in (False, True)]
    assert ["✗ refused" in text for text in shown] == [False, True]
    assert shown[1].count("✓ finished") == 1, "the other one was carried out"
