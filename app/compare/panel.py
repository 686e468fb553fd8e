"""Wires the Compare panel: another session beside the one that is looked at."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.compare.model import ComparisonModel
from app.compare.view import CompareView
from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit.docks import show_dock_of
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.kit.timers import single_shot
from core.domain.session import SessionRow

QUIET_MS = 300
MOST = 200
"""So many sessions are offered; those of the same task first."""


def build(place: Workplace, parent: QWidget) -> CompareView:
    """The panel, wired."""
    model = ComparisonModel()
    view = CompareView(model, parent)
    model.setParent(view)
    CompareController(place, model, view)
    return view


class CompareController(QObject):
    """Opening a step of the other session turns the sides round: that one is looked at then."""

    def __init__(self, place: Workplace, model: ComparisonModel, view: CompareView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._session, self._other = "", ""
        self._is_parting_due = False
        self._timer = single_shot(self, QUIET_MS, self._grow)
        place.sight.opened.connect(self._on_opened)
        place.sight.stepped.connect(self._on_stepped)
        place.desks.rows_changed.connect(self._offer_others)
        place.desks.trajectory_changed.connect(self._on_changed)
        place.desks.trajectory_replaced.connect(self._on_replaced)
        view.chosen.connect(self.compare_with)
        view.opened.connect(self._open_step)
        view.parting_asked.connect(self._go_to_parting)
        place.actions["go.parting"].triggered.connect(self._show_parting)
        self._show()

    def compare_with(self, other: str) -> None:
        """Put another session beside ours; "" takes it away."""
        self._other = other
        if other:
            self._place.desks.of(other).watch(other)
        self._show()

    def _on_opened(self) -> None:
        if self._other == self._place.sight.session:
            self._other = self._session
        self._show()

    def _on_stepped(self) -> None:
        trajectory, step = self._model.sides[0], self._place.sight.step
        at = trajectory.index_of(step) if trajectory is not None and step is not None else None
        if at is not None and self._model.rowCount():
            self._view.show_row(at)

    def _on_changed(self, session: str) -> None:
        if session in (self._session, self._other) and not self._timer.isActive():
            self._timer.start()

    def _on_replaced(self, session: str) -> None:
        if session in (self._session, self._other):
            self._show()

    def _show(self) -> None:
        self._session = self._place.sight.session
        sides = [self._place.desks.of(s).trajectory(s) if s else None for s in (self._session, self._other)]
        self._model.show(sides[0], sides[1] if self._session else None)
        self._offer_others()
        self._tell()

    def _grow(self) -> None:
        """A trajectory that was closed meanwhile is another object: then everything is shown anew."""
        held = [self._place.desks.of(s).trajectory(s) if s else None for s in (self._session, self._other)]
        if tuple(held) == self._model.sides:
            self._model.refresh()
            self._tell()
        else:
            self._show()
        self._part_when_here()

    def _tell(self) -> None:
        left, right = self._model.sides
        count = [len(t.steps) if t is not None else 0 for t in (left, right)]
        self._view.show_comparison(self._model.common, *count)

    def _offer_others(self) -> None:
        rows = {row.session: row for row in self._place.desks.rows()}
        ours = rows.pop(self._session, None)
        task = ours.task if ours is not None else ""
        others = sorted((r for r in rows.values() if r.steps),
                        key=lambda r: (r.task != task, -(r.created_at.timestamp() if r.created_at else 0)))
        self._view.offer(_title(ours) if ours is not None else "",
                          [(r.session, _title(r)) for r in others[:MOST]] if ours is not None else [], self._other)

    def _open_step(self, row: int, side: int) -> None:
        head = self._model.head(row, side)
        session = (self._session, self._other)[side]
        if head is not None and session:
            self._place.cursor.move(session, head.number)

    def _show_parting(self, *_: object) -> None:
        """In front of the other tabs of its place: beside the first other run of the task, unless one is chosen."""
        row = self._place.sight.row
        if not self._other and row is not None:
            self.compare_with(next((one.session for one in self._place.desks.rows()
                                    if one.task == row.task and one.session != row.session and one.steps), ""))
        if not self._other:
            self._place.notices.tell(self.tr("There is no other run of this task here."), "info")
            return
        show_dock_of(self._view)
        self._is_parting_due = True
        self._part_when_here()

    def _part_when_here(self) -> None:
        """Once all of both is here: what is still missing of one would look like a parting."""
        rows = [self._place.desks.of(s).row(s) for s in (self._session, self._other) if s]
        if not self._is_parting_due or len(rows) < 2:
            return
        held = zip(rows, self._model.sides, strict=True)
        if all(row is not None and side is not None and side.seq >= row.seq for row, side in held):
            self._is_parting_due = False
            self._model.refresh()
            if self._model.common < self._model.rowCount():
                self._go_to_parting()

    def _go_to_parting(self) -> None:
        row = self._model.common
        self._view.show_row(row)
        if self._model.head(row, 0) is not None:
            self._open_step(row, 0)


def _title(row: SessionRow) -> str:
    return f"{row.title or row.task} · {row.session[-6:]}"


PANEL = Panel("compare", QT_TRANSLATE_NOOP("Panel", "Compare"), build, {
    "live": ("middle", 12), "read": ("middle", 12), "compare": ("middle", 0),
    "export": ("middle", 12), "queue": ("middle", 12)})
