"""Drives the Searches panel: what was searched and visited as of the step."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.gist_words import say_unchosen
from app.desk.workplace import Workplace
from app.web_searches.model import WebSearchesModel, web_searches
from app.web_searches.view import WebSearchesView


class WebSearchesController(QObject):
    """Keeps the tree at the cursor's step."""

    def __init__(self, place: Workplace, model: WebSearchesModel, view: WebSearchesView) -> None:
        super().__init__(view)
        self._sight, self._model, self._view = place.sight, model, view
        self._seen: object = None
        for changed in (place.sight.stepped, place.sight.grew, view.filtered):
            changed.connect(self._show_searches)
        place.sight.replaced.connect(self._on_replaced)
        view.step_asked.connect(place.cursor.to_step)
        view.gist.step_asked.connect(place.cursor.to_step)
        self._show_searches()

    def _on_replaced(self) -> None:
        self._seen = None

    def _show_searches(self, *_: object) -> None:
        trajectory, step = self._sight.trajectory, self._sight.step
        made = trajectory.web_searches if trajectory is not None else []
        is_here = trajectory is None or trajectory.seq > 0
        now = (self._sight.session, step, len(made), self._view.filter.text(), is_here)
        if now == self._seen:
            return
        self._seen = now
        shown = web_searches(made, step, self._view.filter.text())
        self._model.show(shown)
        self._view.show_count(len(shown), step)
        self._view.say_gist([m.step for m in made] if is_here else None, len(shown), step)
        if trajectory is None:
            say_unchosen(self._view.gist)


def build(place: Workplace, parent: QWidget) -> WebSearchesView:
    """The panel, wired."""
    model = WebSearchesModel(parent)
    view = WebSearchesView(model, parent)
    WebSearchesController(place, model, view)
    return view
