"""Tab and Shift+Tab reach every control of each layout: none is a trap, none is passed over."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QPushButton, QWidget
from support.logs import Maker
from support.window import shown_window

from app.guidance.mode_switch import ModeSwitch
from app.kit import theme
from app.kit.boxes import column
from core.domain.events import SessionStateChanged


def session() -> Maker:
    maker = Maker(5)
    maker.say(SessionStateChanged(state="running"))
    maker.guide("look at the loader")
    return maker


def name(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.accessibleName()}"


def stops(window: QWidget) -> list[QWidget]:
    """What takes the keyboard by Tab; of exclusive buttons only the chosen one does."""
    return [w for w in window.findChildren(QWidget) if w.window() is window and w.isVisible() and w.isEnabled()
            and w.focusPolicy() & Qt.FocusPolicy.TabFocus and not w.visibleRegion().isEmpty() and w.focusProxy() is None
            and not (isinstance(w, QAbstractButton) and w.group() and w.group().exclusive() and not w.isChecked())]


@pytest.mark.parametrize("layout", ["live", "read", "compare", "export", "queue"])
@pytest.mark.parametrize("by", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_every_control_is_reached_and_left(qtbot, tmp_path, layout, by):
    with shown_window(tmp_path, session(), layout=layout) as (window, place):
        place.cursor.move("s1")
        window.activateWindow()
        window.findChild(QWidget).setFocus()
        qtbot.waitUntil(lambda: place.sight.trajectory is not None)
        place.cursor.focus_list()
        passed: list[QWidget] = []
        for _ in range(200):
            here = QApplication.focusWidget()
            assert here is not None
            passed.append(here)
            QTest.keyClick(here, by)
        missed = [name(w) for w in stops(window) if w not in passed]
        assert not missed, f"after {name(passed[-1])}"


@pytest.mark.parametrize("strength", ["normal", "high"])
def test_it_is_seen_where_the_keys_are(qtbot, qapp, strength):
    theme.apply(qapp, "light", strength=strength)
    host = QWidget()
    qtbot.addWidget(host)
    switch, ticked, link = ModeSwitch(host), QCheckBox("On", host), QPushButton("first at 8", host)
    ticked.setChecked(True)
    link.setObjectName("link")
    column(switch, ticked, link, on=host)
    host.show()
    host.activateWindow()
    for widget in (switch.buttons["note"], ticked, link):
        widget.setFocus()
        qtbot.waitUntil(widget.hasFocus)
        with_keys = widget.grab().toImage()
        widget.clearFocus()
        assert widget.grab().toImage() != with_keys, name(widget)
