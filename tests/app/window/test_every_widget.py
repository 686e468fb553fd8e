"""Walks all widgets of the real window and its dialogs: named for screen readers, reachable by Tab, no text cut off."""

from __future__ import annotations

from contextlib import suppress

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QDialog,
    QDockWidget,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabBar,
    QToolButton,
    QWidget,
)
from support.logs import PERSON
from support.panels import told_session
from support.window import shown_window, speaking

from app.kit.action_button import key_of
from app.kit.safe_text import PlainLabel
from app.places.go_to_dialog import GoToDialog
from app.review.rules_dialog import RulesDialog
from app.servers.dialog import ServersDialog
from app.sessions.new_dialog import NewSessionDialog, Offer, TaskChoice
from app.sessions.thresholds_dialog import ThresholdsDialog
from app.window.keys import Keys
from app.window.keys_dialog import KeysDialog
from app.window.keys_editor import KeysEditor
from app.window.layouts import LAYOUTS
from app.window.palette_controller import PaletteController
from app.window.palette_dialog import Palette
from app.window.panel_dock import PanelRoom
from app.window.settings_dialog import SettingsDialog
from core.domain.attention import Thresholds
from core.domain.events import NoteAdded, SessionStateChanged
from core.workers.rules import RuleLine

SCREENS = {1.0: (1366, 768), 1.5: (1920, 1080), 2.0: (1920, 1080)}
"""The smallest screen that is taken care of at a scale, in real pixels."""

PADDING = 20
"""What the style sheet leaves beside a tab's text."""

TITLE = 36
"""The bar that the desktop draws over a window, in logical pixels."""


def maker():
    made = told_session()
    made.say(SessionStateChanged(state="running"))
    made.guide("Look at the loader again before you train: the split is wrong")
    made.say(NoteAdded(step=3, text="here it turns"), PERSON)
    return made


def offered(window) -> NewSessionDialog:
    dialog = NewSessionDialog([("", "this computer"), ("lab", "the lab")], "lab", window)
    dialog.show_offer("lab", Offer((TaskChoice("t", "Title"),), "the lab has 2 tasks that it cannot read"))
    return dialog


def dialogs(window, place) -> list[QDialog]:
    """Every dialog that can be made without a server."""
    dialogs = [SettingsDialog(place.settings, window), KeysDialog(place.actions, window), GoToDialog("x", window),
            KeysEditor(place.actions, Keys(place.actions, place.settings, window), window),
            offered(window),
            Palette(window.findChild(PaletteController).commands(), window), RulesDialog(window),
            ServersDialog(window), ThresholdsDialog("A title", Thresholds(), Thresholds(), window)]
    rule = RuleLine(name="bad_edit", version="1", about="About it",
                    settings={"within": 3, "share": 0.5, "name": "x"})
    dialogs[-3].show_rules([rule])
    for dialog in dialogs:
        dialog.show()
    QApplication.processEvents()
    return dialogs


def name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else widget.accessibleName()


def path_of(widget: QWidget) -> str:
    names = []
    while widget is not None:
        names.append(type(widget).__name__ + (f"({widget.objectName()})" if widget.objectName() else ""))
        widget = widget.parentWidget()
    return " < ".join(names[:4])


def internal(widget: QWidget) -> bool:
    """A part of a widget of Qt's own that takes no keys of itself."""
    above = widget.parentWidget()
    popup = above is not None and above.metaObject().className() == "QComboBoxPrivateContainer"
    return popup or widget.objectName().startswith("qt_") or type(widget) is QWidget or isinstance(widget, QTabBar)


def shown_all(window) -> None:
    for dock in window.docks.values():
        dock.show()
    QApplication.processEvents()


def test_what_takes_the_keyboard_has_a_name(qtbot, tmp_path):
    with shown_window(tmp_path, maker()) as (window, place):
        place.cursor.move("s1", 4)
        shown_all(window)
        tops = [window, *dialogs(window, place)]
        silent = sorted({path_of(w) for top in tops for w in top.findChildren(QWidget)
                         if w.focusPolicy() & Qt.FocusPolicy.TabFocus and not internal(w)
                         and w.focusProxy() is None and not name_of(w).strip()})
        assert silent == []


def test_every_button_can_be_pressed_without_the_mouse(qtbot, tmp_path):
    """By Tab, or because it is an action of the window (which the palette has)."""
    with shown_window(tmp_path, maker()) as (window, place):
        place.cursor.move("s1", 4)
        shown_all(window)
        stuck = [path_of(b) for b in window.findChildren(QAbstractButton)
                 if not b.focusPolicy() & Qt.FocusPolicy.TabFocus and not hasattr(b, "_action")
                 and not (isinstance(b, QToolButton) and b.defaultAction() is not None)
                 and not isinstance(b.parentWidget(), QDockWidget | QTabBar) and not b.objectName().startswith("qt_")
                 and b.parentWidget().metaObject().className() not in ("QLineEdit", "QTableCornerButton", "QTableView")]
        assert stuck == []
        bare = [path_of(b) for b in window.findChildren(QAbstractButton)
                if not b.text() and not b.toolTip() and not isinstance(b.parentWidget(), QDockWidget | QTabBar)
                and not b.objectName().startswith("qt_")
                and b.parentWidget().metaObject().className() not in ("QLineEdit", "QTableView")]
        assert bare == []


def test_a_button_that_has_a_key_says_it_also_after_its_command_changed(qtbot, tmp_path):
    with shown_window(tmp_path, maker()) as (window, place):
        keys = Keys(place.actions, place.settings, window)
        place.cursor.move("s1", 4)
        for layout in LAYOUTS:
            window.lay_out(layout)
        shown_all(window)
        assert keys.set_first("guide.edit", "Ctrl+Alt+9") == ""
        acts = [(button, action) for button in window.findChildren(QAbstractButton)
                if (action := getattr(button, "_action", None) or getattr(button, "defaultAction", lambda: None)())]
        silent = [path_of(button) for button, action in acts
                  if action.shortcuts() and f"({key_of(action)})" not in button.toolTip()]
        assert len(acts) > 30 and silent == []
        assert any("(Ctrl+Alt+9)" in button.toolTip() for button, _ in acts)


def cut(widget: QWidget) -> str:
    """Why a text cannot be read whole, "" if it can."""
    if isinstance(widget, QLabel):
        if not widget.text() or (isinstance(widget, PlainLabel) and widget._elide):
            return ""  # shortens with … and shows the whole as a tip
        if widget.wordWrap():
            return "too low" if widget.heightForWidth(widget.width()) > widget.height() + 1 else ""
        return "too narrow" if widget.sizeHint().width() > widget.width() + 1 else ""
    if isinstance(widget, QPushButton | QCheckBox | QToolButton) and widget.text():
        hint = widget.sizeHint()
        return "too narrow" if hint.width() > widget.width() + 1 or hint.height() > widget.height() + 1 else ""
    if isinstance(widget, QTabBar):
        narrow = [widget.tabText(i) for i in range(widget.count())
                  if widget.fontMetrics().horizontalAdvance(widget.tabText(i)) + PADDING > widget.tabRect(i).width()]
        return f"tabs {narrow}" if narrow else ""
    return ""


def cut_in(dock, window):
    """What is cut off in a dock and among the tabs, each with why and where."""
    return {f"{dock.objectName()}: {why}: {getattr(w, 'text', str)()!r} {path_of(w)}"
            for w in [*dock.findChildren(QWidget), *window.findChildren(QTabBar)]
            if w.isVisible() and not w.visibleRegion().isEmpty() and (why := cut(w))}


@pytest.mark.parametrize("scale", SCREENS)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_text_is_cut_off(qtbot, qapp, tmp_path, language, scale):
    width, height = (round(side / scale) for side in SCREENS[scale])
    height -= TITLE
    with speaking(qapp, language), shown_window(tmp_path, maker()) as (window, place):
        place.cursor.move("s1", 4)
        window.resize(width, height)
        found = set()
        for layout in LAYOUTS:
            window.lay_out(layout)
            QApplication.processEvents()
            least = window.minimumSizeHint()
            assert least.width() <= 960 and least.height() <= 540 - TITLE
            for dock in [dock for dock in window.docks.values() if not dock.isHidden()]:
                dock.raise_()
                QApplication.processEvents()
                if dock.findChild(PanelRoom).horizontalScrollBar().maximum():
                    found.add(f"{dock.objectName()} is cut off at the side")
                with suppress(qtbot.TimeoutError):  # what a panel reads comes a moment later, and is laid out then
                    qtbot.waitUntil(lambda dock=dock: not cut_in(dock, window), timeout=3000)
                found |= cut_in(dock, window)
        for dialog in dialogs(window, place):
            if any(area.horizontalScrollBar().maximum() for area in dialog.findChildren(QScrollArea)
                   if area.isVisible()):
                found.add(f"{type(dialog).__name__} is cut off at the side")
            room = dialog.size()
            if room.width() > width or room.height() > height:
                found.add(f"{type(dialog).__name__} {room.width()}×{room.height()} is larger than the screen")
            found |= {f"{type(dialog).__name__}: {why}: {getattr(w, 'text', str)()!r}"
                      for w in dialog.findChildren(QWidget) if w.isVisible() and (why := cut(w))}
        assert sorted(found) == []
        assert window.width() <= width and window.height() <= height
