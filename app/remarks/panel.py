"""Wires the Remarks panel: lists them, goes to one's words, writes one on what is selected in the Step panel."""

from __future__ import annotations

from functools import partial
from operator import itemgetter

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.bodies import Bodies
from app.desk.cursor import SelectedWords
from app.desk.refusal import STEP_CHANGED, Refusal, words_of
from app.desk.remark_words import words_of_note, writer_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.docks import show_dock_of
from app.kit.entries import EntriesModel, TwoLines
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.remarks.view import RemarksView
from core.domain.anchor import TextAnchor, anchor_of, find, words_pattern
from core.domain.blindness import seen_opinions, seen_remarks
from core.domain.errors import InvalidInput, ReportableError
from core.domain.request import plain_words
from core.domain.step import decode_body
from core.domain.step_entry import Note
from core.domain.trajectory import Trajectory
from core.protocol.operations import AddNote

QUIET_MS = 300


class RemarksPanelController(QObject):
    """What others remark on a step shows to a blind reader once they have decided on it."""

    def __init__(self, place: Workplace, model: EntriesModel, view: RemarksView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._about = "", AddNote(step=0, text="")
        """The session and the remark that is written, without its words."""
        self._body: Bodies | None = None
        self._timer = single_shot(self, QUIET_MS, self._show_remarks)
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._timer.start_once)
        place.queues.blindness_changed.connect(self._show_remarks)
        place.actions["review.remark"].triggered.connect(self._write_remark)
        view.filtered.connect(self._show_remarks)
        view.list.opened.connect(self._go_to)
        view.box.given.connect(self._give_remark)
        self._show_remarks()

    def _on_opened(self) -> None:
        self._view.box.hide()
        self._show_remarks()

    def _show_remarks(self, *_: object) -> None:
        sight = self._place.sight
        reader = self._place.blind_reader(sight.session)
        found = remarks(sight.trajectory, reader, self._view.filter.text()) if sight.trajectory is not None else []
        self._model.show([(one, self._lines(one)) for one in found])
        self._view.show_state(len(found), blind=bool(reader))
        self._view.write.setEnabled(bool(sight.session))

    def _lines(self, remark: Remark) -> TwoLines:
        note = remark.note
        where = self.tr("Step {n}").format(n=quantities.number(remark.step)) if remark.step else self.tr("Session")
        quote = f" “{one_line(plain_words(note.anchor.exact), 120)}”" if note.anchor is not None else ""
        return TwoLines(title=f"{where}{quote}", below=one_line(words_of_note(note), 400), sign="✎", meaning="person",
                        right=f"{writer_of(note)} · {quantities.clock(note.at)}")

    def _go_to(self, remark: Remark) -> None:
        anchor, trajectory = remark.note.anchor, self._place.sight.trajectory
        if remark.step and trajectory is not None:
            self._place.cursor.to_step(remark.step)
            self._place.cursor.seek(None)
            name = trajectory.step(remark.step).body
            if anchor is not None:
                self._body = Bodies(self._place.sight, [name], partial(self._go_to_words, remark.step, anchor, name))

    def _go_to_words(self, step: int, anchor: TextAnchor, name: str, bodies: dict[str, bytes]) -> None:
        """The words, where the step has them still; equal words elsewhere are others."""
        if name not in bodies:
            return
        if find(anchor, decode_body(bodies[name])) is not None:
            self._place.cursor.seek(words_pattern(anchor.exact))
        else:
            gone = self.tr("Step {n} has the words of this remark no more: “{words}”").format(
                n=quantities.number(step), words=one_line(anchor.exact, 80))
            self._place.notices.tell(gone, "attention", self._place.sight.session)

    # ---- writing ---------------------------------------------------------------------------------

    def _write_remark(self, *_: object) -> None:
        """On the words that are selected; without any on the step that is looked at."""
        trajectory, chosen = self._place.sight.trajectory, self._place.cursor.selected_words
        if trajectory is None:
            return
        step = chosen.step if chosen.words.strip() else self._place.sight.step or trajectory.row.steps
        at = trajectory.index_of(step)
        if at is None:
            self._begin(AddNote(step=0, text=""))
        elif not chosen.words.strip():
            self._begin(AddNote(step=step, text="", content=trajectory.steps.at(at).body))
        else:
            name = trajectory.steps.at(at).body
            self._body = Bodies(self._place.sight, [name], partial(self._begin_on, chosen, name))

    def _begin_on(self, chosen: SelectedWords, name: str, bodies: dict[str, bytes]) -> None:
        try:
            anchor = anchor_of(decode_body(bodies[name]), chosen.words, chosen.before)
        except InvalidInput:
            anchor = None
        self._begin(AddNote(step=chosen.step, text="", anchor=anchor, content=name))

    def _begin(self, remark: AddNote) -> None:
        self._about = self._place.sight.session, remark
        n, anchor = remark.step, remark.anchor
        where = self.tr("On step {n}").format(n=quantities.number(n)) if n else self.tr("On the session")
        show_dock_of(self._view)
        self._view.box.write(f"{where}: “{plain_words(anchor.exact)}”" if anchor is not None else where)

    def _give_remark(self, text: str) -> None:
        session, remark = self._about
        op = msgspec.structs.replace(remark, text=text)
        self._place.sender.send(session, op, refused=partial(self._on_refused, session, op))

    def _on_refused(self, session: str, op: AddNote, error: ReportableError) -> None:
        """Words on a step that changed meanwhile stand in the box again, for what it says now."""
        self._place.notices.tell(words_of(Refusal(session, op, error)), "error", session)
        trajectory = self._place.sight.trajectory
        if error.code == STEP_CHANGED and session == self._place.sight.session and trajectory is not None:
            self._begin(msgspec.structs.replace(op, text="", content=trajectory.step(op.step).body))
            if not self._view.box.text.toPlainText().strip():
                self._view.box.text.setPlainText(op.text)


def build(place: Workplace, parent: QWidget) -> RemarksView:
    """The panel, wired."""
    model = EntriesModel(parent)
    view = RemarksView(model, place.actions["review.remark"], parent)
    RemarksPanelController(place, model, view)
    return view


class Remark(msgspec.Struct, frozen=True):
    """A remark and its step; 0: on the session."""

    step: int
    note: Note


def remarks(trajectory: Trajectory, reader: str = "", words: str = "") -> list[Remark]:
    """Those of the session first. `reader`, the key of a blind one, sees what others say of a step once they decided
    on it; `words` must all occur in one."""
    found = [Remark(0, note) for note in seen_remarks(trajectory.notes, reader)]
    remarked = ((at, opinions) for at, opinions in trajectory.steps.opinions.items() if opinions.notes)
    for at, opinions in sorted(remarked, key=itemgetter(0)):
        number = int(trajectory.steps.numbers[at])
        found += [Remark(number, note) for note in seen_opinions(opinions, reader).notes]
    wanted = words.casefold().split()
    return [one for one in found if all(word in _text(one) for word in wanted)]


def _text(remark: Remark) -> str:
    note = remark.note
    return f"{note.text} {note.author.name} {note.anchor.exact if note.anchor else ''}".casefold()
