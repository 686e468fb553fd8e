"""Wires the queue's table: which sessions, in which order, and what the head says of it."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.saved_filters import candidate_of, not_understood
from app.desk.session_key import id_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.queue.acts import QueueActs
from app.queue.row import QueueModel, QueueRow, progress_of, queue_row
from app.queue.view import FACETS, QueueTable
from core.domain.queue import QueueItem, QueueWork, ReviewQueue, summed
from core.domain.session import SessionRow
from core.domain.session_query import Candidate, SessionQuery
from core.supervision.overlap import overlap

QUIET_MS = 60
ACTS = ("queue.make", "queue.add", "queue.take", "queue.give_back", "queue.give_to", "queue.done", "queue.remove",
        "queue.close")


def build(place: Workplace, parent: QWidget) -> QueueTable:
    """The panel, wired."""
    controller = QueueController(place)
    view = QueueTable(controller.model, [place.actions[key] for key in ACTS], place.actions["queue.next"], parent)
    controller.drive(view)
    return view


class QueueController(QObject):
    """Lists the sessions of the chosen queue or filter; to a blind reader nothing of others shows."""

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place, self._queues = place, place.queues
        self._view: QueueTable
        self.model = QueueModel(self._say)
        self._rows: dict[str, SessionRow] = {}
        self._items: dict[str, QueueItem] = {}
        self._candidates: dict[str, Candidate] = {}
        self._judged: dict[str, tuple[int, int]] = {}
        self._facets: dict[str, list[str]] = {facet: [] for facet in FACETS}
        self._total = 0
        self._facet, self._order, self._query = "all", "queue", SessionQuery()
        self._timer = single_shot(self, QUIET_MS, self._read_list)

    def drive(self, view: QueueTable) -> None:
        """Begin."""
        self._view = view
        self.setParent(view)
        self.model.setParent(view)
        QueueActs(self._place, view)
        for signal in (self._place.desks.rows_changed, self._queues.changed, self._place.desks.link_changed):
            signal.connect(self._timer.start_once)
        self._place.settings.changed.connect(self._timer.start_once)
        view.came_up.connect(self._read_list)
        self._queues.shown_changed.connect(self._on_shown)
        self._queues.session_chosen.connect(self._mark_chosen)
        view.query_changed.connect(self._on_query)
        view.facet_chosen.connect(self._on_facet)
        view.order_chosen.connect(self._on_order)
        view.session_chosen.connect(self._queues.choose)
        view.entered.connect(self._queues.enter)
        self._offer_orders()
        self._timer.start_once()

    # ---- the sessions ----------------------------------------------------------------------------

    def _on_shown(self) -> None:
        self._facet = "all"
        self._view.facets["all"].setChecked(True)
        self._view.words.clear()
        self._offer_orders()
        self._read_list()

    def _on_query(self, text: str) -> None:
        self._query = SessionQuery(text)
        self._show()

    def _on_facet(self, facet: str) -> None:
        self._facet = facet
        self._show()

    def _on_order(self, order: str) -> None:
        self._order = order
        self._offer_orders()
        self._show()

    def _offer_orders(self) -> None:
        first = self.tr("Order of the queue") if self._queues.shown.queue else self.tr("Newest first")
        orders = [("queue", first), ("name", self.tr("By name")), ("judged", self.tr("Least judged first")),
                  ("steps", self.tr("Longest first"))]
        self._view.offer_orders(orders, self._order)

    def _read_list(self) -> None:
        """Read everything anew, not more often than a fifth of the time allows."""
        if not self._view.isVisible():
            return
        began = monotonic()
        rows = {row.session: row for row in self._place.desks.rows()}
        key = self._queues.shown.queue
        self._items = dict(self._queues.items(key)) if key else {}
        wanted = SessionQuery(self._queues.shown.query)
        seen = {session: candidate_of(self._place, row) for session, row in rows.items()
                if not key or session in self._items}
        found = [session for session in self._items if session in rows] if key else sorted(
            (session for session, one in seen.items() if wanted.passes(one)), key=lambda s: _newest(rows[s]))
        self._rows = {session: rows[session] for session in found}
        self._candidates, self._total = seen, len(rows)
        self._judged = self._progress()
        self._facets = {facet: [s for s, row in self._rows.items() if self._is_of(facet, row)] for facet in FACETS}
        self._view.show_facets({facet: len(sessions) for facet, sessions in self._facets.items()})
        self._show_head()
        self._show()
        self._timer.setInterval(max(QUIET_MS, round(5_000 * (monotonic() - began))))

    def _progress(self) -> dict[str, tuple[int, int]]:
        """What shows as judged of each session, of what is asked."""
        queue, found = self._queues.queue(self._queues.shown.queue), {}
        always = self._is_blind(queue)
        for session, row in self._rows.items():
            blind = always or self._queues.is_blind(session)
            judged, asked = progress_of(row, queue, self._items.get(session), self._queues.me(session), blind=blind)
            found[session] = judged.total, asked
        return found

    def _is_blind(self, queue: ReviewQueue | None) -> bool:
        return bool(self._place.settings.get("review.blind")) or (queue is not None and queue.work.blind)

    def _show(self) -> None:
        passes = self._query.passes
        passing = [session for session in self._facets[self._facet] if passes(self._candidates[session])]
        if self._order != "queue":
            passing.sort(key=self._place_of)
        self.model.show(passing)
        self._queues.counted.emit(len(passing), self._total)
        self._view.show_content("" if passing else self._hint(), has_queue=bool(self._queues.shown.queue),
                                is_filtered=self._is_filtered)
        self._mark_chosen()

    def _is_of(self, facet: str, row: SessionRow) -> bool:
        if facet == "all":
            return True
        if facet == "undecided":
            judged, asked = self._judged[row.session]
            return judged < asked
        item = self._items.get(row.session)
        if item is not None:
            return item.holder(self._queues.me(row.session)) is not None
        return self._candidates[row.session].in_review.is_mine

    def _place_of(self, session: str) -> tuple[object, ...]:
        row = self._rows[session]
        match self._order:
            case "name":
                return ((row.title or row.task or session).casefold(), session)
            case "steps":
                return (-row.steps, session)
            case "judged":
                judged, asked = self._judged[session]
                return (judged / max(1, asked), session)
        return (0, session)

    def _say(self, session: str) -> QueueRow | None:
        row = self._rows.get(session)
        queue = self._queues.queue(self._queues.shown.queue)
        return queue_row(self._place, row, queue, self._items.get(session)) if row is not None else None

    def _mark_chosen(self) -> None:
        self._view.show_current(self._queues.chosen)

    # ---- the head --------------------------------------------------------------------------------

    def _show_head(self) -> None:
        shown = self._queues.shown
        queue = self._queues.queue(shown.queue)
        if queue is None:
            self._view.head.show_filter(one_line(shown.title, 80), self.tr("%Ln session(s)", None,
                                                                           plural(len(self._rows))))
            return
        me = self._queues.me(shown.queue)
        blind = self._is_blind(queue)
        rows = {id_of(session): row for session, row in self._rows.items()}
        total = summed(queue, self._items.values(), rows, me if blind else "")
        self._view.head.show_queue(one_line(queue.name, 80), self._facts(queue), queue.work.rubric, total,
                                   "" if blind else self._agreement())

    def _facts(self, queue: ReviewQueue) -> str:
        made = self.tr("made by {person}, {day}").format(
            person=self.tr("you") if queue.by == self._queues.me(self._queues.shown.queue) else one_line(queue.by, 40),
            day=quantities.short_day_and_minute(queue.at).rpartition(" ")[0])
        parts = [made, self._asks(queue.work)]
        if queue.work.twice:
            parts.append(self.tr("{share} % judged twice").format(share=queue.work.twice))
        if queue.work.blind:
            parts.append(self.tr("blind"))
        if queue.work.rubric:
            parts.append(one_line(queue.work.rubric, 120))
        return " · ".join(parts)

    def _asks(self, work: QueueWork) -> str:
        return {"errors": self.tr("asks for the steps that failed"),
                "reports": self.tr("asks for errors, answers and reports"),
                "some": self.tr("asks for %Ln step(s) of each", None, plural(work.count)),
                }.get(work.asks, self.tr("asks for all steps"))

    def _agreement(self) -> str:
        agreed = overlap(self._items.values())
        if agreed is None:
            return ""
        value = "–" if agreed.value is None else f"{agreed.value:.2f}"
        return self.tr("agreement {name} {value} on %Ln step(s)", None, plural(agreed.steps)).format(
            name=agreed.name, value=value)

    @property
    def _is_filtered(self) -> bool:
        return bool(self._query.text or self._facet != "all")

    def _hint(self) -> str:
        if self._is_filtered:
            words = self.tr("No session of this list passes the filter.")
            return " ".join(filter(None, (not_understood(self._query), words)))
        key = self._queues.shown.queue
        free = sum(item.free > 0 and item.holder(self._queues.me(key)) is None for item in self._items.values())
        if key and free:
            return self.tr("Nothing is left for you. %Ln session(s) wait for somebody: take one.", None, plural(free))
        if not key and "assigned:me" in self._queues.shown.query:
            return self.tr("No session is assigned to you. Take another list at the left, such as Undecided, and make "
                           "a queue of it with +.")
        return self.tr("No session is in this list.")


def _newest(row: SessionRow) -> tuple[float, str]:
    return -(row.began_at or row.created_at or datetime.fromtimestamp(0, UTC)).timestamp(), row.session
