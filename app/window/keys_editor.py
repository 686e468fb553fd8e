"""Other keys for the commands: one line each, a change holds at once."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QKeySequenceEdit, QWidget

from app.desk.actions import MENUS, Actions
from app.desk.settings import PORTABLE, RESERVED
from app.kit.boxes import column, named, words_box
from app.kit.empty import Empty, Faces
from app.kit.i18n import translate
from app.kit.safe_text import PlainLabel, plain_action
from app.kit.scrolled import Scrolled, within
from app.kit.tool_button import tool_button
from app.window.keys import Keys


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
        self.words = words_box(self, self.tr("Find a command"), self.tr("Find a command"), clears=True)
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
