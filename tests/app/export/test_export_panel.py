"""Export and train with the real export process; the preview's marks and the training's chart from made answers."""

import json
import os
import subprocess
import sys

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from support.eventually import eventually
from support.panels import told_session, workplace

from app.desk.session_key import key_of
from app.export import panel as export
from app.export.sample_view import SampleView
from app.export.training_controller import TrainingController
from app.export.training_view import TrainingView
from app.kit.plots import StepAxis
from core.aio import TaskScope
from core.workers.export import ExportRefusal, Preview, Report, SampleLine, SessionReport, TokenPart
from core.workers.messages import Problem
from core.workers.training import Metric


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def place(qapp, tmp_path):
    with workplace(tmp_path / "home", told_session(), told_session()) as (told, _):
        yield told


def test_a_check_and_a_write_of_the_ticked_sessions(place, host, qtbot, tmp_path) -> None:
    view = export.build(place, host)
    choose, model = view.choose, view.choose.list.model()
    assert not choose._check.isEnabled()
    model.setData(model.index(0), Qt.CheckState.Checked.value, int(Qt.ItemDataRole.CheckStateRole))
    assert len(model.chosen) == 1
    choose.format.setCurrentIndex(choose.format.findData("chat"))
    choose.checked.emit()
    assert choose._cancel.isVisibleTo(choose)
    assert choose.report.text.startswith("The exporter starts"), "what is waited for is said"
    elsewhere = key_of("s1", "lab")
    place.cursor.move(elsewhere)  # the sessions of another server are in another log: what is at work goes on
    qtbot.waitUntil(lambda: "1 kept, 1 masked, 0 masked in part, 8 undecided" in choose.report.text, timeout=60_000)
    assert "Nothing is written: nobody judged 8 step" in choose.report.text, "and no green word"
    assert not choose._cancel.isVisibleTo(choose)
    choose.written.emit(str(tmp_path / "set"))
    qtbot.waitUntil(lambda: "Nobody judged 8 step(s) in 1 session(s)" in choose.report.text, timeout=60_000)
    assert not (tmp_path / "set" / "manifest.json").exists()
    choose.unjudged.setCurrentIndex(choose.unjudged.findData("keep"))
    choose.thoughts.setCurrentIndex(choose.thoughts.findData("keep"))
    choose.taken_over.setCurrentIndex(choose.taken_over.findData("mask"))
    choose.preset.setCurrentIndex(choose.preset.findData("paper"))
    choose.preset.activated.emit(choose.preset.currentIndex())
    choose.written.emit(str(tmp_path / "set"))
    qtbot.waitUntil(lambda: (tmp_path / "set" / "manifest.json").exists() and "Written" in choose.report.text,
                    timeout=60_000)
    chosen = json.loads((tmp_path / "set" / "manifest.json").read_text())["options"]
    of_paper = {"unjudged": "keep", "taken_over": "mask", "thoughts": "keep", "preset": "paper", "overlap": "each",
                "balance": "repeat", "chains": False}
    assert {name: chosen[name] for name in of_paper} == of_paper
    assert view.training.data.path == str(tmp_path / "set")
    place.cursor.move(elsewhere, 2)
    assert model.rowCount() == 0 and not choose._check.isEnabled(), "this server has no session"
    choose.cancelled.emit()


def test_sessions_of_another_server_that_are_not_whole_here_are_told_of(place, host) -> None:
    place.desks.local.server = "lab"
    place.cursor.move(key_of("s1", "lab"))
    view, told = export.build(place, host), []
    place.notices.posted.connect(told.append)
    view.choose.list.model().choose("all")
    for kept in ("s1", "s2"):
        view.choose.checked.emit()
        session = key_of(kept, "lab")
        place.offline_copies.add(session, place.desks.of(session).row(session).seq)
    view.choose.checked.emit()
    view.choose.cancelled.emit()
    assert [n.sentence.split(" chosen")[0] for n in told] == ["2", "1"], "and nothing once all are here"


def test_a_failure_is_a_sentence_and_the_panel_goes_on(place, host, qtbot, tmp_path) -> None:
    view = export.build(place, host)
    view.choose.list.model().choose("all")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep me")
    view.choose.format.setCurrentIndex(view.choose.format.findData("chat"))
    view.choose.model.edit.setText(str(tmp_path / "no-model"))
    view.choose.checked.emit()
    qtbot.waitUntil(lambda: "✗" in view.choose.report.text, timeout=60_000)
    assert view.choose._check.isEnabled()
    view.choose.cancelled.emit()


def test_the_preview_marks_what_is_trained_and_signs_what_is_masked(qtbot) -> None:
    view = SampleView()
    qtbot.addWidget(view)
    view.show_sessions([("s1", "One")])
    tokens = tuple((t, int(m)) for t, m in (("user ", 0), ("do it", 0), ("good", 1), (" act", 1), ("x", 0), ("bad", 0)))
    view.show_preview("s1", Preview(
        samples=(SampleLine(kind="react", step=10, tokens=6, trained=2),), total=6, trained=2, tokens=tokens,
        parts=(TokenPart(2, 4, "assistant", 1, "kept"), TokenPart(5, 6, "assistant", 2, "masked"))))
    assert view._text.toPlainText() == "user do it▸good actx✗bad"
    assert "2 of 6" in view._share.text()
    assert view._buttons[3].isEnabled()
    cursor = view._text.textCursor()
    cursor.setPosition(view._text.toPlainText().index("good") + 2)
    assert cursor.charFormat().fontUnderline()
    cursor.setPosition(2)
    assert not cursor.charFormat().fontUnderline()


def test_the_preview_signs_what_nobody_judged(qtbot) -> None:
    view = SampleView()
    qtbot.addWidget(view)
    view.show_sessions([("s1", "One")])
    view.show_preview("s1", Preview(
        samples=(SampleLine(kind="react", step=2, tokens=4, trained=1),), total=4, trained=1,
        tokens=(("x", 0), ("act", 1), ("x", 0), ("open", 0)),
        parts=(TokenPart(1, 2, "assistant", 1, "kept"), TokenPart(3, 4, "assistant", 2, "undecided"))))
    assert view._text.toPlainText() == "x▸actx?open"
    assert "? 1 action(s) that nobody judged" in view._share.text()
    cursor = view._text.textCursor()
    cursor.setPosition(len("x▸actx?op"))
    view._text.setTextCursor(cursor)
    assert "nobody judged it" in view._where.text() and not cursor.charFormat().fontUnderline()


def test_hostile_tokens_stay_text(qtbot) -> None:
    view = SampleView()
    qtbot.addWidget(view)
    view.show_preview("s1", Preview(samples=(SampleLine(kind="react"),), total=2, trained=1,
                                    tokens=(("<img src=x>\u202e", 0), ("\x1b]0;t\x07", 1))))
    assert "<img src=x>‹RLO›" in view._text.toPlainText()
    assert "\x1b" not in view._text.toPlainText()


def test_a_training_is_started_drawn_and_told_how_it_ended(place, host, qtbot, monkeypatch) -> None:
    view = TrainingView(host)
    controller = TrainingController(place, view)
    told: list[dict[str, object]] = [{"step": i, "steps": 3, "loss": 3 - i, "tokens_per_s": 100} for i in (1, 2, 3)]
    told.append({"done": True, "folder": "out/model"})
    program = f"import json\nfor line in {told!r}: print(json.dumps(line))"
    monkeypatch.setattr("app.export.training_controller.command", lambda *_: [sys.executable, "-c", program])
    view.data.edit.setText("set")
    assert not view._start.isEnabled()
    view.out.edit.setText("out")
    view._start.click()
    assert view._stop.isVisibleTo(view)
    qtbot.waitUntil(lambda: "out/model" in view._state.text(), timeout=90_000)
    assert [m.loss for m in controller._points] == [2, 1, 0]
    assert view._start.isVisibleTo(view)
    assert view.chart.lanes == ["loss", "speed"]


@pytest.mark.parametrize(("over", "far", "wanted"), [
    ("steps", 6.0, 1), ("steps", 95.0, 20), ("steps", 100_000.0, 20_000), ("time", 50.0, 10), ("time", 7200.0, 1800),
    ("time", 400_000.0, 86_400)])
def test_ticks_are_round_steps_or_round_times(over: str, far: float, wanted: float, qtbot) -> None:
    axis = StepAxis()
    axis.over = over
    assert axis.tickSpacing(0.0, far, 600.0) == [(wanted, 0)]


def test_the_chart_draws_what_was_reported_and_the_pointer_reads_it_off(qtbot) -> None:
    view = TrainingView()
    qtbot.addWidget(view)
    view.resize(500, 600)
    view.show()
    view.show_points([Metric(step=n, steps=20, loss=3 / n, tokens_per_s=900.0, memory_mb=700 + n, trained_share=0.25)
                      for n in range(1, 11)])
    assert view.chart.lanes == ["loss", "speed", "memory"]
    assert "25.0 %" in view._state.text()
    height = 30

    def reads_off() -> bool:
        """Where step 7 is drawn now: lanes find their place some turns after they are shown."""
        nonlocal height
        height = 61 - height  # a pointer that stands still moves nothing
        middle = view.chart.mapFromScene(next(iter(view.chart._plots.values())).vb.mapViewToScene(QPointF(7, 0)))
        at = QPointF(middle.x(), height)
        # straight to the chart: the pointer of the test's screen may lie under what another test left there
        QApplication.sendEvent(view.chart.viewport(), QMouseEvent(
            QMouseEvent.Type.MouseMove, at, view.chart.viewport().mapToGlobal(at), Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier))
        return "0.4286" in view._read_off.text()

    qtbot.waitUntil(reads_off)


def test_odd_metrics_do_not_break_the_chart(qtbot) -> None:
    view = TrainingView()
    qtbot.addWidget(view)
    view.show_points([Metric(step=1, loss=float("nan")), Metric(step=2)])
    assert view.chart.lanes == []
    view.show_points([Metric(step=1, loss=float("nan")), Metric(step=2, loss=1.0, eval_loss=float("inf"))])
    view.chart.resize(300, 200)
    assert not view.chart.grab().isNull()


@pytest.mark.model
@pytest.mark.timeout(300)
def test_from_ticked_sessions_to_a_trained_model_by_the_panel_alone(place, host, qtbot, tmp_path) -> None:
    model = tmp_path / "tiny"
    model.mkdir()
    making = f"from pathlib import Path; from support.tiny_model import make_model; make_model(Path({str(model)!r}))"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", making], check=True, env=here)  # this process has no torch, as the desktop
    view = export.build(place, host)
    view.choose.list.model().choose("all")
    view.choose.model.edit.setText(str(model))
    view.choose.format.setCurrentIndex(view.choose.format.findData("trl"))
    view.choose.unjudged.setCurrentIndex(view.choose.unjudged.findData("keep"))
    view.choose.written.emit(str(tmp_path / "set"))
    qtbot.waitUntil(lambda: "Written" in view.choose.report.text, timeout=100_000)
    view.setCurrentIndex(1)
    qtbot.waitUntil(lambda: view.preview._page.trained > 0, timeout=60_000)
    marked = [m for m in view.preview._marks if view.preview._text.toPlainText()[m] == "▸"]
    assert "torch" not in sys.modules
    assert marked == view.preview._marks and marked
    view.choose.cancelled.emit()
    training = view.training
    assert training.data.path == str(tmp_path / "set")
    training.model.edit.setText(str(model))
    training.out.edit.setText(str(tmp_path / "run"))
    training.batch.setValue(4)
    training._start.click()
    qtbot.waitUntil(lambda: training._start.isVisibleTo(training), timeout=100_000)
    assert str(tmp_path / "run" / "model") in training._state.text()
    points = view.findChild(TrainingController)._points
    assert points and all(p.loss is not None and p.steps == points[-1].step for p in points)


def test_without_the_training_extra_it_says_what_to_install(place, host) -> None:
    view = export.build(place, host)
    controller = view.findChild(export.ExportController)
    controller._on_failed(Problem(code="train_extra_missing", sentence="torch is missing"))
    assert "tiphys train-setup" in view.choose.report.text
    controller._on_failed(Problem(code="no_format", sentence="There is no export format x."))
    assert "There is no export format x." in view.choose.report.text


async def test_what_looks_like_a_secret_is_shown_and_asked_about_before_it_is_written(qapp, tmp_path) -> None:
    maker = told_session()
    key = "sk-" + "proj-" + "Abc1" * 10
    maker.text = lambda count: f"export OPENAI_API_KEY={key}"  # type: ignore[method-assign]
    maker.add_step()
    maker.add_step()
    async with TaskScope("test") as scope:
        with workplace(tmp_path / "home", maker, scope=scope) as (place, _):
            host = QWidget()
            view = export.build(place, host)
            view.choose.list.model().choose("all")
            view.choose.format.setCurrentIndex(view.choose.format.findData("chat"))
            view.choose.unjudged.setCurrentIndex(view.choose.unjudged.findData("keep"))
            view.choose.written.emit(str(tmp_path / "set"))
            await eventually(lambda: host.findChild(QMessageBox) is not None, 60)
            assert "look like secrets" in view.choose.report.text
            assert key not in view.choose.report.text
            assert not (tmp_path / "set" / "manifest.json").exists()
            box = host.findChild(QMessageBox)
            next(b for b in box.buttons() if b.text() == "Write").click()
            await eventually(lambda: (tmp_path / "set" / "manifest.json").exists(), 60)
            await eventually(lambda: "Written" in view.choose.report.text)
            assert key not in "".join(p.read_text() for p in (tmp_path / "set").glob("*.json*"))
            view.choose.cancelled.emit()
            host.deleteLater()


def test_the_preview_steps_through_samples_says_where_text_came_from_and_what_is_left_out(qtbot) -> None:
    view = SampleView()
    qtbot.addWidget(view)
    view.show()
    view.show_sessions([("s1", "One")])
    samples = (SampleLine("react", 10, 6, 2), SampleLine("summary", 10, 9, 3), SampleLine("react", 20, 6, 2))
    tokens = tuple((t, int(m)) for t, m in (("user ", 0), ("good", 1), (" act", 1), ("mid", 0), ("bad", 0)))
    parts = (TokenPart(1, 3, "assistant", 7, "kept"), TokenPart(4, 5, "assistant", 8, "refused"))
    reasons = ("too_long", "It is too long."), ("a", "Rewritten."), ("a", "Rewritten."), ("b", "B."), ("c", "C.")
    refused = tuple(ExportRefusal(code=code, sentence=sentence) for code, sentence in reasons)
    view.show_preview("s1", Preview(samples=samples, sample=1, total=5, trained=2, tokens=tokens, parts=parts,
                                    refused=refused))
    asked = []
    view.asked.connect(lambda *told: asked.append(told))
    for button in view._steppers:
        assert button.isEnabled()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked == [("s1", 0, 0), ("s1", 2, 0)]
    assert "✗ Rewritten. (×2)" in view._left_out.text() and "1 reason" in view._left_out.text()
    told = []
    for word in ("user", "act", "mid", "bad"):
        cursor = view._text.textCursor()
        cursor.setPosition(view._text.toPlainText().index(word) + 1)
        view._text.setTextCursor(cursor)
        told.append(view._where.text())
    assert told == ["context", "step 7: trained", "context", "step 8: cannot be split exactly, so not trained"]
    view.show_preview("s1", Preview(samples=samples, sample=2, total=5, trained=2, tokens=tokens, parts=parts))
    assert [b.isEnabled() for b in view._steppers] == [True, False] and not view._left_out.isVisibleTo(view)


def test_steps_of_which_one_action_is_masked_are_counted_for_themselves(place, host) -> None:
    choose = export.build(place, host).choose
    session = SessionReport(session="s1", steps=9, kept=3, masked=2, partly=4, samples=1)
    choose.report.show_report(Report(sessions=[session]))
    assert "9 steps: 3 kept, 2 masked, 4 masked in part, 0 undecided → 1 sample" in choose.report.text
