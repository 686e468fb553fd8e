"""Panels are built when somebody needs them: then they show what they would show had they always been there."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QCursor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from support.panels import told_session
from support.watchdog import HELD, Watchdog
from support.window import shown_window

from app.window.panels import PANELS

SIZE = QSize(700, 500)
ALL = {panel.key for panel in PANELS}


def built(window) -> set[str]:
    return {key for key, dock in window.docks.items() if dock.panel is not None}


def read(place) -> None:
    """Step 4 of a session, after another one; its server was away for as long in every window."""
    place.desks.local._since = datetime(2026, 3, 1, 9, tzinfo=UTC)
    place.cursor.move("s1", 2)
    place.cursor.to_step(4)


def faces(window) -> dict[str, tuple[list[str], QImage]]:
    """What each panel says in its line and its labels, and its picture."""
    shown = {}
    QCursor.setPos(4000, 4000)  # over none
    for key, dock in window.docks.items():
        panel = dock.widget()
        gist = [dock.gist.words, dock.gist.link] if dock.gist is not None else []
        dock.setFloating(True)
        dock.show()
        dock.resize(SIZE)
        QApplication.processEvents()
        labels = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
        shown[key] = [*gist, *labels], panel.grab().toImage()
        dock.hide()
    return shown


def test_a_panel_that_comes_late_shows_what_one_that_was_there_shows(qtbot, tmp_path: Path):
    with shown_window(tmp_path / "early", told_session(), layout="read") as (window, place):
        read(place)
        qtbot.wait(600)  # lists that wait for a quiet moment
        seen: list[object] = []
        qtbot.waitUntil(lambda: (seen.append(faces(window)), len(seen) > 1 and seen[-1] == seen[-2])[1])
        early = seen[-1]
    with shown_window(tmp_path / "late", told_session(), filled=False) as (window, place):
        read(place)
        assert built(window) < ALL
        window.filling.fill()
        window.lay_out("read")
        qtbot.waitUntil(lambda: faces(window) == early)


def test_the_lists_are_there_with_the_session_then_what_is_seen_and_the_rest_comes_by_itself(qtbot, tmp_path: Path):
    with shown_window(tmp_path, told_session(), filled=False) as (window, place):
        assert built(window) == set()
        read(place)
        assert built(window) == {"sessions", "trajectory", "review"}
        seen = {key for key, dock in window.docks.items() if dock.is_seen}
        came: list[str] = []
        for key, dock in window.docks.items():
            dock.filled.connect(partial(came.append, key))
        with Watchdog() as dog:
            window.filling.begin()
            qtbot.waitUntil(lambda: window.filling.is_done)
        assert built(window) == ALL and dog.longest < HELD
        late = seen - {"sessions", "trajectory", "review"}
        assert len(late) > 2 and set(came[: len(late)]) == late


def test_a_tab_that_is_opened_before_is_whole_at_once(tmp_path: Path):
    with shown_window(tmp_path, told_session(), filled=False) as (window, place):
        read(place)
        dock = window.docks["searches"]
        assert dock.panel is None
        window.filling._is_begun = True
        window.show_panel("searches")
        assert dock.panel is not None and dock.panel.isVisible()


def test_a_key_and_a_click_find_every_panel(qtbot, tmp_path: Path):
    for name, act in (("key", lambda window: QTest.keyClick(window, Qt.Key.Key_F1)),
                      ("click", lambda window: QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(5, 5)))):
        with shown_window(tmp_path / name, told_session(), filled=False) as (window, _):
            act(window.windowHandle())
            assert built(window) == ALL, name
