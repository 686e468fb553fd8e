"""A session in brief: what is not here yet is not called missing, and a run without errors says so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.logs import Maker
from support.panels import workplace

from app.brief.panel import build
from app.kit.safe_text import PlainLabel


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
