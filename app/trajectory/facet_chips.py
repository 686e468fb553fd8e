"""Which steps are listed, as chips with counts: several may be on. What has no room stands in the menu behind them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.kit import quantities, theme, tokens
from app.kit.boxes import row
from app.kit.tool_button import tool_button
from app.trajectory.filters import ALL, ALONE, FILTERS

FIRST = 5
"""So many are chips; the others stand in the menu only."""


class FacetChips(QWidget):
    """`chosen` tells the filter: one of FILTERS, or several joined by "+"."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = {ALL: self.tr("All"), "undecided": self.tr("Undecided"), "errors": self.tr("Errors"),
                      "changes": self.tr("Changes"), "guidance": self.tr("People"), "verdicts": self.tr("Judged"),
                      "scores": self.tr("Scores")}
        self.filter = ALL
        self.chips = {key: self._chip(key) for key in FILTERS[:FIRST]}
        self.more = tool_button(self, "ellipsis", self.tr("More of what can be listed"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        self._actions = {key: self._action(key, menu) for key in FILTERS}
        self.more.setMenu(menu)
        self._line = row(*self.chips.values(), self.more, 1, on=self, spacing=theme.px(2), margin=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Which steps are listed"))
        self.show_filter(ALL)

    def _chip(self, key: str) -> QToolButton:
        chip = QToolButton(self, autoRaise=True)
        chip.setText(self.words[key])
        chip.setCheckable(True)
        chip.setFixedHeight(max(theme.px(tokens.HEIGHTS["tool"]), chip.sizeHint().height()))
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.clicked.connect(partial(self._on_clicked, key))
        return chip

    def _action(self, key: str, menu: QMenu) -> QAction:
        action = menu.addAction(self.words[key])
        action.setCheckable(True)
        action.triggered.connect(partial(self._on_clicked, key))
        return action

    def sizeHint(self) -> QSize:
        """Room for all chips, whichever can be seen."""
        chips = [chip.sizeHint().width() + theme.px(2) for chip in self.chips.values()]
        return QSize(sum(chips) + self.more.sizeHint().width(), self.more.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The menu has all of them."""
        return QSize(self.chips[ALL].sizeHint().width() + self.more.sizeHint().width(), self.more.sizeHint().height())

    def show_filter(self, filter: str) -> None:
        """Mark what is on; names that are not known are passed over."""
        on = [key for key in filter.split("+") if key in FILTERS] or [ALL]
        self.filter = "+".join(on)
        for key, chip in self.chips.items():
            chip.setChecked(key in on)
        for key, action in self._actions.items():
            action.setChecked(key in on)
        self._fit()

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """How many each has in this session."""
        for key, count in counts.items():
            words = f"{self.words[key]} {quantities.number(count)}"
            self._actions[key].setText(words)
            if key in self.chips and self.chips[key].text() != words:
                self.chips[key].setText(words)
                self.chips[key].setAccessibleName(words)
        self.updateGeometry()
        self._fit()
        self._line.activate()  # no frame with a word cut off

    def _on_clicked(self, key: str, *_: object) -> None:
        """One that goes alone takes the place of the others; the last that goes off leaves all."""
        on = [] if self.filter == ALL else self.filter.split("+")
        if key in ALONE:
            on = [key] if on != [key] else []
        else:
            on = [k for k in FILTERS if (k in on) != (k == key) and k not in ALONE]
        self.show_filter("+".join(on))
        self.chosen.emit(self.filter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What has no room goes behind the menu; what is on stays in sight."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - self.more.sizeHint().width()
        on = self.filter.split("+")
        for key in sorted(self.chips, key=lambda k: (k not in on, FILTERS.index(k))):
            room -= self.chips[key].sizeHint().width() + theme.px(2)
            self.chips[key].setVisible(room >= 0)
