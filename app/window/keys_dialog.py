"""The sheet of keyboard shortcuts, made from the table of actions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QWidget

from app.desk.actions import MENUS, Actions
from app.kit import theme
from app.kit.boxes import column, row
from app.kit.i18n import translate
from app.kit.safe_text import PlainLabel, plain_action
from app.kit.scrolled import Scrolled

WIDE = (("file", "session", "view", "help"), ("go",), ("guide", "review", "files"))
NARROW = (("file", "session", "view", "help", "guide"), ("go", "review", "files"))
"""The menus of each column."""

LEAST = 1_200
"""From this width of the window on there is room for three columns."""


class KeysDialog(QDialog):
    """Every command with its keys, by menu, in columns."""

    change_asked = Signal()

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        body = QWidget(self)
        halves = WIDE if parent.window().width() > LEAST else NARROW
        grids = [[self._menu(actions, menu, title) for menu, title in MENUS if menu in half] for half in halves]
        grids[-1].append(self._grid(self.tr("In the guidance box"), [(self.tr("Send"), "Ctrl+Enter")]))
        row(*(column(*half, 1) for half in grids), on=body, spacing=8 * theme.GRID, margin=(0, 0, 2 * theme.GRID, 0))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        change = buttons.addButton(self.tr("Change keys…"), QDialogButtonBox.ButtonRole.ActionRole)
        change.clicked.connect(self.change_asked)
        buttons.rejected.connect(self.reject)
        self.sheet = Scrolled(body, self)
        self.sheet.setFocus()  # the arrows scroll it, Enter and Esc close it
        column(self.sheet, buttons, on=self, margin=4 * theme.GRID)
        self.resize(self.sizeHint())  # more than Qt gives a dialog that scrolls, never more than the window allows

    def _menu(self, actions: Actions, menu: str, title: str) -> QGridLayout:
        lines = [(a.text(), a.shortcuts()) for a in actions.of_menu(menu) if a.shortcuts()]
        return self._grid(translate("Actions", title), [
            (text, "   ".join(k.toString(QKeySequence.SequenceFormat.NativeText) for k in keys))
            for text, keys in lines])

    def _grid(self, title: str, lines: list[tuple[str, str]]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6 * theme.GRID)
        grid.setVerticalSpacing(theme.GRID // 2)
        grid.setContentsMargins(0, 0, 0, 3 * theme.GRID)
        head = PlainLabel(plain_action(title), self, font=theme.bold_font(self.font()))
        grid.addWidget(head, 0, 0, 1, 2)
        for number, (text, keys) in enumerate(lines, 1):
            grid.addWidget(PlainLabel(plain_action(text), self), number, 0)
            grid.addWidget(PlainLabel(keys, self, faint=True), number, 1, Qt.AlignmentFlag.AlignRight)
        return grid
