"""What a score says beside its number: why there is none, what it gains, what an evaluator said of it later."""

from __future__ import annotations

from app.kit import quantities
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from core.domain.events import ScoreGiven
from core.domain.gain import gain_of
from core.domain.trajectory import Trajectory

UNSCORED: dict[str, str] = {
    "evaluator_failed": QT_TRANSLATE_NOOP("Unscored", "The evaluator failed; that is not the agent's doing."),
    "not_handed_in": QT_TRANSLATE_NOOP("Unscored", "There is no complete submission: a file was not handed in."),
    "bad_format": QT_TRANSLATE_NOOP("Unscored", "What was handed in has not the form that was asked for."),
    "submission_too_large": QT_TRANSLATE_NOOP("Unscored", "The submission is larger than may be handed in."),
    "submission_lacks_files": QT_TRANSLATE_NOOP("Unscored", "The evaluator asks for files that were not handed in."),
    "submission_unreadable": QT_TRANSLATE_NOOP("Unscored", "The submission could not be collected."),
}
"""By the reason of a `ScoreGiven`: what went wrong, before the details that its message tells in English."""


def rescored_words(trajectory: Trajectory, ordinal: int) -> str:
    """What the evaluator that scored a submission last says of it; "" where it was scored once."""
    newest = trajectory.newest_rescore(ordinal)
    if newest is None:
        return ""
    if newest.failed:
        return translate("Row", "not scored again")
    return translate("Row", "now {value}").format(value=quantities.score(newest.total))


def unscored_words(score: ScoreGiven) -> str:
    """Why a submission was not scored as it might have been, in the reader's language; "" where an evaluator speaks,
    or a program that gave no reason."""
    known = UNSCORED.get(score.reason)
    return translate("Unscored", known) if known else ""


def gain_words(trajectory: Trajectory, score: ScoreGiven) -> str:
    """How far a score is beyond the best known solution of its task; "" where none is known."""
    gain = gain_of(trajectory.created.task if trajectory.created else None, score)
    if gain is None:
        return ""
    share = f" ({quantities.signed_share(gain.ratio)})" if gain.ratio else ""
    return translate("Row", "gain {gain}").format(gain=f"{quantities.signed(gain.gain, '.4g')}{share}")
