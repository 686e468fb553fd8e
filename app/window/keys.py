"""The keys of the commands as the reader set them: applied at once, never two commands on one key."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from app.desk.actions import ACTIONS, Actions
from app.desk.settings import BETWEEN, PORTABLE, Settings, keys_of
from app.kit.action_button import key_of, tip_of

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
