"""Opens subagents below the step that called them, and leads the reader from one session of the list into another."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QObject

from app.desk.callers import called_by, line_of
from app.desk.session_key import key_of
from app.desk.workplace import Workplace
from app.trajectory.nested import NestedModel
from app.trajectory.row_layout import Node
from app.trajectory.view import TrajectoryView
from core.domain.trajectory import Trajectory


class NestingController(QObject):
    """The list begins with the first caller of what is in sight; what was opened in it stays open."""

    def __init__(self, place: Workplace, model: NestedModel, panel: TrajectoryView) -> None:
        super().__init__(panel)
        self._place, self._model = place, model
        panel.list.unfolded.connect(self._unfold_row)
        panel.list.folded.connect(self._fold_row)
        panel.opening_asked.connect(self._open_all)
        place.desks.trajectory_changed.connect(model.refresh_beside)

    def show(self, session: str, trajectory: Trajectory | None) -> None:
        """Bring a session into the list, in its place below its callers, and answer for it."""
        if trajectory is None:
            self._model.show(None)
            return
        desk, way = self._place.sight.desk, self._way(session)
        root = self._model.root
        if root.session != way[0] or root.model.trajectory is not desk.trajectory(way[0]):
            self._model.show(desk.trajectory(way[0]), way[0])
        for above, below in pairwise(way):
            self._model.set_called(above, called_by(desk, above))
            held, row = self._model.node(below), desk.row(below)
            if held is not None and held.model.trajectory is not desk.trajectory(below):
                self._model.close(held)
            caller = self._model.node(above)
            if caller is not None and row is not None:
                self._model.open(caller, row, desk.trajectory(below))
        self._model.activate(session)

    def _way(self, session: str) -> list[str]:
        """The callers of a session and itself, from the first whose call is known to stand in its caller's list."""
        desk = self._place.sight.desk
        way = line_of(desk, session)
        for at in range(len(way) - 1, 0, -1):
            row = desk.row(way[at])
            if row is None or not row.caller_step or desk.trajectory(way[at - 1]).index_of(row.caller_step) is None:
                return way[at:]
        return way

    # ---- from one session into another -----------------------------------------------------------

    def lead_into(self, row: int) -> bool:
        """Go to a row of another session of the list; whether it is one."""
        if not 0 <= row < self._model.rowCount():
            return False
        node, own = self._model.at(row)
        if node is self._model.active:
            return False
        item, steps = node.model.item_at(own), node.model.steps_of_rows(own, own)
        self._place.cursor.move(node.session, steps[0] if steps else None)
        if item is not None and item.kind != "step":
            self._place.cursor.open_aside(item.kind, item.ref)
        return True

    def step_over(self, index: int, by: int) -> bool:
        """Go from the `index`-th step in sight to the next or previous one where that is in another session."""
        node, trajectory = self._model.active, self._model.trajectory
        assert trajectory is not None
        numbers = trajectory.steps.numbers
        inside = self._opened(node, numbers[index] if by > 0 else numbers[index - 1] if index else 0)
        if inside:
            return self._to(inside[0 if by > 0 else -1], 0 if by > 0 else -1)
        if by < 0 and index == 0 and node.above is not None:
            self._place.cursor.move(node.above.session, node.step)
            return True
        if by > 0 and index == len(numbers) - 1 and node.above is not None and node.above.model.trajectory is not None:
            above = node.above.model.trajectory
            after = (above.index_of(node.step) or 0) + 1
            return after < len(above.steps) and self._to(node.above, after)
        return False

    def _opened(self, node: Node, step: int) -> list[Node]:
        return [one for one in node.below if one.step == step and one.anchor >= 0 and one.model.rowCount()]

    def _to(self, node: Node, place: int) -> bool:
        if node.model.trajectory is None or not len(node.model.trajectory.steps):
            return False
        self._place.cursor.move(node.session, node.model.trajectory.steps.numbers[place])
        return True

    # ---- open and fold ---------------------------------------------------------------------------

    def _unfold_row(self, row: int) -> None:
        """Show what the step of a row called; where that is open, go into it."""
        node, _ = self._model.at(row)
        opened = self._model.open_at(row)
        if opened:
            self._to(opened[0], 0)
            return
        desk = self._place.sight.desk
        for called in self._model.called_at(row):
            desk.watch(called.session)
            self._model.open(node, called, desk.trajectory(called.session))

    def _open_all(self, sessions: list[str]) -> None:
        """Show subagents below their callers, as far as both are here."""
        desk = self._place.sight.desk
        for session in sessions:
            row = desk.row(session)
            above = self._model.node(key_of(row.caller, desk.server)) if row is not None else None
            if row is not None and above is not None and self._model.node(session) is None:
                self._model.set_called(above.session, called_by(desk, above.session))
                self._model.open(above, row, desk.trajectory(session))

    def _fold_row(self, row: int) -> None:
        """Fold what is open below a row; from a subagent's own row go to the step that called it."""
        node, _ = self._model.at(row)
        opened = self._model.open_at(row)
        if not opened and node.above is not None:
            self._place.cursor.move(node.above.session, node.step)
            return
        if any(self._model.active in one.walk() for one in opened):
            self._place.cursor.move(node.session, opened[0].step)
        for one in opened:
            self._model.close(one)
