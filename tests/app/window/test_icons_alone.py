"""Buttons that are an icon alone: each has a tip that says what it does, with the key of what it triggers."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialogButtonBox, QToolButton
from support.panels import told_session
from support.window import shown_window

from app.desk.actions import ACTIONS
from app.kit.action_button import ActionButton, IconButton, key_of, tip_of
from app.window.layouts import LAYOUTS


def action_of(button: QAbstractButton) -> QAction | None:
    if isinstance(button, IconButton | ActionButton):
        return button._action
    return button.defaultAction() if isinstance(button, QToolButton) else None


def is_icon_alone(button: QAbstractButton) -> bool:
    """Not Qt's own arrows inside tab bars and fields, which tell nothing but themselves."""
    own = button.objectName().startswith("qt_") or type(button.parentWidget()).__name__ in ("QTabBar", "QLineEdit")
    bare = getattr(button, "_bare", False) or not button.text()
    return not button.icon().isNull() and bare and not own and not isinstance(button.parentWidget(), QDialogButtonBox)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_icon_alone_has_a_tip_with_its_name_and_key(qtbot, tmp_path, layout):
    with shown_window(tmp_path, told_session(), layout=layout) as (window, place):
        place.cursor.move("s1", 4)
        for dock in window.docks.values():
            dock.show()
        QApplication.processEvents()
        alone = [b for b in window.findChildren(QAbstractButton) if is_icon_alone(b)]
        keyed = {tip_of(a).removesuffix(f" ({key_of(a)})"): key_of(a)
                 for a in map(place.actions.__getitem__, (entry.key for entry in ACTIONS)) if key_of(a)}
        wrong = []
        for button in alone:
            action, tip = action_of(button), button.toolTip().removeprefix("<qt>").removesuffix("</qt>")
            if not tip:
                wrong.append(("no tip", button.accessibleName(), type(button.parentWidget()).__name__))
            elif (key := key_of(action) if action is not None else keyed.get(tip, "")) not in tip:
                wrong.append(("no key", tip, key))
            elif not button.accessibleName() and action is None:
                wrong.append(("no name", tip, type(button.parentWidget()).__name__))
        assert len(alone) > 10 and wrong == []


def test_the_button_of_white_space_names_its_key(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (window, _):
        assert "(Ctrl+Shift+W)" in window.docks["files"].widget().spaces.toolTip()
