"""Wires filter box, saved filters and order of the Sessions panel to the settings."""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import QObject

from app.desk.saved_filters import SavedFilter, read_filters, usual_filters, with_filter, write_filters
from app.desk.settings import SETTINGS
from app.desk.workplace import Workplace
from app.kit.ask import ask_line
from app.kit.i18n import translate
from app.sessions.model import Order, SessionsModel
from app.sessions.view import SessionsView


class FiltersController(QObject):
    """What is saved stands in the settings file, where it can be read and changed too."""

    def __init__(self, place: Workplace, model: SessionsModel, view: SessionsView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        actions = place.actions
        actions["go.sessions"].triggered.connect(view.start_filter)
        actions["session.save_filter"].triggered.connect(self._ask_name)
        view.query_changed.connect(self._on_query)
        view.chips.removed.connect(self._remove_filter)
        view.order_chosen.connect(self._choose_order)
        place.settings.changed.connect(self._on_setting)
        self._show_filters()
        self._show_order()
        self._on_query("")

    @property
    def _filters(self) -> list[SavedFilter]:
        return read_filters(self._place.settings.text("sessions.filters")) or usual_filters()

    def _on_query(self, text: str) -> None:
        self._model.set_query(text)
        self._view.chips.show_query(text)
        self._view.show_count(self._model.rowCount(), self._model.known)
        self._view.show_current(self._place.sight.session)
        known = text.strip() in {f.query for f in self._filters}
        self._place.actions["session.save_filter"].setEnabled(bool(text.strip()) and not known)

    def _ask_name(self) -> None:
        ask_line(self._view.window(), self.tr("Save this filter"), self.tr("Its name:"), self._save_filter)

    def _save_filter(self, name: str) -> None:
        query = self._view.words.text().strip()
        if name.strip() and query:
            self._store(with_filter(self._filters, SavedFilter(name.strip(), query)))

    def _remove_filter(self, name: str) -> None:
        self._store([f for f in self._filters if f.name != name])

    def _store(self, filters: list[SavedFilter]) -> None:
        self._place.settings.set("sessions.filters", write_filters(filters))

    def _choose_order(self, order: str) -> None:
        self._place.settings.set("sessions.order", order)

    def _on_setting(self, key: str) -> None:
        if key == "sessions.filters":
            self._show_filters()
        elif key == "sessions.order":
            self._show_order()

    def _show_filters(self) -> None:
        self._view.chips.show_filters(self._filters)
        self._on_query(self._view.words.text())

    def _show_order(self) -> None:
        chosen = self._place.settings.text("sessions.order")
        setting = next(s for s in SETTINGS if s.key == "sessions.order")
        self._view.offer_orders([(order, translate("Settings", words)) for order, words in setting.choices], chosen)
        order: Order = chosen if chosen in get_args(Order) else "begun"  # type: ignore[assignment]
        self._model.set_order(order)
        self._view.show_current(self._place.sight.session)
