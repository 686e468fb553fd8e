"""Keys can be changed: at once, stored sparsely, never two commands on one key."""

from __future__ import annotations

import tomllib

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.desk.actions import ACTIONS, Actions
from app.desk.settings import KEYS, Settings
from app.kit.empty import Empty
from app.window.keys import Keys
from app.window.keys_editor import KeysEditor


def shortcuts(actions: Actions, key: str) -> list[str]:
    return [s.toString(QKeySequence.SequenceFormat.PortableText) for s in actions[key].shortcuts()]


def test_every_default_is_accepted_and_given_once():
    assert all(setting.accepts(setting.default) for setting in KEYS)
    given = [s for entry in ACTIONS for s in entry.shortcuts]
    assert len(given) == len(set(given))


def test_a_key_is_changed_in_the_dialog_and_stored(qtbot, tmp_path):
    host = QWidget()
    qtbot.addWidget(host)
    actions, settings = Actions(host), Settings(tmp_path / "settings.toml")
    keys = Keys(actions, settings, host)
    editor = KeysEditor(actions, keys, host)
    editor.show()
    edit = editor.edits["go.next_error"]
    QTest.keyClick(edit, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    edit.editingFinished.emit()
    assert shortcuts(actions, "go.next_error") == ["Ctrl+Y"]
    assert tomllib.loads(settings.path.read_text()) == {"keys": {"go": {"next_error": "Ctrl+Y"}}}
    other = Actions(host)
    Keys(other, Settings(settings.path), host)
    assert shortcuts(other, "go.next_error") == ["Ctrl+Y"]
    QTest.keyClick(editor.edits["review.keep"], Qt.Key.Key_M)
    editor.edits["review.keep"].editingFinished.emit()
    assert "Mask" in editor.problem.text()
    assert shortcuts(actions, "review.keep") == ["K"]
    assert editor.edits["review.keep"].keySequence().toString() == "K"
    editor._rows["go.next_error"][2].click()
    assert shortcuts(actions, "go.next_error") == ["E"]
    assert tomllib.loads(settings.path.read_text()) == {}
    editor.words.setText("mask")
    assert [k for k, row in editor._rows.items() if row[1].isVisible()] == ["review.mask"]


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Down])
def test_a_key_that_leads_out_of_a_dialog_is_never_taken_for_a_command(qtbot, tmp_path, key):
    host = QWidget()
    qtbot.addWidget(host)
    actions, settings = Actions(host), Settings(tmp_path / "settings.toml")
    editor = KeysEditor(actions, Keys(actions, settings, host), host)
    editor.open()
    edit = editor.edits["review.mask"]
    edit.setFocus()
    QTest.keyClick(edit, key)
    edit.editingFinished.emit()
    assert shortcuts(actions, "review.mask") == ["M"] and not settings.path.exists()
    assert editor.isVisible() or key != Qt.Key.Key_Down
    assert not editor.isVisible() or key != Qt.Key.Key_Escape


def test_letters_that_no_command_has_say_so_with_a_way_out(qtbot, tmp_path):
    host = QWidget()
    qtbot.addWidget(host)
    actions = Actions(host)
    editor = KeysEditor(actions, Keys(actions, Settings(tmp_path / "settings.toml"), host), host)
    editor.open()
    QTest.keyClicks(editor.words, "zzz")
    nothing = editor.findChild(Empty)
    assert nothing.isVisible() and nothing.label.text() == "No command has these letters."
    nothing.button.click()
    assert not nothing.isVisible() and all(row[1].isVisible() for row in editor._rows.values())


def test_the_second_key_of_a_command_stays(tmp_path, qapp):
    host = Actions
    settings = Settings(tmp_path / "settings.toml")
    from PySide6.QtCore import QObject

    parent = QObject()
    actions = host(parent)
    keys = Keys(actions, settings, parent)
    assert keys.set_first("go.next_step", "L") == ""
    assert shortcuts(actions, "go.next_step") == ["L", "Alt+Down"]
    assert keys.set_first("go.next_step", "") == ""
    assert shortcuts(actions, "go.next_step") == ["Alt+Down"]


def test_a_file_that_gives_one_key_twice_or_nonsense(tmp_path, qapp):
    from PySide6.QtCore import QObject

    path = tmp_path / "settings.toml"
    path.write_text('[keys.review]\nkeep = "M"\nunsure = "NoKey+Q"\nundo = "Esc"\n')
    settings, parent = Settings(path), QObject()
    assert len(settings.problems) == 2
    actions = Actions(parent)
    Keys(actions, settings, parent)
    assert shortcuts(actions, "review.keep") == ["M"]
    assert shortcuts(actions, "review.mask") == []
    assert shortcuts(actions, "review.unsure") == ["U"]
