"""Wires the Take over panel: asks for the session, sends what the reader wants done, hands it back."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.bodies import Bodies
from app.desk.notices import sentence_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.docks import show_dock_of
from app.kit.i18n import plural
from app.kit.safe_text import displayable, one_line
from app.takeover.view import TakeoverView
from core.domain.errors import InvalidInput
from core.domain.events import TakenOver
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.tool_form import ToolForm, forms_of, packed_arguments
from core.protocol.operations import Act, HandBack, TakeOver

IDLE_S = 900.0
"""After so long without a word of the reader the agent has the session back."""
AGAIN_S = 120.0
"""Who writes says so as often."""


def build(place: Workplace, parent: QWidget) -> TakeoverView:
    """The panel, wired."""
    view = TakeoverView(place.actions["session.take_over"], place.actions["session.hand_back"], parent)
    TakeoverController(place, view)
    return view


class TakeoverController(QObject):
    """Follows the session in sight: who has it, and what there is to call."""

    def __init__(self, place: Workplace, view: TakeoverView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._bodies: Bodies | None = None
        self._offered: TakenOver | None = None
        self._tools = self._seen = ""
        self._asked = False
        self._sign_at = 0.0
        place.actions["session.take_over"].triggered.connect(self._take_over)
        place.actions["session.hand_back"].triggered.connect(self._hand_back)
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._show_state)
        place.desks.rows_changed.connect(self._show_state)
        view.submitted.connect(self._send_action)
        view.edited.connect(self._say_again)
        self._show_state()

    def _on_opened(self) -> None:
        self._asked = False
        self._show_state()

    def _show_state(self, *_: object) -> None:
        row = self._place.sight.row
        why, mine = self._why_not(row), self._is_mine(row)
        self._place.actions["session.take_over"].setEnabled(not why)
        self._place.actions["session.hand_back"].setEnabled(not why and row is not None and bool(row.held_by))
        if row is None or why or not row.held_by:
            self._forget()
            hint = why or self.tr("The agent works by itself. Take over to write its next actions yourself, and hand "
                                  "back when you are done: it goes on from there.")
            self._view.show_nobody(hint, may_take=not why)
            return
        self._fetch_tools()
        trajectory = self._place.sight.trajectory
        waiting = len(trajectory.asked) if trajectory is not None else 0
        is_new = trajectory is not None and not len(trajectory.steps)
        self._view.show_seen(self._seen if is_new else "")
        self._view.show_holder(self._words(row, mine, waiting), may_act=mine and bool(self._tools))

    def _words(self, row: SessionRow, mine: bool, waiting: int) -> str:
        if not mine:
            return self.tr("{person} writes the next actions.").format(person=one_line(row.held_by, 40))
        if not self._tools:
            return self.tr("Yours as soon as what runs now is over: Interrupt ends it. A model that is being asked is "
                           "cut off.")
        if waiting:
            return self.tr("At work on your action.") if waiting == 1 else self.tr(
                "At work on your action; %Ln more wait(s).", None, plural(waiting - 1))
        words = self.tr("You write step {n}. The agent waits; without a word of yours it goes on in {m} minutes.")
        return words.format(n=quantities.number(row.steps + 1), m=quantities.number(int(IDLE_S // 60)))

    def _why_not(self, row: SessionRow | None) -> str:
        if row is None:
            return self.tr("Choose a session.")
        if row.origin != "live":
            return self.tr("This trajectory was imported: nobody works on it.")
        if row.caller or row.is_outside:
            return self.tr("Nobody can act in the place of this agent.")
        if row.state in FINAL_STATES:
            return self.tr("This session has ended.")
        trajectory = self._place.sight.trajectory
        created = trajectory.created if trajectory is not None else None
        if created is not None and created.agent.kind != "own":
            return self.tr("Nobody can act in the place of this agent.")
        return ""

    def _is_mine(self, row: SessionRow | None) -> bool:
        return row is not None and bool(row.held_by) and row.held_by == self._place.sight.desk.name

    # ---- what there is to call -------------------------------------------------------------------

    def _fetch_tools(self) -> None:
        trajectory = self._place.sight.trajectory
        offered = trajectory.offered if trajectory is not None else None
        if offered == self._offered:
            return
        self._forget()
        self._offered = offered
        if offered is not None:
            self._bodies = Bodies(self._place.sight, [offered.tools, offered.seen], self._show_tools)

    def _forget(self) -> None:
        if self._bodies is not None:
            self._bodies.cancel()
        self._bodies, self._tools, self._offered = None, "", None

    def _show_tools(self, found: Mapping[str, bytes]) -> None:
        if self._offered is None:
            return
        forms: tuple[ToolForm, ...] = ()
        try:
            forms = forms_of(found.get(self._offered.tools, b"[]"))
        except InvalidInput as error:
            self._place.notices.report(error)
        self._tools = self._offered.tools
        self._seen = displayable(found.get(self._offered.seen, b"").decode("utf-8", "replace"))
        self._view.offer(forms)
        self._show_state()
        if self._asked:
            self._asked = False
            self._view.form.start_writing()

    # ---- what the reader wants -------------------------------------------------------------------

    def _take_over(self, *_: object) -> None:
        """Ask for it; who has it already is led to it again."""
        show_dock_of(self._view)
        self._asked = not (self._tools and self._is_mine(self._place.sight.row))
        if not self._asked:
            self._view.form.start_writing()
        self._tell()

    def _hand_back(self, *_: object) -> None:
        self._place.sender.send(self._place.sight.session, HandBack())

    def _tell(self) -> None:
        self._sign_at = monotonic()
        self._place.sender.send(self._place.sight.session, TakeOver(idle_s=IDLE_S))

    def _say_again(self) -> None:
        """Who writes is there, however long it takes."""
        if self._is_mine(self._place.sight.row) and monotonic() - self._sign_at > AGAIN_S:
            self._tell()

    def _send_action(self, tool: str, given: Mapping[str, str], why: str) -> None:
        form = self._view.form.form
        if form is None or form.name != tool:
            return
        try:
            arguments = packed_arguments(form, given)
        except InvalidInput as error:
            self._refuse(form, str(error.params.get("argument", "")), given, sentence_of(error))
            return
        self._sign_at = monotonic()
        self._place.sender.send(self._place.sight.session, Act(tool=tool, arguments=arguments, thought=why),
                                stored=self._view.sent_ok)

    def _refuse(self, form: ToolForm, name: str, given: Mapping[str, str], usual: str) -> None:
        """Say what is wrong with an argument, at its field."""
        kind = next((field.kind for field in form.fields if field.name == name), "")
        text = given.get(name, "").strip()
        words = (usual if not kind else self.tr("“{name}” takes a value of the type {kind}, not “{text}”.") if text else
                 self.tr("“{name}” is empty, and {tool} needs it."))
        self._view.say_problem(words.format(name=one_line(name, 40), kind=kind, text=one_line(text, 40),
                                            tool=one_line(form.name, 40)), name)
