"""Pause, resume, interrupt, stop: says what each does to the running action before it is done."""

from __future__ import annotations

from functools import partial

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.desk.session_words import ASKS
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.ask import yes_or_no
from app.kit.i18n import translate
from app.kit.safe_text import one_line, plain_tooltip
from app.sessions.thresholds_dialog import ThresholdsDialog, from_settings
from core.domain.attention import Thresholds
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.operations import Control, SetThresholds

CONTROLS = ("pause", "resume", "interrupt", "stop")
POSSIBLE = {
    "pause": ("running", "waiting", "queued"), "resume": ("paused", "failed", "stopped"),
    "interrupt": ("running", "waiting"), "stop": ("queued", "running", "paused", "waiting"),
}
"""In which states an act makes sense."""
OF_SUBAGENTS = ("pause", "resume")
"""What a subagent can be asked by itself."""


class ControlsController(QObject):
    """The acts on the session that is looked at."""

    def __init__(self, place: Workplace, view: QWidget) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        for key in CONTROLS:
            place.actions[f"session.{key}"].triggered.connect(partial(self._ask_control, key))
        place.actions["session.thresholds"].triggered.connect(self._ask_thresholds)
        place.desks.rows_changed.connect(self._enable_actions)
        place.sight.opened.connect(self._enable_actions)
        self._enable_actions()

    def _enable_actions(self, *_: object) -> None:
        row = self._place.sight.row
        live = row is not None and row.origin == "live"
        for key in CONTROLS:
            can = row is not None and live and row.state in POSSIBLE[key] and (not row.caller or key in OF_SUBAGENTS)
            can = can and not (key == "resume" and row is not None and row.reason == ASKS)  # that would be a yes
            self._place.actions[f"session.{key}"].setEnabled(can)
        over = row is None or row.state in FINAL_STATES
        self._place.actions["session.thresholds"].setEnabled(live and not over)

    # ---- controls --------------------------------------------------------------------------------

    def _ask_control(self, control: str, *_: object) -> None:
        row = self._place.sight.row
        if row is None or row.state not in POSSIBLE[control]:
            return
        if control == "stop" or self._place.settings.get("sessions.ask"):
            self._place.scope.spawn(self._confirm(control, row), name=control)
        else:
            self._send(control, row.session)

    async def _confirm(self, control: str, row: SessionRow) -> None:
        asked = confirmation_of(control, row, self._running(row))
        title = asked.act.format(title=one_line(row.title or row.session, 80))
        if await yes_or_no(self._view.window(), title, asked.button, detail=asked.effect):
            self._send(control, row.session)

    def _running(self, row: SessionRow) -> int | None:
        opened = self._place.desks.of(row.session).trajectory(row.session).open_step
        return opened.number if opened is not None and row.state == "running" else None

    def _send(self, control: str, session: str) -> None:
        self._place.sender.send(session, Control(control=control))  # type: ignore[arg-type]

    # ---- thresholds ------------------------------------------------------------------------------

    def _ask_thresholds(self) -> None:
        row = self._place.sight.row
        if row is None:
            return
        now = row.thresholds or Thresholds()
        dialog = ThresholdsDialog(one_line(row.title or row.session, 60), now, from_settings(self._place.settings),
                                  self._view.window())
        dialog.chosen.connect(partial(self._set_thresholds, row.session, now))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _set_thresholds(self, session: str, before: Thresholds, wanted: Thresholds) -> None:
        if wanted != before:
            self._place.sender.send(session, SetThresholds(thresholds=wanted))


def explain(place: Workplace) -> None:
    """Say at each act, where the mouse rests on it, what it does."""
    row = SessionRow(session="")
    for key in CONTROLS:
        words = confirmation_of(key, row, None)
        action = place.actions[f"session.{key}"]
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(plain_tooltip(f"{words.button}{f' ({keys})' if keys else ''}\n{words.effect}"))


class Confirmation(msgspec.Struct, frozen=True):
    """What is asked before a control is sent: the act, the button, and what it will do."""

    act: str
    button: str
    effect: str


def confirmation_of(control: str, row: SessionRow, running: int | None) -> Confirmation:
    """`running` is the number of the step that is at work; None between two steps, or where nobody works."""
    step = ""
    if running is not None:
        step = translate("Controls", "Step {n} is at work now.").format(n=quantities.number(running)) + " "
    act, button, effect = {
        "pause": (translate("Controls", "Pause “{title}”?"),
                  translate("Controls", "Pause"),
                  translate(
                      "Controls", "The running action goes on to its end (a sleep ends at once); then the agent waits "
                      "until it is resumed. What runs in the background goes on.")),
        "interrupt": (translate("Controls", "Interrupt the running action of “{title}”?"),
                      translate("Controls", "Interrupt"), _interrupted(row)),
        "stop": (translate("Controls", "Stop “{title}”?"),
                 translate("Controls", "Stop"),
                 translate(
                     "Controls", "The running command gets Ctrl+C, and the session ends. Its sandboxes are stopped: "
                     "what runs in the background ends too. Steps and files stay, and it can be resumed.")),
        "resume": _resume(row),
    }[control]
    return Confirmation(act, button, (step if control != "resume" else "") + effect)


def _interrupted(row: SessionRow) -> str:
    if row.held_by:
        return translate(
            "Controls", "The running command gets Ctrl+C, a sleep ends. {person} goes on with the next action. "
            "What runs in the background goes on.").format(person=one_line(row.held_by, 40))
    return translate(
        "Controls", "The running command gets Ctrl+C, a sleep ends. The agent sees that it was "
        "interrupted and goes on with its next step. What runs in the background goes on.")


def _resume(row: SessionRow) -> tuple[str, str, str]:
    act = translate("Controls", "Resume “{title}”?")
    button = translate("Controls", "Resume")
    if row.state in FINAL_STATES:
        return act, button, translate(
            "Controls", "The session begins to work again after its last step, with its files. Commands and terminals "
            "that ran when it ended are gone; an action that was interrupted is not run again.")
    return act, button, translate(
        "Controls", "The agent goes on with its next step. What ran in the background has gone on meanwhile.")
