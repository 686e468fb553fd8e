"""A command that the server would not take, in words: what was asked, and why not."""

from __future__ import annotations

import msgspec

from app.desk.notices import sentence_of
from app.desk.right_words import right_words
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.errors import ReportableError
from core.domain.host_rights import HostRight
from core.protocol import operations

STEP_CHANGED = "step_changed"
"""The server's code for an opinion on what a step says no more."""

SHOWN = 80
"""Characters of a text that a notice repeats; the whole of guidance stands in its panel."""


class Refusal(msgspec.Struct, frozen=True):
    """An operation on a session (its key) that was refused."""

    session: str
    op: operations.AnyOp
    error: ReportableError


def words_of(refused: Refusal) -> str:
    """What was not taken, and why; "" for what nobody is bothered with."""
    why, op = sentence_of(refused.error), refused.op
    match op:
        case operations.Guide():
            sentence = translate(
                "Refusal", "Your guidance “{text}” was not taken: {why} It stands under Guidance, to be used again.")
        case operations.ChangeGuidance(text=str()):
            sentence = translate(
                "Refusal", "Your change to “{text}” was not taken: {why} It stands under Guidance, to be used again.")
        case operations.AddNote():
            sentence = translate("Refusal", "Your remark “{text}” on step {step} was not taken: {why}")
        case operations.GiveVerdict() | operations.SetTag():
            sentence = translate("Refusal", "Your word on step {step} was not taken: {why}")
        case operations.TellTime():
            return ""
        case operations.DeleteSession() if refused.error.code != "deleted_before":  # who asked is told there
            return ""
        case operations.CreateSession() if refused.error.code == "task_not_allowed":
            return _not_allowed(refused.error)
        case _:
            return why
    return sentence.format(text=one_line(getattr(op, "text", "") or "", SHOWN), step=getattr(op, "step", ""), why=why)


def _not_allowed(error: ReportableError) -> str:
    """Names what was asked of the server's computer; a server that says it in another way is quoted."""
    try:
        asks = msgspec.convert(error.params.get("asks"), tuple[HostRight, ...])
    except msgspec.ValidationError:
        return one_line(error.sentence, SHOWN)
    sentence = translate(
        "Refusal", "The task {task} was not started: nobody has allowed it on the server's computer. {rights}")
    return sentence.format(task=one_line(str(error.params.get("task", "")), 80),
                           rights=" ".join(map(right_words, asks[:12])))
