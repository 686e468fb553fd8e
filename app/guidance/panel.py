"""Wires the Guidance panel: into the outbox before the box is cleared; drafts survive a crash."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.link_status import away_since
from app.desk.session_key import id_of, key_of, server_of
from app.desk.session_words import ASKS
from app.desk.workplace import Workplace
from app.guidance.aids import WritingAidsController
from app.guidance.effect import EffectModel
from app.guidance.history import GuidanceHistory
from app.guidance.model import GuidanceLine, GuidanceModel
from app.guidance.view import GuidanceView
from app.kit import quantities
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from core.domain.errors import ReportableError
from core.domain.guidance import GuidanceMode
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.operations import ChangeGuidance, Guide

DRAFT_MS = 300

OWN = ("edit", "withdraw", "again", "template", "find", "find_all", "effect")
"""The actions of the panel, their keys without "guide."."""


def build(place: Workplace, parent: QWidget) -> GuidanceView:
    """The panel, wired."""
    model, effect = GuidanceModel(), EffectModel()
    view = GuidanceView(model, effect, {key: place.actions[f"guide.{key}"] for key in OWN}, parent)
    model.setParent(view)
    effect.setParent(view)
    GuidanceController(place, model, view)
    WritingAidsController(place, model, effect, view)
    return view


class GuidanceController(QObject):
    """Sends, edits and withdraws guidance of the cursor's session."""

    def __init__(self, place: Workplace, model: GuidanceModel, view: GuidanceView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._target: tuple[str, str] | None = ("", "")
        self._storing: set[str] = set()
        self._drafts: dict[str, str] = {}
        self._written: dict[str, str] = {}
        """What was given to the disk: who leaves a session and is back before it is there finds it all the same."""
        self._asked: dict[str, str] = {}
        """Edits that are not decided yet: the message and the text that was typed."""
        self._everywhere = place.actions["guide.find_all"]
        self._timer = single_shot(self, DRAFT_MS, self.save_draft)
        self._history = GuidanceHistory(place.desks, self)
        self._history.read.connect(self._show_history)
        view.set_mode(place.settings.text("guidance.mode"))
        place.cursor.text_offered.connect(self._view.writing.take)
        self._connect()
        if place.sight.session:
            self._on_opened()

    def _connect(self) -> None:
        place, view = self._place, self._view
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._on_grew)
        place.desks.outbox_changed.connect(self._show_queue)
        place.desks.rows_changed.connect(self._show_target)
        place.desks.link_changed.connect(self._say_when)
        place.actions["go.guide"].triggered.connect(view.start_writing)
        view.writing.sent.connect(self._on_sent)
        view.writing.changed.connect(self._on_change)
        view.writing.draft_changed.connect(self._on_draft)
        view.writing.edit_changed.connect(self._on_edit)
        view.queue.step_asked.connect(place.cursor.to_step)
        view.queue.session_asked.connect(place.cursor.move)
        self._everywhere.toggled.connect(self._show_queue)

    @property
    def _session(self) -> str:
        return self._place.sight.session

    def _on_opened(self) -> None:
        session = self._session
        self.save_draft()
        self._everywhere.setChecked(False)
        self._target = None  # another session, perhaps of the same name: what was being edited is not of this one
        self._show_target()
        self._view.writing.busy(session in self._storing)
        self._view.writing.set_draft(self._draft(session) if session else "")
        self._show_queue()
        self._say_when()
        self._resume_edit()

    def _on_grew(self) -> None:
        self._show_queue()
        self._show_target()
        self._say_when()
        self._settle_edits()

    def _show_queue(self, *_: object) -> None:
        desk, session = self._place.sight.desk, self._session
        if self._everywhere.isChecked():
            self._history.start()
        elif session:
            self._model.show(desk.trajectory(session), desk.commands(session))
        else:
            self._model.show(None, ())

    def _show_history(self, lines: list[GuidanceLine]) -> None:
        """What was said to every session, that of the one that is looked at among it."""
        if self._everywhere.isChecked():
            self._model.show_lines(lines)

    def _show_target(self) -> None:
        row = self._place.sight.row
        target = (one_line(row.title or row.session, 60) if row is not None else "", self._why_not(row))
        if target != self._target:
            self._target = target
            self._view.set_target(*target)

    def _why_not(self, row: SessionRow | None) -> str:
        if row is None:
            return ""
        if row.origin != "live":
            return self.tr("This trajectory was imported: nobody is there to be guided.")
        if row.state in FINAL_STATES:
            return self.tr("This session has ended: guidance reaches it no more.")
        return ""

    def _say_when(self) -> None:
        """Under the box: before which step it is read, and that nobody waits."""
        trajectory = self._place.sight.trajectory
        row = self._place.sight.row
        why_not = self._why_not(row)
        if trajectory is None or row is None or why_not or not self._view.box.isEnabled():
            self._view.writing.say_when(why_not if self._view.writing.text else "")  # an empty box says it itself
            return
        if away_since(self._place.sight.desk.link):
            self._view.writing.say_when(self.tr(
                "The server is not reached. What you send waits on this computer, and is sent as soon as it is."))
            return
        if row.reason == ASKS:
            self._view.writing.say_when(self.tr("This refuses what the agent asks leave for, and tells it why."))
            return
        if row.state == "waiting" and row.reason == "guidance":
            self._view.writing.say_when(self.tr("The agent waits for this, and goes on as soon as it has it."))
            return
        if row.held_by:
            self._view.writing.say_when(self._when_held(row.held_by))
            return
        opened = trajectory.open_step
        number = quantities.number((opened.number if opened is not None else row.steps) + 1)
        if row.state == "paused":
            words = self.tr("The session is paused. The agent reads it before step {n}, once it goes on.")
        else:
            words = self.tr("The agent reads it before step {n}. It does not wait for you. "
                            "You can change or withdraw it until then.")
        self._view.writing.say_when(words.format(n=number))

    def _when_held(self, person: str) -> str:
        if person == self._place.sight.desk.name:
            return self.tr("You write the next steps. The agent reads it when you hand back.")
        words = self.tr("{person} writes the next steps. The agent reads it when it goes on itself.")
        return words.format(person=one_line(person, 40))

    def _on_sent(self, text: str, mode: str) -> None:
        session = self._session
        self._timer.stop()
        self._drafts[session] = text
        self.save_draft()  # until the message is in the outbox, whatever happens then
        self._storing.add(session)

        def stored() -> None:
            self._storing.discard(session)
            self._written.pop(session, None)
            if session == self._session:
                self._view.sent_ok(text)

        def failed() -> None:
            self._storing.discard(session)
            if session == self._session:
                self._view.writing.busy(False)

        kind: GuidanceMode = "interrupt" if mode == "interrupt" else "note"
        self._place.sender.send(session, Guide(guidance=new_id(), text=text.strip(), mode=kind), stored=stored,
                                failed=failed, clear_draft=True)

    def _on_change(self, guidance: str, text: str | None) -> None:
        session = self._session
        if text is not None:
            self._asked[guidance] = text
        self._place.sender.send(session, ChangeGuidance(guidance=guidance, text=text),
                                refused=partial(self._on_refused, session, guidance))

    def _on_refused(self, session: str, guidance: str, error: ReportableError) -> None:
        self._place.notices.report(error)
        if session == self._session:
            self._give_back(guidance)
            self._show_queue()

    def _settle_edits(self) -> None:
        """The log decided: an edit that came too late goes back to its writer."""
        logged = self._place.sight.desk.trajectory(self._session).guidance
        for guidance in [g for g in self._asked if g in logged and not logged[g].change]:
            if logged[guidance].text == self._asked[guidance] or logged[guidance].state == "withdrawn":
                del self._asked[guidance]
            elif logged[guidance].refused:
                self._place.notices.tell(self.tr("Too late to change the message: the agent had read it already."),
                                         "attention", self._session)
                self._give_back(guidance)

    def _give_back(self, guidance: str) -> None:
        text = self._asked.pop(guidance, "")
        if text:
            self._view.writing.give_back(text)  # else it stands in the list, to be used again

    def _on_draft(self, text: str) -> None:
        if self._session:
            self._drafts[self._session] = text
            self._timer.start()

    def _on_edit(self, guidance: str, text: str) -> None:
        """A change that is being written survives a crash, too: under a name of its own beside the draft."""
        if self._session:
            self._drafts[_edit_of(self._session)] = f"{guidance}\n{text}" if guidance else ""
            self._timer.start()

    def _resume_edit(self) -> None:
        """Go on with the change that was being written when the window was lost."""
        held = self._draft(_edit_of(self._session)) if self._session else ""
        guidance, _, text = held.partition("\n")
        line = next((x for x in self._model.all if x.id == guidance), None)
        if line is not None and line.changeable:
            self._view.writing.start_editing(line, text)
        elif text:
            self._view.writing.give_back(text)
            self._drafts[_edit_of(self._session)] = ""
            self.save_draft()

    def save_draft(self) -> None:
        """Put what is being written on disk now."""
        drafts, self._drafts = self._drafts, {}
        self._written |= drafts
        for session, text in drafts.items():
            self._place.sender.store_draft(session, text)

    def _draft(self, session: str) -> str:
        written = self._written.get(session)
        return self._place.desks.of(session).draft(session) if written is None else written


def _edit_of(session: str) -> str:
    """Where the change that is being written to a session is stored."""
    return key_of(f"{id_of(session)}#edit", server_of(session))
