"""The presets by their keys: what each has in front, where it stands, and that nothing is lost on the way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually

CTRL = Qt.KeyboardModifier.ControlModifier


def in_front(made) -> set[str]:
    """The panels that can be seen: shown, and not behind another tab."""
    return {key for key, dock in made.window.docks.items() if not dock.widget().visibleRegion().isEmpty()}


def area(dock) -> int:
    return dock.width() * dock.height()


@pytest.mark.parametrize(("key", "seen", "larger"), [
    (Qt.Key.Key_1, {"sessions", "trajectory", "step", "guidance", "files", "terminals", "review"},
     ("trajectory", "sessions")),
    (Qt.Key.Key_2, {"sessions", "trajectory", "step", "review", "files"}, ("step", "files")),
    (Qt.Key.Key_3, {"sessions", "compare", "charts", "step", "files"}, ("compare", "sessions"))])
async def test_each_preset_shows_its_panels_wherever_they_were(qapp, tmp_path, key, seen, larger):
    async with window(tmp_path / "desk") as made:
        made.window.resize(1600, 1000)
        docks = made.window.docks
        docks["step"].setFloating(True)
        docks["compare"].close()
        docks["guidance"].raise_()
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        made.window.setFocus()
        QTest.keyClick(made.window, key, CTRL)
        await eventually(lambda: in_front(made) == seen)
        await eventually(lambda: area(docks[larger[0]]) > area(docks[larger[1]]))
        assert not any(dock.isFloating() for dock in docks.values())
        assert not any(dock.isHidden() and not made.window.tabifiedDockWidgets(dock) for dock in docks.values())
