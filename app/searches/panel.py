"""Drives the Searches panel: what was searched and visited as of the step."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.searches.model import SearchesModel, searches
from app.searches.view import SearchesView


class SearchesController(QObject):
    """Keeps the tree at the cursor's step."""

    def __init__(self, place: Workplace, model: SearchesModel, view: SearchesView) -> None:
        super().__init__(view)
        self._sight, self._model, self._view = place.sight, model, view
        self._seen: object = None
        for changed in (place.sight.stepped, place.sight.grew, view.filtered):
            changed.connect(self._turn)
        place.sight.replaced.connect(self._on_replaced)
        view.step_asked.connect(place.cursor.to_step)
        self._turn()

    def _on_replaced(self) -> None:
        self._seen = None

    def _turn(self, *_: object) -> None:
        trajectory, step = self._sight.trajectory, self._sight.step
        made = trajectory.web_searches if trajectory is not None else []
        now = (self._sight.session, step, len(made), self._view.filter.text())
        if now == self._seen:
            return
        self._seen = now
        told = searches(made, step, self._view.filter.text())
        self._model.show(told)
        self._view.show_count(len(told), step)


def build(place: Workplace, parent: QWidget) -> SearchesView:
    """The panel, wired."""
    model = SearchesModel(parent)
    view = SearchesView(model, parent)
    SearchesController(place, model, view)
    return view


PANEL = Panel("searches", QT_TRANSLATE_NOOP("Panel", "Searches"), build, {
    "live": ("right", 1), "small_live": ("right", 4), "review": ("right_below", 2),
    "small_review": ("right", 3), "compare": ("right_below", 2), "small_compare": ("right", 4)})
