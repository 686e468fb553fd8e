"""Icons: each is there and used, follows the colours, and says what it does; what is disabled looks it."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QAbstractButton
from support.panels import told_session
from support.window import shown_window

from app.kit import icons, theme
from app.kit.tokens import COLOURS

NAMES = sorted(p.stem for p in icons.FOLDER.glob("*.svg"))


def literals() -> set[str]:
    """Every text that stands in the desktop's source."""
    sources = (theme.RESOURCES.parent / "app").rglob("*.py")
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources)
    return {node.value for tree in trees for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def inks(icon: QIcon, mode: QIcon.Mode) -> set[str]:
    image = icon.pixmap(QSize(32, 32), 1.0, mode).toImage()
    colours = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
    return {colour.name() for colour in colours if colour.alpha() == 255}


def test_every_file_is_used_and_comes_with_its_licence():
    written = literals()
    assert [name for name in NAMES if name not in written] == []
    assert "ISC License" in (icons.FOLDER / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(("scheme", "place"), [("light", 0), ("dark", 1)])
def test_every_icon_draws_in_the_colour_of_its_meaning(qapp, scheme, place):
    theme.apply(qapp, scheme)
    assert [name for name in NAMES
            if COLOURS["person"][place] not in inks(icons.icon(name, "person"), QIcon.Mode.Normal)] == []


def test_an_unknown_icon_is_an_error():
    with pytest.raises(FileNotFoundError):
        icons.icon("no-such-icon")


def test_what_is_disabled_looks_it(qapp):
    theme.apply(qapp, "light")
    assert inks(icons.icon("square", "ink"), QIcon.Mode.Disabled) == {COLOURS["faint"][0]}
    theme.apply(qapp, "light", strength="high")
    struck = icons.icon("square", "ink").pixmap(QSize(32, 32), 1.0, QIcon.Mode.Disabled).toImage()
    assert struck.pixelColor(16, 15).alpha() > 0, "a diagonal goes through the empty middle"
    assert icons.icon("square", "ink").pixmap(32, 32).toImage().pixelColor(16, 15).alpha() == 0
    theme.apply(qapp, "light")


def test_every_button_with_an_icon_says_what_it_does_and_none_has_a_bare_sign(tmp_path):
    with shown_window(tmp_path, told_session()) as (made, place):
        place.cursor.move("s1", 3)
        buttons = [b for b in made.findChildren(QAbstractButton) if not b.objectName().startswith("qt_")
                   and b.metaObject().className() not in ("QDockWidgetTitleButton", "QLineEditIconButton")]
        assert [b.text() for b in buttons if b.text() and not any(c.isalnum() for c in b.text())] == []
        faces = [b for b in buttons if not b.icon().isNull()]
        bare = [b for b in faces if not b.toolTip() or not (b.accessibleName() or b.text())]
        assert [type(b.parent()).__name__ + b.toolTip() for b in bare] == []
        assert len(faces) > 15


IN_A_CYCLE = """
import gc
from PySide6.QtGui import QGuiApplication
from app.kit import icons
app = QGuiApplication([])
class Panel:
    pass
icon = icons.icon("plus")
panel = Panel()
panel.itself, panel.icon = panel, icon
del panel, icon
gc.collect()
"""


def test_an_icon_in_a_cycle_is_collected_without_harm():
    """Of what is collected at once PySide deletes an icon's engine first, if it takes it for the icon's child."""
    ended = subprocess.run([sys.executable, "-c", IN_A_CYCLE], capture_output=True, text=True)

    assert (ended.returncode, ended.stderr) == (0, "")
