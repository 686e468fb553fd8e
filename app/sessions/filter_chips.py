"""Saved filters as small buttons: a press lists what one says, another press lists all; Delete takes it away."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.desk.saved_filters import SavedFilter
from app.kit.boxes import named
from app.kit.flow import FlowLayout
from app.kit.safe_text import menu_text, set_tooltip


class FilterChips(QWidget):
    """`chosen` tells the query ("" for all), `removed` a filter's name."""

    chosen = Signal(str)
    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self)
        self._filters: list[SavedFilter] = []
        self.chips: list[QToolButton] = []

    def show_filters(self, filters: Sequence[SavedFilter]) -> None:
        """Offer these."""
        if list(filters) == self._filters:
            return
        self._filters = list(filters)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.deleteLater()
        self.chips = [self._chip(f) for f in filters]
        self.updateGeometry()

    def show_query(self, query: str) -> None:
        """Mark the one that is listed now."""
        for chip, saved in zip(self.chips, self._filters, strict=True):
            chip.setChecked(saved.query == query.strip())

    def _chip(self, saved: SavedFilter) -> QToolButton:
        chip = named(QToolButton(self), self.tr("Filter: {name}").format(name=saved.name))
        chip.setText(menu_text(saved.name))
        chip.setCheckable(True)
        chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_tooltip(chip, self.tr("{query}\nDelete or right click: take it away").format(query=saved.query))
        chip.clicked.connect(partial(self._on_clicked, saved, chip))
        chip.installEventFilter(self)
        chip.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        chip.customContextMenuRequested.connect(partial(self._on_menu, saved, chip))
        self._flow.addWidget(chip)
        chip.show()
        return chip

    def _on_clicked(self, saved: SavedFilter, chip: QToolButton) -> None:
        self.chosen.emit(saved.query if chip.isChecked() else "")

    def _on_menu(self, saved: SavedFilter, chip: QToolButton, point: object) -> None:
        menu = QMenu(chip)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Take this filter away")).triggered.connect(partial(self.removed.emit, saved.name))
        menu.popup(chip.mapToGlobal(point))  # type: ignore[call-overload]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Delete takes a filter away; the arrow keys go from one to the next."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched in self.chips:
            at = next(i for i, chip in enumerate(self.chips) if chip is watched)
            if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
                self.removed.emit(self._filters[at].name)
                return True
            if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
                step = 1 if event.key() == Qt.Key.Key_Right else -1
                self.chips[(at + step) % len(self.chips)].setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)
