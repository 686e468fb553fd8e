"""Wires the Outline panel: the lines of the session that is read, of its subagents on the way there, and its plan."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.callers import called_by, line_of
from app.desk.fetches import Fetch
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.docks import show_dock_of
from app.kit.timers import single_shot
from app.outline.lines import Outlined, OutlineLine, Subagent, outline_of
from app.outline.model import OutlineModel
from app.outline.phases import plan_steps
from app.outline.view import OutlineView
from core.domain.errors import InvalidInput
from core.domain.plan import PlanItem, plan_items
from core.domain.step import decode_body
from core.domain.trajectory import Item, Trajectory

RENEW_MS = 300
"""While a session grows its outline is read again this often at most."""


class OutlineController(QObject):
    """Nothing is computed while nobody sees the panel."""

    def __init__(self, place: Workplace, model: OutlineModel, view: OutlineView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._renew = single_shot(self, RENEW_MS, self.show)
        self._body: Fetch | None = None
        self._plans: dict[str, tuple[int, list[int]]] = {}
        """By session: how far it was read, and its steps that write a plan."""
        self._plan_of: tuple[str, int] = ("", -1)
        place.sight.opened.connect(self._on_opened_session)
        place.sight.stepped.connect(self._show_here)
        place.sight.grew.connect(self._on_grew)
        place.desks.rows_changed.connect(self._on_grew)
        place.queues.blindness_changed.connect(self.show)
        place.actions["go.outline"].triggered.connect(self._go_to_outline)
        view.list.opened.connect(self._on_opened)
        view.list.left.connect(place.cursor.focus_list)
        view.shown.connect(self.show)
        self.show()

    def _on_opened_session(self) -> None:
        self._plans = {}
        self.show()

    def show(self) -> None:
        """Show the lines of what is in sight, and mark where the reader is."""
        trajectory = self._place.sight.trajectory
        self._view.faces.show_content(trajectory is not None and trajectory.seq > 0)
        if trajectory is None or not self._view.isVisible():
            return
        way = line_of(self._place.sight.desk, self._place.sight.session)
        sessions = {session: self._outlined(session) for session in way}
        self._model.show(outline_of(sessions[way[0]], sessions), sessions)
        self._show_here()

    def _outlined(self, session: str) -> Outlined:
        desk = self._place.sight.desk
        reader = self._place.blind_reader(session)
        return Outlined(session, desk.trajectory(session), called_by(desk, session), reader)

    def _show_here(self) -> None:
        trajectory, step = self._place.sight.trajectory, self._place.sight.step
        if trajectory is None or not self._view.isVisible() or not len(trajectory.steps):
            self._view.plan.show_plan("", ())
            return
        at = len(trajectory.steps) - 1 if step is None else trajectory.index_of(step)
        if at is None:
            return
        self._view.list.show_here(self._model.row_of(self._place.sight.session, trajectory.items.of_step(at)))
        self._show_plan(self._place.sight.session, at)

    def _on_grew(self) -> None:
        if not self._renew.isActive() and self._view.isVisible():
            self._renew.start()

    # ---- the plan --------------------------------------------------------------------------------

    def _show_plan(self, session: str, at: int) -> None:
        """That of the last step up to this one that wrote one; where a subagent has none, its caller's."""
        way = line_of(self._place.sight.desk, session)
        for one in reversed(way):
            trajectory = self._place.sight.desk.trajectory(one)
            if (written := self._written(one, trajectory, at)) >= 0:
                self._fetch_plan(one, trajectory, written)
                return
            at = trajectory.row.caller_step - 1
        self._plan_of = ("", -1)
        self._view.plan.show_plan("", ())

    def _written(self, session: str, trajectory: Trajectory, at: int) -> int:
        if self._plans.get(session, (-1, []))[0] != trajectory.seq:
            self._plans[session] = (trajectory.seq, plan_steps(trajectory))
        return max((place for place in self._plans[session][1] if place <= at), default=-1)

    def _fetch_plan(self, session: str, trajectory: Trajectory, at: int) -> None:
        if self._plan_of == (session, trajectory.steps.seqs[at]):
            return
        self._plan_of = (session, trajectory.steps.seqs[at])
        entry = trajectory.steps[at]
        if self._body is not None:
            self._body.cancel()
        self._body = self._place.sight.holder(entry.body).body(
            entry.body, lambda data: self._take_plan(data, entry.head.number))

    def _take_plan(self, data: bytes, number: int) -> None:
        title = self.tr("Plan of step {n}").format(n=quantities.number(number))
        self._view.plan.show_plan(title, _plan_in(data))

    # ---- going there -----------------------------------------------------------------------------

    def _go_to_outline(self, *_: object) -> None:
        """The keys into the outline, in front of the other tabs of its place; from there back to the steps."""
        if self._view.list.hasFocus():
            self._place.cursor.focus_list()
            return
        show_dock_of(self._view)
        self._view.list.setFocus()

    def _on_opened(self, line: object) -> None:
        if not isinstance(line, OutlineLine):
            return
        cursor, session = self._place.cursor, line.session
        trajectory = self._place.desks.of(session).trajectory(session)
        if isinstance(line.what, Subagent):
            cursor.move(line.what.session, 1)
        elif line.kind == "task":
            cursor.move(session, self._place.sight.step if session == self._place.sight.session else 1)
            cursor.open_aside("task", "")
        elif line.first < 0:
            cursor.move(session, trajectory.row.steps or None)
        else:
            self._go_to_item(session, trajectory.items[line.first], trajectory)

    def _go_to_item(self, session: str, item: Item, trajectory: Trajectory) -> None:
        cursor = self._place.cursor
        if item.kind == "step":
            cursor.move(session, trajectory.steps.numbers[int(item.ref)])
            return
        if session != self._place.sight.session:
            cursor.move(session, None)
        cursor.open_aside(item.kind, item.ref)


def _plan_in(data: bytes) -> list[PlanItem]:
    try:
        found = [plan_items(action.arguments) for action in decode_body(data).actions]
    except InvalidInput:
        return []
    return next((items for items in found if items), [])


def build(place: Workplace, parent: QWidget) -> OutlineView:
    """The panel, wired."""
    model = OutlineModel(parent)
    view = OutlineView(model, parent)
    OutlineController(place, model, view)
    return view
