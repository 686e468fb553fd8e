"""The axis of time, the filter by time, and clicks in the overview of the real panel."""

from __future__ import annotations

from datetime import timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import SERVER, Maker
from support.panels import workplace

from app.trajectory.facets import Facets, choices_of, times_of
from app.trajectory.overview import IDLE_S, Timeline
from app.trajectory.panel import build
from core.domain.events import Placed, ScoreGiven
from core.domain.trajectory import Trajectory, fold


def session_of(plan: str) -> Maker:
    """`s` works, `e` fails, `g` guides, `m` summarises, a figure is a score, `z` is a pause of five hours."""
    maker = Maker(8)
    for letter in plan:
        if letter == "g":
            maker.guide("look at the loss")
        elif letter == "m":
            maker.summarise()
        elif letter == "z":
            maker.at += timedelta(hours=5)
        elif letter.isdigit():
            maker.say(ScoreGiven(ordinal=1, step=maker.step, total=10.0 * int(letter)), SERVER)
        else:
            maker.add_step(fails=letter == "e")
    return maker


def folded(plan: str) -> Trajectory:
    return fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(session_of(plan).bodies, 1)])


def test_the_axis_of_time_squeezes_pauses():
    paused = Timeline(folded("sszss"))
    [(place, seconds)] = [pause for pause in paused.idle if pause[1] > 3600]
    assert seconds > 5 * 3600 - 60
    assert paused.length < 4 * (IDLE_S + 10)
    assert paused.step_at(place) in (1, 2)
    assert paused.step_at(0.0) == 0
    assert paused.step_at(paused.length) == 3
    assert Timeline(Trajectory("empty")).length == 0


def test_steps_are_filtered_by_the_hour_they_began_in():
    trajectory = folded("sszsss")
    early, late = choices_of(trajectory).times
    assert [len(list(Facets(time=t).steps_of(trajectory))) for t in (early, late)] == [2, 3]
    assert len(times_of(range(0, 86_400 * 30, 3600))) == 30


@pytest.mark.parametrize("by_time", [False, True])
def test_a_click_in_the_overview_goes_there(qtbot, tmp_path, by_time):
    with workplace(tmp_path, session_of("s" * 40 + "z" + "s" * 40)) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(900, 600)
        panel.show()
        place.cursor.move("s1", 1)
        if by_time:
            place.actions["go.by_time"].trigger()
        panel.minimap.grab()
        height = panel.minimap._total()
        QTest.mouseClick(panel.minimap, Qt.MouseButton.LeftButton, pos=panel.minimap.rect().topLeft() +
                         type(panel.minimap.pos())(5, int(height) - 3))
        assert place.cursor.step > 70
