"""Wires the list of queues: what each line holds, and what the middle lists when it is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.queue_book import Shown
from app.desk.saved_filters import candidate_of, read_filters, usual_filters
from app.desk.session_key import OWN, server_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.queues.model import QueueSource, SourcesModel
from app.queues.view import QueuesView
from core.domain.queue import ReviewQueue
from core.domain.session import SessionRow
from core.domain.session_query import Candidate, SessionQuery

QUIET_MS = 200

MINE = (
    ("inbox", "muted", QT_TRANSLATE_NOOP("Queues", "Assigned to me"), "assigned:me"),
    ("circle-alert", "attention", QT_TRANSLATE_NOOP("Queues", "Needs you"), "is:attention"),
    ("history", "live", QT_TRANSLATE_NOOP("Queues", "New since I looked"), "is:new"),
    ("circle", "muted", QT_TRANSLATE_NOOP("Queues", "Undecided"), "is:undecided"),
)
"""Icon, its colour, words and filter of what is always there."""


def build(place: Workplace, parent: QWidget) -> QueuesView:
    """The panel, wired."""
    model = SourcesModel(parent)
    view = QueuesView(model, place.actions["queue.make"], parent)
    QueuesController(place, model, view)
    return view


class QueuesController(QObject):
    """Counts what each line holds while the panel is seen, and not more often than it can be read."""

    def __init__(self, place: Workplace, model: SourcesModel, view: QueuesView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._timer = single_shot(self, QUIET_MS, self._show_lines)
        for signal in (place.desks.rows_changed, place.queues.changed, place.desks.link_changed):
            signal.connect(self._timer.start_once)
        place.settings.changed.connect(self._timer.start_once)
        place.queues.shown_changed.connect(self._mark_chosen)
        view.came_up.connect(self._timer.start)
        view.chosen.connect(place.queues.show)
        self._timer.start()

    def _show_lines(self) -> None:
        if not self._view.isVisible():
            return
        began, rows = monotonic(), self._place.desks.rows()
        seen = [candidate_of(self._place, row) for row in rows]
        self._model.show([*self._mine(seen), *self._queues(rows), *self._filters(seen), *self._servers(rows)])
        self._view.show_count(len(rows))
        self._timer.setInterval(max(QUIET_MS, round(5_000 * (monotonic() - began))))
        self._begin()
        self._mark_chosen()

    def _begin(self) -> None:
        """Something is listed from the start: the first queue, else what is the reader's."""
        if self._place.queues.shown == Shown():
            found = [line.shown for line in self._model.rows if line.shown is not None]
            queues = [shown for shown in found if shown.queue]
            self._place.queues.show((queues or found)[0])

    def _mark_chosen(self) -> None:
        self._view.show_chosen(self._place.queues.shown)

    # ---- the lines -------------------------------------------------------------------------------

    def _mine(self, seen: list[Candidate]) -> Iterator[QueueSource]:
        yield QueueSource(self.tr("Mine"))
        for icon, meaning, words, query in MINE:
            title = translate("Queues", words)
            yield QueueSource(title, Shown(query=query, title=title), icon, meaning, _count(seen, query))

    def _queues(self, rows: list[SessionRow]) -> Iterator[QueueSource]:
        found = self._place.queues.all()
        if found:
            yield QueueSource(self.tr("Queues"))
        known = {row.session for row in rows}
        for key, queue in found:
            done, total = self._how_far(key, queue, known)
            yield QueueSource(one_line(queue.name, 60), Shown(queue=key, title=queue.name), "list-todo", "muted",
                         f"{quantities.number(done)}/{quantities.number(total)}", is_done=0 < total == done)

    def _how_far(self, key: str, queue: ReviewQueue, known: set[str]) -> tuple[int, int]:
        """Sessions that are done, of all; of a blind queue those that the reader is done with, of their own."""
        items = [item for session, item in self._place.queues.items(key) if session in known]
        if not (queue.work.blind or self._place.settings.get("review.blind")):
            return sum(item.is_done for item in items), len(items)
        mine = [h for item in items if (h := item.holder(self._place.queues.me(key))) is not None]
        return sum(bool(h.done) for h in mine), len(mine)

    def _filters(self, seen: list[Candidate]) -> Iterator[QueueSource]:
        saved = read_filters(self._place.settings.text("sessions.filters")) or usual_filters()
        yield QueueSource(self.tr("Filters"))
        for one in saved:
            yield QueueSource(one_line(one.query, 60), Shown(query=one.query, title=one.name), "list-filter", "muted",
                         _count(seen, one.query), is_query=True)

    def _servers(self, rows: list[SessionRow]) -> Iterator[QueueSource]:
        yield QueueSource(self.tr("Servers"))
        for desk in self._place.desks.all:
            name = one_line(self._place.servers.name_of(desk.server), 40)
            count = sum(server_of(row.session) == desk.server for row in rows)
            query = f'server:"{name}"' if len(self._place.desks.all) > 1 else ""
            yield QueueSource(name, Shown(query=query, title=name),
                         "monitor" if desk.server == OWN else "server",
                         "keep" if desk.link.state == "online" else "muted", quantities.number(count))


def _count(seen: list[Candidate], query: str) -> str:
    return quantities.number(sum(map(SessionQuery(query).passes, seen)))
