"""Drives the Searches panel: what was searched and visited as of the step."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.cursor import Cursor
from app.desk.desks import Desks
from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.searches.model import SearchesModel, searches
from app.searches.view import SearchesView


class SearchesController(QObject):
    """Keeps the tree at the cursor's step."""

    def __init__(self, desk: Desks, cursor: Cursor, model: SearchesModel, view: SearchesView) -> None:
        super().__init__(view)
        self._desk, self._cursor, self._model, self._view = desk, cursor, model, view
        self._seen: object = None
        self._connect()
        self._turn()

    def _connect(self) -> None:
        self._cursor.moved.connect(self._moved)
        self._desk.trajectory_changed.connect(self._changed)
        self._desk.trajectory_replaced.connect(self._replaced)
        self._view.filtered.connect(self._turn)
        self._view.step_asked.connect(self._cursor.to_step)

    def _moved(self, session: str, step: object) -> None:
        self._turn()

    def _changed(self, session: str) -> None:
        if session == self._cursor.session:
            self._turn()

    def _replaced(self, session: str) -> None:
        self._seen = None
        self._changed(session)

    def _turn(self, *_: object) -> None:
        session, step = self._cursor.session, self._cursor.step
        made = self._desk.trajectory(session).web_searches if session else []
        now = (session, step, len(made), self._view.filter.text())
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
    SearchesController(place.desk, place.cursor, model, view)
    return view


PANEL = Panel("searches", QT_TRANSLATE_NOOP("Panel", "Searches"), build, {
    "live": ("right", 1), "small_live": ("right", 4), "review": ("right_below", 2),
    "small_review": ("right", 3), "compare": ("right_below", 2), "small_compare": ("right", 4)})
