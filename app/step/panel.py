"""Wires the Step panel and its eye: bodies and messages on demand, stale answers dropped."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.cursor import SelectedWords
from app.desk.fetches import AT_ONCE, Fetch
from app.desk.link_status import why_not_here
from app.desk.workplace import Workplace
from app.kit.background import BackgroundWork
from app.step.aside import AsideText, aside_of, submission_parts, task_aside
from app.step.context import ContextModel
from app.step.eye_controller import EyeController
from app.step.heading import StepHeading
from app.step.pictures import Pictures
from app.step.read_step import ReadStep, read_step
from app.step.sampled_parts import SampledBlob
from app.step.view import StepView
from core.domain.trajectory import StepEntry, Trajectory
from core.formats.tools import table_of


def build(place: Workplace, parent: QWidget) -> StepView:
    """The panel, wired."""
    model = ContextModel(parent)
    view = StepView(model, place.actions["view.eye"], place.actions["view.tokens"], parent)
    StepController(place, model, view)
    return view


class StepController(QObject):
    """Shows the cursor's step, at the live tail the newest; or what was opened aside."""

    def __init__(self, place: Workplace, model: ContextModel, view: StepView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._shown: tuple[str, object] = ("", None)
        self._aside: tuple[str, object] | None = None
        self._body: Fetch | None = None
        self._absent = False
        self._data = b""
        self._sampled = SampledBlob(self._draw_again)
        self._heading = StepHeading(place, self)
        self._reading = BackgroundWork(self)
        self._reading.done.connect(self._show_parts)
        self._pictures = Pictures(place, self)
        self._eye = EyeController(place, model, view.eye)
        self._eye_of: tuple[str, object] | None = None
        self._connect()
        self._show_in_sight()

    def _connect(self) -> None:
        place, view = self._place, self._view
        place.sight.stepped.connect(self._on_stepped)
        place.sight.grew.connect(self._show_in_sight)
        place.sight.replaced.connect(self._on_replaced)
        place.cursor.aside_opened.connect(self._on_aside)
        place.cursor.sought_changed.connect(self._on_sought)
        place.desks.link_changed.connect(self._on_link)
        place.queues.blindness_changed.connect(self._show_in_sight)
        place.actions["view.eye"].toggled.connect(self._on_eye)
        place.actions["view.raw"].toggled.connect(self._on_raw)
        place.actions["view.tokens"].toggled.connect(self._on_tokens)
        place.actions["view.in_context"].triggered.connect(self._show_in_context)
        view.moved.connect(self._move_by)
        self._pictures.drawn.connect(view.text.show_picture)
        self._pictures.refused.connect(view.text.show_picture)
        view.text.edit.selectionChanged.connect(self._on_selected)
        view.action_chosen.connect(self._choose_action)
        place.cursor.action_chosen.connect(self._on_action_chosen)

    def _on_stepped(self) -> None:
        self._aside = None
        self._show_in_sight()

    def _on_sought(self) -> None:
        self._view.text.mark(self._place.cursor.sought)

    def _on_aside(self, kind: str, ref: object) -> None:
        self._aside = (kind, ref)
        self._show_in_sight()

    def _on_replaced(self) -> None:
        """The log is read anew: what was opened aside may not be in it yet, or not any more."""
        self._aside = None
        self._forget()

    def _on_selected(self) -> None:
        trajectory = self._place.sight.trajectory
        entry = self._entry(trajectory) if trajectory is not None and self._aside is None else None
        text = self._view.text
        self._place.cursor.selected_words = (
            SelectedWords(entry.head.number, text.selected, text.before_selected) if entry else SelectedWords())

    def _choose_action(self, action: int) -> None:
        """As the key of `review.action` does; the heading that is chosen already chooses the whole step again."""
        if len(self._place.cursor.marks) < 2:
            self._place.cursor.choose_action(0 if action == self._place.cursor.action else action)

    def _on_action_chosen(self) -> None:
        self._view.text.choose(self._place.cursor.action)
        self._show_in_sight()

    def _move_by(self, by: int) -> None:
        self._place.actions["go.next_step" if by > 0 else "go.previous_step"].trigger()

    # ---- what is shown ---------------------------------------------------------------------------

    def _show_in_sight(self) -> None:
        trajectory = self._place.sight.trajectory
        if trajectory is None or not trajectory.seq:
            self._forget()
            self._view.faces.show_content(False)
        elif self._aside is not None:
            self._show_aside(trajectory, *self._aside)
        else:
            entry = self._entry(trajectory)
            if entry is not None:
                self._show_step(trajectory, entry)
            else:
                self._show_task(trajectory)

    def _entry(self, trajectory: Trajectory) -> StepEntry | None:
        step = self._place.sight.step
        if step is None:
            return trajectory.steps[-1] if trajectory.steps else None
        index = trajectory.index_of(step)
        return trajectory.steps[index] if index is not None else None

    def _show_step(self, trajectory: Trajectory, entry: StepEntry) -> None:
        shown = (f"{trajectory.session}/step", entry.body)
        self._show_head(entry)
        if shown == self._shown:
            self._view.text.mark_remarks(self._heading.remarks(entry, self._data))
            return
        self._forget()
        self._show_head(entry)
        self._sampled.look_at(entry.sampled)
        self._offer_tokens()
        self._shown = shown
        self._absent = False
        self._view.text.placeholder(self._why_not_here())
        self._body = self._place.sight.holder(entry.body).body(entry.body, self._take_body, self._on_absent)
        self._show_eye()

    def _show_head(self, entry: StepEntry) -> None:
        self._view.show_head(*self._heading.of(entry))

    def _offer_tokens(self) -> None:
        """The button where the step has tokens; where they are wished and not there, why."""
        words = self._sampled.words() if self._place.actions["view.tokens"].isChecked() else ""
        self._view.offer_tokens(bool(self._sampled.name), words)

    def _on_absent(self) -> None:
        self._absent = True
        self._view.text.placeholder(self._why_not_here())

    def _on_link(self) -> None:
        """What is on its way with a connection is not without one."""
        if self._body is not None and self._body.is_open:
            self._view.text.placeholder(self._why_not_here())

    def _why_not_here(self) -> str:
        """Why a text is not shown, and what to do."""
        if self._absent:
            return self.tr("The server does not hold this text: it was never sent there, or is gone. What the list "
                           "says about the step is all there is. If you have the file that the session came from, "
                           "open it again.")
        return why_not_here(self._place.sight.desk.link.state) or self.tr("Fetching this step from the server…")

    def _take_body(self, data: bytes) -> None:
        self._data = data
        trajectory, raw = self._place.sight.trajectory, self._raw
        table = table_of(trajectory.created.program if trajectory and trajectory.created else "")
        tokens = b""
        if self._place.actions["view.tokens"].isChecked():
            tokens = self._sampled.read(self._place.sight)
        entry = self._entry(trajectory) if trajectory is not None else None
        refused = entry is not None and entry.head.status == "refused"
        if len(data) + len(tokens) > AT_ONCE:
            self._reading.start(read_step, data, table, raw, tokens, refused)
        else:
            self._show_parts(read_step(data, table, raw, tokens, refused))

    def _show_parts(self, read: ReadStep) -> None:
        trajectory = self._place.sight.trajectory
        self._view.text.show_parts(read.parts)
        entry = self._entry(trajectory) if trajectory is not None and self._aside is None else None
        self._view.text.mark_remarks(self._heading.remarks(entry, self._data) if entry is not None else [])
        self._pictures.show(self._view.text.pictures)
        if entry is not None and read.reward != self._heading.reward:
            self._heading.reward = read.reward
            self._show_head(entry)
        self._offer_tokens()

    @property
    def _raw(self) -> bool:
        """Whether texts are shown as they were written, and not drawn."""
        return self._place.actions["view.raw"].isChecked()

    def _draw_again(self) -> None:
        if self._data and self._shown[0].endswith("/step"):
            self._reading.drop()
            self._take_body(self._data)

    def _on_tokens(self) -> None:
        """The answer as its tokens, or as what it says."""
        if self._shown[0].endswith("/step"):
            self._offer_tokens()
            self._draw_again()

    def _on_raw(self) -> None:
        """Draw what is shown the other way."""
        if self._data and self._shown[0].endswith("/step"):
            self._draw_again()
        elif self._shown[0]:
            self._shown = ("", None)
            self._show_in_sight()

    def _show_aside(self, trajectory: Trajectory, kind: str, ref: object) -> None:
        if kind == "task":
            self._show_task(self._place.sight.desk.trajectory(str(ref)) if ref else trajectory)
            return
        shown = (f"{trajectory.session}/{kind}", (ref, len(trajectory.rescored)) if kind == "score" else ref)
        if shown != self._shown:
            self._show_other(shown, aside_of(trajectory, kind, ref, raw=self._raw))
            if kind != "submission":
                self._show_eye()

    def _show_task(self, trajectory: Trajectory) -> None:
        shown = (f"{trajectory.session}/task", None)
        if shown != self._shown and trajectory.created is not None:
            self._show_other(shown, task_aside(trajectory.created.task, raw=self._raw))
            self._show_eye()

    def _show_other(self, shown: tuple[str, object], aside: AsideText) -> None:
        self._forget()
        self._shown, self._absent = shown, False
        self._view.show_head(aside.title, aside.about)
        if not aside.blob:
            self._view.text.show_parts(aside.parts)
            return
        self._view.text.placeholder(self._why_not_here())
        self._body = self._place.sight.holder(aside.blob).body(
            aside.blob, lambda data: self._view.text.show_parts(submission_parts(data)), self._on_absent)

    def _forget(self) -> None:
        self._shown, self._data, self._heading.reward = ("", None), b"", ""
        self._sampled.look_at("")
        self._view.offer_tokens(False, "")
        self._reading.drop()
        self._eye_of = None
        self._eye.forget()
        if self._body is not None:
            self._body.cancel()

    # ---- the eye ---------------------------------------------------------------------------------

    def _on_eye(self, on: bool) -> None:
        self._show_eye()

    def _show_eye(self) -> None:
        if not self._view.eye_is_open or self._eye_of == self._shown:
            return
        self._eye_of = self._shown
        trajectory = self._place.sight.trajectory
        if trajectory is None:
            return
        if self._aside is not None and self._aside[0] == "summary":
            self._eye.show_summary(trajectory, trajectory.summaries[str(self._aside[1])])
        else:
            self._eye.show_step(trajectory, self._entry(trajectory))

    def _show_in_context(self) -> None:
        """Is what is selected still in the context? Without a selection the box waits for a text."""
        selected = self._view.eye.text.selected if self._view.eye_is_open else self._view.text.selected
        self._place.actions["view.eye"].setChecked(True)
        if selected.strip():
            self._view.eye.presence.ask(selected)
        else:
            self._view.eye.presence.box.setFocus()
