"""Wires the Trajectory panel to desk and cursor: follow, filter, move."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.link_status import away_since
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from app.trajectory.digest_controller import DigestController
from app.trajectory.facets import Facets, choices_of
from app.trajectory.filters import counts_of
from app.trajectory.find_box import FindBoxController
from app.trajectory.nested import NestedModel
from app.trajectory.nesting_controller import NestingController
from app.trajectory.overview import Overview
from app.trajectory.pinned_controller import PinnedController
from app.trajectory.remarks import RemarksController, unreadable_words
from app.trajectory.selected_steps import SelectedSteps
from app.trajectory.strip_controller import StripController
from app.trajectory.view import TrajectoryView
from core.domain.session import FINAL_STATES

COUNT_MS = 300
"""What each facet has is counted this often at most while a session grows."""

THOUGHT = "thought"
"""The live channel on which a model's unfinished thought comes."""


def build(place: Workplace, parent: QWidget) -> TrajectoryView:
    """The panel, wired."""
    model = NestedModel(parent)
    model.worth = place.runs.advantage
    panel = TrajectoryView(model, parent)
    TrajectoryController(place, model, panel)
    DigestController(place, panel)
    StripController(place, panel.strip)
    RemarksController(place, panel)
    return panel


class TrajectoryController(QObject):
    """Keeps the list at the cursor and the cursor at what the reader opens."""

    def __init__(self, place: Workplace, model: NestedModel, panel: TrajectoryView) -> None:
        super().__init__(panel)
        self._place, self._model, self._view = place, model, panel
        self._live: dict[str, str] = {}
        self._overview = Overview()
        self._reading = False
        self._followed = self._steps_shown = 0
        """Up to how many steps the end was followed, and how many are listed."""
        self._counting = single_shot(self, COUNT_MS, self._count_facets)
        SelectedSteps(place.cursor, model, panel.list)
        model.set_view(folds=bool(place.settings.get("trajectory.fold_waiting")))
        self._finder = FindBoxController(place, model, panel, self._go_to_item, self._here)
        self._pinned = PinnedController(place, model, panel)
        self._nesting = NestingController(place, model, panel)
        self._connect()
        if place.sight.session:
            self._open_session()
        self._show_step()

    def _connect(self) -> None:
        place, panel, actions = self._place, self._view, self._place.actions
        panel.offer([actions[key] for key in ("go.copy_link", "review.keep", "review.mask", "review.unsure",
                                              "review.note", "view.eye")])
        place.sight.opened.connect(self._open_session)
        place.sight.stepped.connect(self._show_step)
        place.sight.grew.connect(self._on_grew)
        place.sight.replaced.connect(self._open_session)
        place.desks.live_text.connect(self._on_live)
        place.settings.changed.connect(self._on_setting)
        place.desks.link_changed.connect(self._on_link)
        place.queues.blindness_changed.connect(self._on_link)
        place.cursor.aside_opened.connect(self._show_aside)
        place.runs.sheets_changed.connect(self._on_worth)
        panel.list.opened.connect(self._on_opened)
        panel.list.toggled.connect(self._on_toggled)
        panel.list.verticalScrollBar().valueChanged.connect(self._show_place)
        panel.minimap.picked.connect(self._go_to_item)
        actions["go.by_time"].toggled.connect(panel.minimap.set_by_time)
        panel.filter_chosen.connect(self._on_filter)
        panel.filters.chosen.connect(self._on_facets)
        panel.filters_asked.connect(self._on_filters_asked)
        actions["go.filter"].toggled.connect(panel.filters_button.setChecked)
        panel.filters_button.toggled.connect(actions["go.filter"].setChecked)
        panel.follow_asked.connect(self._follow_end)
        panel.list.follow_changed.connect(self._on_follow)
        for key, slot in (
            ("go.next_step", partial(self._go_steps, 1)), ("go.previous_step", partial(self._go_steps, -1)),
            ("go.follow", self._follow_end), ("go.next_error", partial(self._jump_to_error, False)),
            ("go.previous_error", partial(self._jump_to_error, True)),
        ):
            actions[key].triggered.connect(slot)

    # ---- what is in sight ------------------------------------------------------------------------

    def _show_step(self) -> None:
        step = self._place.sight.step
        if step is None:
            self._view.list.clear_current()
            self._view.list.follow()
        else:
            self._show_item(self._model.item_of_step(step))
        self._show_place()

    def _open_session(self) -> None:
        session, trajectory = self._place.sight.session, self._place.sight.trajectory
        self._place.sight.desk.watch(session)
        self._finder.leave()
        self._nesting.show(session, trajectory)
        self._steps_shown = trajectory.row.steps if trajectory is not None else 0
        self._followed = self._seen_before()
        self._view.show_new(0)
        self._model.set_reader(self._place.blind_reader(self._place.sight.session))
        self._show_face()
        self._offer_facets()
        self._show_count()
        self._show_live(session)
        self._show_overview()
        self._reading = True
        self._show_progress(session)
        self._pinned.show()

    def _on_grew(self) -> None:
        session, step = self._place.sight.session, self._place.sight.step
        self._show_live(session)
        item = self._model.item_of_step(step) if step is not None else -1
        if self._place.sight.trajectory is not None:
            self._steps_shown = self._place.sight.trajectory.row.steps
        self._model.refresh(item if item >= 0 else None)
        if item >= 0 and self._here() < 0:  # the step that was asked for has just come
            self._show_item(item)
        if self._overview.refresh():
            self._view.minimap.show_items(self._overview)
        self._show_progress(session)
        self._show_face()
        self._finder.renew()
        self._show_count()
        self._show_place()

    def _on_live(self, session: str, channel: str, text: str) -> None:
        if channel == THOUGHT:
            self._live[session] = text
            if session == self._place.sight.session:
                self._show_live(session)

    def _show_live(self, session: str) -> None:
        self._view.list.takes_up = not self._place.sight.is_over
        trajectory = self._model.trajectory
        if trajectory is None:
            return
        row = self._place.sight.row or trajectory.row  # what was read so far may end in the middle of a step
        if trajectory.open_step is None or row.state in FINAL_STATES or row.unreadable:
            self._live.pop(session, None)
            self._model.active.model.set_live(None)
        else:
            self._model.active.model.set_live(self._live.get(session) or "…")

    def _show_progress(self, session: str) -> None:
        share = self._place.sight.desk.progress(session) if session else 1
        self._view.show_progress(share)
        if self._reading:  # what is read at first is not news
            self._view.list.nothing_missed()
        steps = self._model.trajectory.steps if self._model.trajectory is not None else ()
        self._reading = share < 1 and (self._reading or not len(steps))  # later on what comes in one lot is news

    def _show_face(self) -> None:
        trajectory, row = self._model.trajectory, self._place.sight.row
        why = row.unreadable if row is not None else ""
        self._view.faces.show_content(trajectory is not None and trajectory.seq > 0)
        self._view.empty.set_hint(
            self.tr("The steps of a session appear here. Choose one under Sessions.") if trajectory is None else
            unreadable_words(why) if why else
            self.tr("The steps of this session are not on this computer. They come as soon as the server is reached.")
            if away_since(self._place.sight.desk.link) else
            self.tr("The steps of this session appear here as soon as the server has sent them."))

    # ---- what the reader does --------------------------------------------------------------------

    def _on_opened(self, row: int) -> None:
        step = self._model.step_of_row(row)
        if self._nesting.lead_into(row):
            return
        if step is not None:
            self._place.cursor.to_step(step)
        elif (item := self._model.item_at(row)) is not None:
            self._place.cursor.open_aside(item.kind, item.ref)
        self._show_place()

    def _on_toggled(self, row: int) -> None:
        top = self._model.toggle(row)
        if top >= 0:
            self._view.list.show_row(top)
            step = self._model.step_of_row(top)
            if step is not None:
                self._place.cursor.to_step(step)

    def _on_follow(self, following: bool, missed: int) -> None:
        """What is new is counted in steps, as in the list of sessions; `missed` rows may tell other things too."""
        if following or not missed:
            self._followed = self._steps_shown if following else self._seen_before()
        self._view.show_new(self._steps_shown - self._followed)

    def _seen_before(self) -> int:
        """How many steps the reader had seen when they came: what is beyond is new to them, not what came since."""
        seen = self._place.watermarks.at_arrival(self._place.sight.session)
        return self._steps_shown if seen is None else min(seen, self._steps_shown)

    def _follow_end(self) -> None:
        self._place.cursor.follow()
        self._view.list.clear_current()
        self._view.list.follow()
        self._show_place()

    def _go_steps(self, by: int, *_: object) -> None:
        trajectory = self._model.trajectory
        if trajectory is None or not trajectory.steps:
            return
        step = self._place.sight.step
        index = len(trajectory.steps) - 1 if step is None else trajectory.index_of(step)
        if index is None or (step is None and by > 0):
            return
        target = index + by if step is not None else index
        if self._nesting.step_over(index, by):
            return
        if 0 <= target < len(trajectory.steps):
            self._place.cursor.to_step(trajectory.steps.numbers[target])

    def _go_to_item(self, item: int) -> None:
        self._view.list.rest()
        self._show_item(item)
        row = self._model.row_of(item)
        if row >= 0:
            self._on_opened(row)

    def _show_item(self, item: int) -> None:
        if item < 0:
            return
        row = self._model.reveal(item)
        if row >= 0:
            self._view.list.rest()
            self._view.list.show_row(row)

    def _show_aside(self, kind: str, ref: object) -> None:
        """What was opened elsewhere, without a step of its own, is the list's row too."""
        if kind != "task" and (item := self._model.active.model.item_of(kind, ref)) >= 0:  # type: ignore[arg-type]
            self._show_item(item)

    def _show_place(self) -> None:
        trajectory, followed = self._model.trajectory, self._place.sight.step is None
        numbers = trajectory.steps.numbers if trajectory is not None else ()
        step = self._place.sight.step if not followed else numbers[-1] if numbers else None
        at = self._model.item_of_step(step) if step is not None else -1
        self._view.list.mark_read(self._model.row_of(at) if followed and at >= 0 else -1)
        rows, seen = self._model.rows, self._view.list.rows_in_sight()
        seen = range(max(0, seen.start), min(seen.stop, len(rows)))
        first = next((row.first for row in map(rows.__getitem__, seen) if row.first >= 0), 0)
        last = next((row.last for row in map(rows.__getitem__, reversed(seen)) if row.last >= 0), -1)
        self._view.minimap.show_place(at, first, last)

    # ---- errors and filters ----------------------------------------------------------------------

    def _jump_to_error(self, back: bool, *_: object) -> None:
        """Go to the next (or previous) error, round the end."""
        here, items = self._here(), self._model.active.model.errors()
        after = [item for item in items if (item < here if back else item > here)]
        if items:
            self._go_to_item((after or items)[-1 if back else 0])

    def _here(self) -> int:
        row = self._view.list.currentIndex().row()
        return self._model.rows[row].first if 0 <= row < len(self._model.rows) else -1

    def _on_filter(self, key: str) -> None:
        self._model.set_view(filter=key)
        self._show_count()
        self._finder.show()
        self._show_step()

    def _on_facets(self, facets: Facets) -> None:
        self._model.set_view(facets=facets)
        self._show_count()
        self._finder.show()
        self._show_step()

    def _on_filters_asked(self, on: bool) -> None:
        if on:
            self._offer_facets()
        elif self._view.filters.facets.count:
            self._view.filters.reset()

    def _offer_facets(self) -> None:
        trajectory = self._model.trajectory
        if trajectory is not None and self._view.filters_button.isChecked():
            self._view.filters.show_choices(choices_of(trajectory, self._model.reader))
            self._on_facets(self._view.filters.facets)

    def _count_facets(self) -> None:
        trajectory = self._model.trajectory
        if trajectory is not None:
            self._view.facets.show_counts(counts_of(trajectory, self._model.reader))

    def _show_count(self) -> None:
        trajectory = self._model.trajectory
        self._counting.start()
        self._view.show_row_count(len(self._model.rows), len(trajectory.steps) if trajectory is not None else 0)
        shown = len(self._model.rows) if self._view.filters.facets.count else 0
        self._view.filters.show_count(shown, len(trajectory.steps) if trajectory is not None else 0)

    def _on_setting(self, key: str) -> None:
        if key == "trajectory.fold_waiting":
            self._model.set_view(folds=bool(self._place.settings.get(key)))

    def _on_worth(self) -> None:
        """What steps were worth is known now, or of others."""
        self._model.active.model.texts.clear()
        self._view.list.viewport().update()

    def _on_link(self) -> None:
        """The name under which the reader judges is known once the server was reached."""
        self._show_face()
        if self._place.blind_reader(self._place.sight.session) != self._model.reader:
            self._show_blind()

    def _show_blind(self) -> None:
        self._model.set_reader(self._place.blind_reader(self._place.sight.session))
        self._finder.find_anew()
        self._counting.start()
        self._show_overview()
        self._show_step()

    def _show_overview(self) -> None:
        self._overview = Overview(self._model.trajectory, self._place.blind_reader(self._place.sight.session))
        self._view.minimap.show_items(self._overview)
