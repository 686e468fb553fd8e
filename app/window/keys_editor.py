"""The keys of the commands as the reader set them, never two commands on one key; and the dialog that changes them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QKeySequenceEdit, QLineEdit, QWidget

from app.desk.actions import ACTIONS, MENUS, Actions
from app.desk.settings import BETWEEN, PORTABLE, RESERVED, Settings, keys_of
from app.kit.action_button import key_of, tip_of
from app.kit.boxes import column, named
from app.kit.empty import Empty, Faces
from app.kit.i18n import translate
from app.kit.safe_text import PlainLabel, plain_action
from app.kit.scrolled import Scrolled, within
from app.kit.tool_button import tool_button

PREFIX = "keys."


class Keys(QObject):
    """Keeps the actions' shortcuts as the settings say; a key that two commands claim stays with the first."""

    def __init__(self, actions: Actions, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._actions, self._settings = actions, settings
        settings.changed.connect(self._on_changed)
        self._apply()

    def of(self, action: str) -> tuple[str, ...]:
        """The shortcuts of a command, as portable texts."""
        return keys_of(self._settings.text(PREFIX + action))

    def owner(self, shortcut: str, but: str = "") -> str:
        """The command that has a shortcut, other than `but`; "" when none has."""
        return next((e.key for e in ACTIONS if e.key != but and shortcut in self.of(e.key)), "")

    def set_first(self, action: str, shortcut: str) -> str:
        """Give a command another first shortcut ("" takes it away); the command that has it already is returned."""
        taken = self.owner(shortcut, action) if shortcut else ""
        if not taken:
            rest = [key for key in self.of(action)[1:] if key != shortcut]
            self._settings.set(PREFIX + action, BETWEEN.join([shortcut, *rest] if shortcut else rest))
        return taken

    def reset(self, action: str) -> str:
        """Give a command the keys that it had at first; the command that has one of them now is returned."""
        usual = next(e.shortcuts for e in ACTIONS if e.key == action)
        taken = next((owner for key in usual if (owner := self.owner(key, action))), "")
        if not taken:
            self._settings.set(PREFIX + action, BETWEEN.join(usual))
        return taken

    def is_changed(self, action: str) -> bool:
        """Whether a command has other keys than at first."""
        return self.of(action) != next(e.shortcuts for e in ACTIONS if e.key == action)

    def _on_changed(self, key: str) -> None:
        if key.startswith(PREFIX):
            self._apply()

    def _apply(self) -> None:
        given: set[str] = set()
        for entry in ACTIONS:
            keys = [key for key in self.of(entry.key) if key not in given]
            given.update(keys)
            wanted = [QKeySequence(key, PORTABLE) for key in keys]
            if self._actions[entry.key].shortcuts() != wanted:
                self._rename(self._actions[entry.key], wanted)

    def _rename(self, action: QAction, keys: list[QKeySequence]) -> None:
        """Give an action its keys; its tip tells the new one in the old one's place."""
        tip, before, old = action.toolTip(), tip_of(action), key_of(action)
        action.setShortcuts(keys)
        new = key_of(action)
        if old:
            action.setToolTip(tip.replace(f" ({old})", f" ({new})" if new else "", 1))
        elif tip == before:
            action.setToolTip(tip_of(action))


class KeyEdit(QKeySequenceEdit):
    """Takes one key for a command, but none that leads out of the dialog or through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, clearButtonEnabled=True, maximumSequenceLength=1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc and Enter are the dialog's, the arrows nobody's."""
        if QKeySequence(event.keyCombination()).toString(PORTABLE) in RESERVED:
            event.ignore()
        else:
            super().keyPressEvent(event)


class KeysEditor(QDialog):
    """Every command with the key that it has; its other keys stay."""

    def __init__(self, actions: Actions, keys: Keys, parent: QWidget) -> None:
        super().__init__(parent)
        self._actions, self._keys = actions, keys
        self.setWindowTitle(self.tr("Change keys"))
        self.words = QLineEdit(self, placeholderText=self.tr("Find a command"), clearButtonEnabled=True)
        self.words.setAccessibleName(self.tr("Find a command"))
        self.problem = PlainLabel("", self, wrap=True, meaning="error")
        self.edits: dict[str, KeyEdit] = {}
        self._rows: dict[str, tuple[QWidget, ...]] = {}
        body = QWidget(self)
        self._grid = QGridLayout(body)
        self._grid.setColumnStretch(0, 1)
        for entry in actions.table:
            self._add(entry.key, entry.menu)
        self._grid.setRowStretch(self._grid.rowCount(), 1)
        area = Scrolled(body, self)
        show_all = QAction(self.tr("Show all"), self)
        show_all.triggered.connect(self.words.clear)
        hits = QWidget(self)
        self._hits = Faces(area, Empty(self.tr("No command has these letters."), hits, action=show_all), hits)
        self._hits.show_content(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column(self.words, (hits, 1), self.problem, buttons, on=self)
        self.resize(within(parent, 560, 640))
        self.words.textChanged.connect(self._filter_rows)

    def _add(self, key: str, menu: str) -> None:
        row = self._grid.rowCount()
        title = next((t for k, t in MENUS if k == menu), "")
        words = f"{plain_action(translate('Actions', title))} › {plain_action(self._text(key))}"
        edit = self.edits[key] = named(KeyEdit(self), words)
        label = PlainLabel(words, self, buddy=edit)
        back = tool_button(self, "undo-2", self.tr("As at first"))
        back.clicked.connect(partial(self._reset_key, key))
        self._rows[key] = (label, edit, back)
        for place, widget in enumerate(self._rows[key]):
            self._grid.addWidget(widget, row, place)
        self._show(key)
        edit.editingFinished.connect(partial(self._change_key, key))

    def _change_key(self, key: str) -> None:
        """A key that another command has is refused, with its name."""
        wanted = self.edits[key].keySequence().toString(PORTABLE)
        if wanted != (self._keys.of(key) or ("",))[0]:
            self._show_taken(key, self._keys.set_first(key, wanted))

    def _reset_key(self, key: str) -> None:
        self._show_taken(key, self._keys.reset(key))

    def _show_taken(self, key: str, taken: str) -> None:
        self.problem.setText("✗ " + self.tr("This key belongs to “{command}”: take it away there first.").format(
            command=plain_action(self._text(taken))) if taken else "")
        self._show(key)

    def _show(self, key: str) -> None:
        shortcuts = self._keys.of(key)
        self.edits[key].setKeySequence(QKeySequence(shortcuts[0], PORTABLE) if shortcuts else QKeySequence())
        self._rows[key][2].setEnabled(self._keys.is_changed(key))

    def _text(self, key: str) -> str:
        return self._actions[key].text()

    def _filter_rows(self, words: str) -> None:
        is_any = False
        for label, *rest in self._rows.values():
            on = isinstance(label, PlainLabel) and words.casefold().strip() in label.text().casefold()
            is_any |= on
            for widget in (label, *rest):
                widget.setVisible(on)
        self._hits.show_content(is_any)
