"""Wires what stands above the steps and between them: task, what was handed in, people's turns, subagents, callers."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from app.desk.callers import called_by
from app.desk.row_text import RowText
from app.desk.session_key import key_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import menu_text, one_line
from app.kit.timers import single_shot
from app.trajectory.filters import items_of, steps_with
from app.trajectory.nested import NestedModel
from app.trajectory.view import TrajectoryView
from core.domain.request import headline, plain_words
from core.domain.session import SessionRow
from core.domain.steps import PERSON
from core.domain.trajectory import Trajectory

RENEW_MS = 300
"""While sessions grow, which of them are subagents of the one in sight is asked this often at most."""


class PinnedController(QObject):
    """Keeps the pinned rows true, and goes where their keys lead."""

    def __init__(self, place: Workplace, model: NestedModel, panel: TrajectoryView) -> None:
        super().__init__(panel)
        self._place, self._model, self._panel = place, model, panel
        self._task_of: tuple[object, tuple[str, RowText, str]] | None = None
        self._renew = single_shot(self, RENEW_MS, self._show_called)
        actions = place.actions
        for key, slot in (("go.task", self._task), ("go.handed_in", self._handed_in), ("go.caller", self._caller),
                          ("go.next_person", partial(self._jump_to_person, False)),
                          ("go.previous_person", partial(self._jump_to_person, True))):
            actions[key].triggered.connect(slot)
        place.sight.opened.connect(self.show)
        place.sight.grew.connect(self._show_rows)
        place.sight.stepped.connect(self._show_rows)
        place.desks.rows_changed.connect(self._renew.start_once)
        panel.pinned.opened.connect(self._on_opened)
        panel.list.entered.connect(self._enter_subagent)

    def show(self) -> None:
        """Show the session in sight."""
        self._show_called()
        self._show_rows()

    def _show_called(self) -> None:
        """Say at each step which subagents it called."""
        desk, session = self._place.sight.desk, self._place.sight.session
        for node in list(self._model.root.walk()) if session else ():
            self._model.set_called(node.session, called_by(desk, node.session))
        called = called_by(desk, session) if session else {}
        self._panel.minimap.show_calls([item for step in called if (item := self._model.item_of_step(step)) >= 0])

    def _show_rows(self) -> None:
        trajectory = self._place.sight.trajectory
        if trajectory is None or trajectory.created is None:
            self._panel.pinned.show_rows([])
            return
        first = self._model.root.model.trajectory
        trajectory = first if first is not None and first.created is not None else trajectory
        held = self._task_of
        if held is None or held[0] is not trajectory.created or (not held[1][1].time and len(trajectory.steps)):
            held = self._task_of = (trajectory.created, ("task", task_row(trajectory), rest_of_task(trajectory)))
        rows = [held[1]]  # it is as long as a task is, and does not change
        row = self._place.sight.row
        if row is not None and row.caller:
            rows.append(("caller", caller_row(row, self._place.sight.step), ""))
        elif row is not None and row.parent:
            rows.append(("caller", parent_row(row, self._of_server(row.parent)), ""))
        self._panel.pinned.show_rows(rows)

    def _of_server(self, session: str) -> SessionRow | None:
        """Another session of the server of the one in sight."""
        desk = self._place.sight.desk
        return desk.row(key_of(session, desk.server))

    # ---- going there -----------------------------------------------------------------------------

    def _on_opened(self, key: str) -> None:
        self._task() if key == "task" else self._caller()

    def _task(self) -> None:
        self._place.cursor.open_aside("task", self._model.root.session)

    def _handed_in(self) -> None:
        """The last submission; where there is none, say so."""
        trajectory = self._place.sight.trajectory
        if trajectory is None or not trajectory.submissions:
            self._place.notices.tell(self.tr("Nothing was handed in here."), "info")
            return
        self._place.cursor.open_aside("submission", len(trajectory.submissions) - 1)

    def _caller(self) -> None:
        row, desk = self._place.sight.row, self._place.sight.desk
        if row is not None and row.caller:
            self._place.cursor.move(key_of(row.caller, desk.server), row.caller_step or None)
        elif row is not None and row.parent:
            self._place.cursor.move(key_of(row.parent, desk.server), row.parent_step or None)

    def _enter_subagent(self, row: int) -> None:
        """Step into the subagent that a step called; of several the reader chooses one."""
        called = self._model.called_at(row)
        if len(called) == 1:
            self._place.cursor.move(called[0].session, 1)
        elif called:
            menu = QMenu(self._panel)
            for session in called:
                steps = self.tr("{title} · {n} steps").format(title=one_line(session.title, 80),
                                                              n=quantities.number(session.steps))
                menu.addAction(menu_text(steps)).setData(session.session)
            menu.triggered.connect(self._on_chosen)
            menu.aboutToHide.connect(menu.deleteLater)
            place = QPoint(self._panel.list.width() // 3, self._panel.list.rowViewportPosition(row))
            menu.popup(self._panel.list.viewport().mapToGlobal(place))

    def _on_chosen(self, action: object) -> None:
        self._place.cursor.move(action.data(), 1)  # type: ignore[attr-defined]

    def _jump_to_person(self, back: bool, *_: object) -> None:
        """Go to the next (or previous) turn of a person, or step that one wrote, round the end."""
        trajectory, here = self._model.trajectory, self._panel.list.currentIndex().row()
        if trajectory is None:
            return
        items = trajectory.items
        turns = [place for place, item in zip(items.places, items.others, strict=True) if item.kind == "guidance"]
        found = sorted({*turns, *items_of(trajectory, steps_with(trajectory, PERSON, 0))})
        rows = [row for place in found if (row := self._model.row_of(place)) >= 0]
        after = [row for row in rows if (row < here if back else row > here)]
        if rows:
            row = (after or rows)[-1 if back else 0]
            self._panel.list.rest()
            self._panel.list.show_row(row)
            self._panel.list.opened.emit(row)


def _lines(trajectory: Trajectory) -> list[str]:
    """The lines of what was asked, without what programs put around it; where that begins with a heading
    that names nothing, as "Motivation", the task's title stands first."""
    created = trajectory.created
    if created is None:
        return []
    text = headline(created.task.description) or created.task.description[:4000] or created.task.title
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if lines and created.task.description.lstrip()[:1] == "#" != text[:1] and created.task.title:
        lines = [created.task.title, *(line for line in lines if not line.startswith("#"))]
    return [line for line in (one_line(plain_words(line)) for line in lines) if line]


def task_row(trajectory: Trajectory) -> RowText:
    """Row 0: what was asked."""
    lines = _lines(trajectory)
    began = next(iter(trajectory.steps.started), float("nan"))
    return RowText(number="0", time=quantities.clock(quantities.moment(began)) if began == began else "",
                   icon="target", tool=translate("Row", "Task"), meaning="person",
                   title=lines[0] if lines else "", face="strong")


def rest_of_task(trajectory: Trajectory) -> str:
    """The second line of row 0."""
    return " ".join(_lines(trajectory)[1:])[:400]


def parent_row(row: SessionRow, above: SessionRow | None) -> RowText:
    """The session that this one branched from: the steps before are there."""
    title = translate("Row", "branched from {title}").format(
        title=one_line((above.title or above.task) if above is not None else row.parent, 120))
    return RowText(number=quantities.number(row.parent_step), icon="corner-left-up", title=title, meaning="muted",
                   tool=translate("Row", "Branch"), word=one_line(row.arm, 60))


def caller_row(row: SessionRow, step: int | None) -> RowText:
    """The step that called this subagent, and how far the reader is in it."""
    word = translate("Row", "step {n} of {count}").format(
        n=quantities.number(step or row.steps), count=quantities.number(row.steps))
    if row.errors:
        word += f"  ✗ {quantities.number(row.errors)}"
    return RowText(number=quantities.number(row.caller_step) if row.caller_step else "", icon="bot",
                   tool=translate("Row", "Caller"), title=one_line(row.title, 160), word=word,
                   meaning="muted",
                   duration=quantities.short_duration(row.worked_s))
