"""A session in brief: what is not here yet is not called missing, and a run without errors says so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from support.logs import Maker
from support.panels import workplace
from support.window import speaking

from app.brief.model import brief
from app.brief.panel import build
from app.desk.remark_words import words_of_note, writer_of
from app.kit.safe_text import PlainLabel
from core.domain.events import NoteAdded
from core.domain.verdict import Author


def words(view) -> list[str]:
    return [label.text() for label in view.findChildren(PlainLabel) if label.isVisible()]


def shown(place, qtbot, session: str):
    view = build(place, None)
    qtbot.addWidget(view)
    view.resize(320, 600)
    view.show()
    place.queues.choose(session)
    qtbot.waitUntil(lambda: "Task" in words(view))
    return view


@pytest.mark.parametrize(("is_begun", "sentence"), [(False, "Its log is not here yet"),
                                                    (True, "The log keeps no task")])
def test_a_task_that_is_not_here_yet_is_not_called_missing(qtbot, tmp_path, is_begun, sentence):
    maker = Maker(1)
    with workplace(tmp_path, maker) as (place, _):
        log = place.desks.of("s1").trajectory("s1")
        if not is_begun:
            log.created = None
        else:
            task = replace(log.created.task, title="", description="")
            log.created = replace(log.created, task=task)
        assert sentence in words(shown(place, qtbot, "s1"))


@pytest.mark.parametrize("fails", [False, True])
def test_a_run_without_errors_says_so_in_place_of_an_empty_strip(qtbot, tmp_path, fails):
    maker = Maker(1)
    for _ in range(3):
        maker.add_step(fails=fails)
    with workplace(tmp_path, maker) as (place, _):
        view = shown(place, qtbot, "s1")
        assert ("No step failed" in words(view), view.strip.isVisible()) == (not fails, fails)


def test_who_remarked_is_named_and_an_agent_is_called_one(qtbot, tmp_path):
    maker = Maker(1)
    maker.add_step()
    maker.say(NoteAdded(step=1, text="The agent asked for leave: Tidy\ncommand: rm. Answer: reject."),
              Author(kind="agent", name="01a21531-f2d8-779b-b1bb-a10610c485d7"))
    maker.say(NoteAdded(step=1, text="too early"), Author(kind="person", name="kim"))
    with workplace(tmp_path, maker) as (place, _):
        trajectory = place.desks.of("s1").trajectory("s1")
        assert [(one.person, one.step) for one in brief(trajectory, 0, "", "person:ada").remarks] == [
            ("kim", 1), ("the agent", 1)]
        with speaking(QApplication.instance(), "zh_CN"):
            note = trajectory.steps.at(0).notes[0]
            assert words_of_note(note).startswith("智能体请求准许：Tidy") and writer_of(note) == "智能体"


def test_who_becomes_blind_sees_no_remark_of_others_from_then_on_be_the_panel_in_sight_or_not(qtbot, tmp_path):
    maker = Maker(1)
    maker.add_step()
    maker.say(NoteAdded(step=1, text="too early"), Author(kind="person", name="kim"))
    with workplace(tmp_path, maker) as (place, _):
        view = shown(place, qtbot, "s1")
        texts = [label.text() for label in view.findChildren(PlainLabel)]
        assert "too early" in texts
        for in_sight in (True, False):
            view.setVisible(in_sight)
            place.settings.set("review.blind", True)
            assert "too early" not in [label.text() for label in view.findChildren(PlainLabel)]
            view.show()
            place.settings.set("review.blind", False)
            qtbot.waitUntil(lambda: "too early" in words(view))
