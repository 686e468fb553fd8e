"""A command that the server would not take, in words: what was asked, and why not."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QCoreApplication

from app.desk.notices import sentence_of
from app.kit.safe_text import one_line
from core.domain.errors import ReportableError
from core.protocol.messages import AddNote, AnyOp, ChangeGuidance, GiveVerdict, Guide, SetTag, TellTime

SHOWN = 240
"""Characters of a text that a notice repeats; the whole of guidance stands in its panel."""


class Refusal(msgspec.Struct, frozen=True):
    """An operation on a session (its key) that was refused."""

    session: str
    op: AnyOp
    error: ReportableError


def words_of(refused: Refusal) -> str:
    """What was not taken, and why; "" for what nobody is bothered with."""
    why, op = sentence_of(refused.error), refused.op
    match op:
        case Guide():
            sentence = QCoreApplication.translate(
                "Refusal", "Your guidance “{text}” was not taken: {why} It stands under Guidance, to be used again.")
        case ChangeGuidance(text=str()):
            sentence = QCoreApplication.translate(
                "Refusal", "Your change to “{text}” was not taken: {why} It stands under Guidance, to be used again.")
        case AddNote():
            sentence = QCoreApplication.translate("Refusal", "Your note “{text}” on step {step} was not taken: {why}")
        case GiveVerdict() | SetTag():
            sentence = QCoreApplication.translate("Refusal", "Your word on step {step} was not taken: {why}")
        case TellTime():
            return ""
        case _:
            return why
    return sentence.format(text=one_line(getattr(op, "text", "") or "", SHOWN), step=getattr(op, "step", ""), why=why)
