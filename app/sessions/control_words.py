"""What pause, resume, interrupt and stop do to the running action and to what runs beside it. Words only."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QCoreApplication

from app.kit import quantities
from core.domain.session import FINAL_STATES, SessionRow


class Confirmation(msgspec.Struct, frozen=True):
    """What is asked before a control is sent: the act, the button, and what it will do."""

    act: str
    button: str
    effect: str


def confirmation_of(control: str, row: SessionRow, running: int | None) -> Confirmation:
    """`running` is the number of the step that is at work; None between two steps, or where nobody works."""
    step = ""
    if running is not None:
        now = QCoreApplication.translate("Controls", "Step {n} is at work now.")
        step = now.format(n=quantities.number(running)) + " "
    act, button, effect = {
        "pause": (QCoreApplication.translate("Controls", "Pause “{title}”?"),
                  QCoreApplication.translate("Controls", "Pause"),
                  QCoreApplication.translate(
                      "Controls", "The running action goes on to its end (a sleep ends at once); then the agent waits "
                      "until it is resumed. What runs in the background goes on.")),
        "interrupt": (QCoreApplication.translate("Controls", "Interrupt the running action of “{title}”?"),
                      QCoreApplication.translate("Controls", "Interrupt"),
                      QCoreApplication.translate(
                          "Controls", "The running command gets Ctrl+C, a sleep ends. The agent sees that it was "
                          "interrupted and goes on with its next step. What runs in the background goes on.")),
        "stop": (QCoreApplication.translate("Controls", "Stop “{title}”?"),
                 QCoreApplication.translate("Controls", "Stop"),
                 QCoreApplication.translate(
                     "Controls", "The running command gets Ctrl+C, and the session ends. Its sandboxes are stopped: "
                     "what runs in the background ends too. Steps and files stay, and it can be resumed.")),
        "resume": _resume(row),
    }[control]
    return Confirmation(act, button, (step if control != "resume" else "") + effect)


def _resume(row: SessionRow) -> tuple[str, str, str]:
    act = QCoreApplication.translate("Controls", "Resume “{title}”?")
    button = QCoreApplication.translate("Controls", "Resume")
    if row.state in FINAL_STATES:
        return act, button, QCoreApplication.translate(
            "Controls", "The session begins to work again after its last step, with its files. Commands and terminals "
            "that ran when it ended are gone; an action that was interrupted is not run again.")
    return act, button, QCoreApplication.translate(
        "Controls", "The agent goes on with its next step. What ran in the background has gone on meanwhile.")
