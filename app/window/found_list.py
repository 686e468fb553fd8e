"""What was found in the usual folders of other programs: a row each, with how much it is and a button that opens it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from app.kit import icons, theme, tokens
from app.kit.boxes import column, row
from app.kit.i18n import plural
from app.kit.quantities import clock_or_day, moment, number
from app.kit.safe_text import PlainLabel, one_line
from app.window.usual_folders import FoundFolder

ROW = 36
"""The height of a row."""


class FoundList(QWidget):
    """Hidden while nothing is found; `asked` wants a folder opened."""

    asked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.buttons: list[QPushButton] = []
        head = PlainLabel(self.tr("Found on this computer"), self, font=theme.bold_font(self.font()))
        about = PlainLabel(self.tr("only counted, nothing is read or copied before you open it"), self, faint=True)
        self._grid = QGridLayout()
        self._grid.setSpacing(0)
        self._grid.setHorizontalSpacing(theme.px(tokens.GROUP))
        self._grid.setColumnStretch(3, 1)
        column(row(head, about, 1, spacing=theme.px(tokens.BETWEEN)), self._grid, on=self,
               spacing=theme.px(tokens.BETWEEN), margin=(0, 0, 0, 2 * tokens.HAIRLINE))
        self.hide()

    def show_found(self, found: Sequence[FoundFolder]) -> None:
        """What lies in the usual folders."""
        for place, one in enumerate(found):
            self._grid.setRowMinimumHeight(place, theme.px(ROW))
            for at, part in enumerate((*self._words(one), self._button(one))):
                where = Qt.AlignmentFlag.AlignRight if isinstance(part, QPushButton) else Qt.AlignmentFlag.AlignLeft
                self._grid.addWidget(part, place, at, where | Qt.AlignmentFlag.AlignVCenter)
        self.setVisible(bool(found))

    def _words(self, one: FoundFolder) -> tuple[QWidget, ...]:
        sign = PlainLabel("", self)
        sign.setPixmap(icons.icon("folder-open").pixmap(theme.px(14), theme.px(14)))
        folder = PlainLabel(one_line(one.shown, 40), self, font=theme.mono_font())
        named = QWidget(self)
        row(sign, folder, on=named, spacing=theme.px(tokens.BETWEEN), margin=0)
        runs = self.tr("%Ln {program} run(s)", None, plural(one.count)).format(program=one.program)
        many = runs if one.is_all else self.tr("more than {runs}").format(runs=runs)
        newest = self.tr("newest {time}").format(time=clock_or_day(moment(one.newest)))
        return named, PlainLabel(many, self), PlainLabel(newest, self, faint=True)

    def _button(self, one: FoundFolder) -> QPushButton:
        button = QPushButton(self.tr("Open {count}").format(count=number(one.count)) if one.is_all else
                             self.tr("Open all"), self)
        button.setToolTip(self.tr("Open the runs in {folder}").format(folder=one_line(one.shown)))
        button.setAccessibleName(button.toolTip())
        button.clicked.connect(partial(self.asked.emit, one.folder))
        self.buttons.append(button)
        return button

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line over and under each row."""
        painter = QPainter(self)
        for place in range(len(self.buttons)):
            box = self._grid.cellRect(place, 0)
            for y in (box.top(), box.bottom() + 1)[bool(place):]:
                painter.fillRect(0, y, self.width(), tokens.HAIRLINE, theme.colour("line"))
