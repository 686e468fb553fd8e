"""Wires the Charts panel: curves of the cursor's session and of others over it, a click moves, a brush marks steps."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QObject
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from app.charts.view import ChartsView
from app.desk.session_key import id_of
from app.desk.session_words import short_id
from app.desk.worker import log_of
from app.desk.workplace import Workplace
from app.kit.ask import file_to_save
from app.kit.background import BackgroundWork
from app.kit.timers import single_shot
from core.domain.errors import Unavailable

if TYPE_CHECKING:
    from app.charts.series import Curves

QUIET_MS = 500
"""Curves are drawn anew at most this often while a session works."""

MOST_OTHERS = 5


def build(place: Workplace, parent: QWidget) -> ChartsView:
    """The panel, wired."""
    view = ChartsView(parent)
    ChartsController(place, view)
    return view


class ChartsController(QObject):
    """Draws what the trajectory says, and moves the cursor."""

    def __init__(self, place: Workplace, view: ChartsView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._chosen: list[str] = []
        self._others: dict[str, Curves] = {}
        self._read_as: dict[str, str] = {}
        self._work = BackgroundWork(self)
        self._work.done.connect(self._on_others)
        self._timer = single_shot(self, QUIET_MS, self._draw_curves)
        self._connect()
        self._say_gist()
        self._draw_curves()

    def _connect(self) -> None:
        place, view = self._place, self._view
        for changed in (place.sight.opened, place.sight.grew):
            changed.connect(self._say_gist)
        place.sight.opened.connect(self._draw_curves)
        place.sight.stepped.connect(self._show_place)
        place.sight.grew.connect(self._timer.start_once)
        place.cursor.marked.connect(self._show_place)
        view.picked.connect(place.cursor.move)
        view.brushed.connect(self._on_brushed)
        view.moved.connect(self._on_arrow)
        view.others_asked.connect(self._offer_others)
        view.other_toggled.connect(self._toggle_other)
        view.save_asked.connect(self._save_picture)
        view.came_up.connect(self._draw_curves)
        place.queues.changed.connect(self._look_at_blind)
        place.settings.changed.connect(self._look_at_blind)

    def _say_gist(self) -> None:
        """The panel is drawn only while it is seen; its line is there before."""
        row = self._place.sight.row
        self._view.say_steps(row.steps if row is not None else 0)

    def _look_at_blind(self, *_: object) -> None:
        readers = self._readers
        if readers != self._read_as:
            self._read_as, self._others = readers, {}  # with verdicts that a blind reader must not see
            self._read_others()
            self._draw_curves()

    @property
    def _readers(self) -> dict[str, str]:
        """Who is blind to which of the drawn sessions."""
        return {session: self._place.blind_reader(session) for session in (*self._chosen, self._place.sight.session)}

    def _draw_curves(self) -> None:
        if not self._view.is_in_view():
            return
        session, trajectory = self._place.sight.session, self._place.sight.trajectory
        curves: list[Curves] = []
        if trajectory is not None:
            from app.charts.series import curves_of  # with the canvas: numpy takes its time to load

            curves.append(curves_of(trajectory, self._title(session), self._place.blind_reader(session)))
            curves += [self._others[s] for s in self._chosen if s != session and s in self._others]
        self._view.show_curves(curves)
        self._show_place()

    def _show_place(self) -> None:
        if not self._view.is_in_view():
            return
        self._view.show_place(self._place.sight.step, self._place.cursor.marks)

    def _on_brushed(self, first: int, last: int) -> None:
        trajectory = self._place.sight.trajectory
        steps = trajectory.steps.numbers if trajectory is not None else ()
        self._place.cursor.mark(tuple(n for n in steps if first <= n <= last))

    def _on_arrow(self, by: int) -> None:
        self._place.actions["go.next_step" if by > 0 else "go.previous_step"].trigger()

    # ---- other sessions --------------------------------------------------------------------------

    def _title(self, session: str) -> str:
        row = self._place.desks.of(session).row(session)
        return f"{row.title or row.task} · {short_id(session)}" if row is not None else session

    def _offer_others(self) -> None:
        rows = [row for row in self._place.desks.rows() if row.session != self._place.sight.session and row.steps]
        rows.sort(key=lambda r: (r.task != self._task(), -(r.created_at.timestamp() if r.created_at else 0)))
        self._view.offer_others([(r.session, self._title(r.session), r.session in self._chosen) for r in rows[:200]])

    def _task(self) -> str:
        row = self._place.sight.row
        return row.task if row is not None else ""

    def _toggle_other(self, session: str, on: bool) -> None:
        """The newest choice is kept; folding another log is work for a thread."""
        self._chosen = [s for s in self._chosen if s != session]
        if on:
            self._chosen = [*self._chosen, session][-MOST_OTHERS:]
            self._place.desks.of(session).watch(session)
        self._read_others()
        self._draw_curves()

    def _read_others(self) -> None:
        from app.charts.series import LoggedSession, curves_of_logs

        sessions = [LoggedSession(log_of(self._place, s), id_of(s), s, self._title(s), self._place.blind_reader(s))
                    for s in self._chosen]
        self._work.start(curves_of_logs, sessions)

    def _on_others(self, others: list[Curves]) -> None:
        self._others = {curves.session: curves for curves in others}
        self._draw_curves()

    # ---- saving ----------------------------------------------------------------------------------

    def _save_picture(self, kind: str) -> None:
        self._place.scope.spawn(self._save_as(kind), name="save charts")

    async def _save_as(self, kind: str) -> None:
        name = f"{self._place.sight.session}.{kind}"
        chosen = await file_to_save(self._view.window(), self.tr("Save the curves"), name)
        if chosen:
            self.save(kind, Path(chosen))

    def save(self, kind: str, path: Path) -> None:
        """Write the curves. Raises Unavailable (file_not_written)."""
        data = {"png": self._png, "svg": self._svg, "csv": self._csv}[kind]()
        try:
            path.write_bytes(data)
        except OSError as error:
            raise Unavailable("file_not_written", f"{path} cannot be written: {error}", path=str(path),
                              why=str(error)) from error
        self._place.notices.tell(self.tr("Saved: {path}").format(path=path), "done")

    def _png(self) -> bytes:
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self._view.image().save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(buffer.data().data())

    def _svg(self) -> bytes:
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        self._view.draw_svg(generator)
        return bytes(buffer.data().data())

    def _csv(self) -> bytes:
        text = io.StringIO(newline="")
        from app.charts.series import table_of

        csv.writer(text).writerows(table_of(self._view.canvas.curves))
        return text.getvalue().encode("utf-8-sig")  # spreadsheets then know that it is UTF-8
