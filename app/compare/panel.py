"""Wires the Compare panel: another session, or all branches of a group, beside the one that is looked at."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.compare.candidates import candidates, run_name, usual_other
from app.compare.model import ComparisonModel
from app.compare.view import CompareView, group_words
from app.desk.session_key import id_of, server_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.docks import show_dock_of
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from core.domain.session import SessionRow
from core.domain.trajectory import Trajectory
from core.supervision.groups import arms_of, members

QUIET_MS = 300
MOST = 200
"""So many sessions are offered; those of the same task first."""

GROUP = "group:"
"""What the choice of a group begins with; no session's id does."""

COLUMNS = 8
"""So many branches stand side by side; all count in what is said of the arms."""


def build(place: Workplace, parent: QWidget) -> CompareView:
    """The panel, wired."""
    model = ComparisonModel(parent)
    view = CompareView(model, parent)
    CompareController(place, model, view)
    return view


class CompareController(QObject):
    """What is looked at stands at the left. A step of the other one that is opened leaves both as they stand."""

    def __init__(self, place: Workplace, model: ComparisonModel, view: CompareView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._session, self._other = "", ""
        self._sessions: list[str] = []
        self._read: list[str] = []
        """The sessions that were looked at, the latest first."""
        self._is_parting_due = self._is_place_due = False
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
        self._on_opened()

    def compare_with(self, other: str) -> None:
        """Put another session, or the branches of a group, beside ours; "" takes them away."""
        self._other = other
        self._session = self._place.sight.session
        self._show()

    def _on_opened(self) -> None:
        session = self._place.sight.session
        self._read = [session, *(one for one in self._read if one != session)]
        if session not in self._sessions:
            self._other = "" if self._other == session else self._other
            self._session = session
            self._show()
        self._view.mark_read(self._side_read())

    def _side_read(self) -> int:
        """The side of the session that is looked at; the left one where it is none of them."""
        session = self._place.sight.session
        return self._sessions.index(session) if session in self._sessions else 0

    def _on_stepped(self) -> None:
        self._is_place_due = True
        self._show_place()

    def _show_place(self) -> None:
        """The step that is read, once, as soon as it is among what is compared."""
        step, session = self._place.sight.step, self._place.sight.session
        if not self._is_place_due or step is None or session not in self._sessions or not self._model.rowCount():
            return
        side = self._sessions.index(session)
        if (at := self._model.row_of(side, step)) is not None:
            self._is_place_due = False
            self._view.show_row(at, side)

    def _on_changed(self, session: str) -> None:
        if session in self._sessions and not self._timer.isActive():
            self._timer.start()

    def _on_replaced(self, session: str) -> None:
        if session in self._sessions:
            self._show()

    def _show(self) -> None:
        rows = self._compared()
        self._sessions = [row.session for row in rows]
        for name in self._sessions[1:]:
            self._place.desks.of(name).watch(name)
        self._model.show(*self._trajectories(), titles=[_column(row) for row in rows])
        self._view.show_titles(self._is_group)
        self._offer_others()
        self._tell()
        self._view.mark_read(self._side_read())
        self._on_stepped()

    @property
    def _is_group(self) -> bool:
        return self._other.startswith(GROUP)

    def _compared(self) -> list[SessionRow]:
        """The sessions side by side: ours first."""
        rows = {row.session: row for row in self._place.desks.rows()}
        ours = rows.get(self._session)
        if ours is None or not self._other:
            return []
        if self._is_group:
            others = [row for row in self._members(list(rows.values())) if row.session != self._session]
            return [ours, *others][:COLUMNS]
        return [ours, rows.get(self._other, SessionRow(session=self._other))]

    def _members(self, rows: list[SessionRow]) -> list[SessionRow]:
        """The branches of the chosen group on the server of the session in sight, arm by arm."""
        here = [row for row in rows if server_of(row.session) == server_of(self._session)]
        found = members(here, self._other.removeprefix(GROUP))
        arms = list(dict.fromkeys(row.arm for row in found))
        return sorted(found, key=lambda row: arms.index(row.arm))

    def _trajectories(self) -> list[Trajectory]:
        return [self._place.desks.of(name).trajectory(name) for name in self._sessions]

    def _grow(self) -> None:
        """A trajectory that was closed meanwhile is another object: then everything is shown anew."""
        if tuple(self._trajectories()) == self._model.sides:
            self._model.refresh()
            self._tell()
            self._show_place()
        else:
            self._show()
        self._part_when_here()

    def _tell(self) -> None:
        counts = [len(t.steps) if t is not None else 0 for t in self._model.sides]
        self._view.show_comparison(self._model.common, counts, self._model.rowCount())
        found = self._members(self._place.desks.rows()) if self._is_group else []
        self._view.show_arms(arms_of(found))

    def _offer_others(self) -> None:
        rows = self._place.desks.rows()
        ours = next((row for row in rows if row.session == self._session), None)
        if ours is None:
            self._view.offer("", [], self._other)
            return
        offered = [(row.session, run_name(row)) for row in candidates(ours, rows, self._read)[:MOST]]
        self._view.offer(run_name(ours), [*self._groups(ours), *offered], self._other)

    def _groups(self, ours: SessionRow | None) -> list[tuple[str, str]]:
        """The groups that the session in sight is one of, or that branched from it; the newest first."""
        if ours is None:
            return []
        rows = [row for row in self._place.desks.rows() if server_of(row.session) == server_of(self._session)]
        groups = dict.fromkeys(row.group for row in reversed(rows) if row.group and (
            row.session == self._session or row.parent == id_of(self._session)))
        return [(f"{GROUP}{group}", group_words(members(rows, group))) for group in groups]

    def _open_step(self, row: int, side: int) -> None:
        head = self._model.head(row, side)
        session = self._sessions[side] if side < len(self._sessions) else ""
        if head is not None and session:
            self._place.cursor.move(session, head.number)

    def _show_parting(self, *_: object) -> None:
        """In front of the other tabs of its place: beside the usual other run, unless one is chosen."""
        row = self._place.sight.row
        if not self._other and row is not None:
            self.compare_with(usual_other(row, self._place.desks.rows(), self._read))
        if not self._other:
            sentence = self.tr("There is no other run of this task here. Choose one in Compare.")
            self._place.notices.tell(sentence, "info")
            return
        show_dock_of(self._view)
        self._is_parting_due = True
        self._part_when_here()

    def _part_when_here(self) -> None:
        """Once all of all is here: what is still missing of one would look like a parting."""
        rows = [self._place.desks.of(session).row(session) for session in self._sessions]
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
        side = self._side_read()
        self._view.show_row(row, side)
        if self._model.head(row, side) is not None:
            self._open_step(row, side)


def _column(row: SessionRow) -> str:
    """What stands above a column: the arm and the score, or the session."""
    score = f" · {quantities.score(row.score)}" if row.score is not None else ""
    return f"{one_line(row.arm, 40) or one_line(row.title or row.task, 40)}{score}"
