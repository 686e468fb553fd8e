"""The words for what came of a step: how it or its command failed, what was decided of it, what its score says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.kit import quantities
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.safe_text import one_line
from core.domain.events import ScoreGiven
from core.domain.gain import gain_of
from core.domain.trajectory import Trajectory
from core.domain.verdict import PEOPLE, Verdict, masked_actions, step_outcome

ERRORS: dict[str, str] = {
    "exit_code": QT_TRANSLATE_NOOP("ErrorKind", "exit code"),
    "not_found": QT_TRANSLATE_NOOP("ErrorKind", "not found"),
    "interrupted": QT_TRANSLATE_NOOP("ErrorKind", "interrupted"),
    "timeout": QT_TRANSLATE_NOOP("ErrorKind", "timeout"),
    "killed": QT_TRANSLATE_NOOP("ErrorKind", "killed"),
    "refused": QT_TRANSLATE_NOOP("ErrorKind", "refused"),
    "malformed": QT_TRANSLATE_NOOP("ErrorKind", "malformed call"),
    "failed": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "tool_error": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "cancelled": QT_TRANSLATE_NOOP("ErrorKind", "cancelled"),
    "network": QT_TRANSLATE_NOOP("ErrorKind", "network"),
    "invalid_arguments": QT_TRANSLATE_NOOP("ErrorKind", "wrong arguments"),
    "unknown_tool": QT_TRANSLATE_NOOP("ErrorKind", "unknown tool"),
    "evaluator_failed": QT_TRANSLATE_NOOP("ErrorKind", "evaluator failed"),
    "submission_too_large": QT_TRANSLATE_NOOP("ErrorKind", "submission too large"),
    "submission_unreadable": QT_TRANSLATE_NOOP("ErrorKind", "submission not readable"),
    # what Inspect calls a tool's errors
    "parsing": QT_TRANSLATE_NOOP("ErrorKind", "malformed call"),
    "unicode_decode": QT_TRANSLATE_NOOP("ErrorKind", "not UTF-8"),
    "permission": QT_TRANSLATE_NOOP("ErrorKind", "not permitted"),
    "file_not_found": QT_TRANSLATE_NOOP("ErrorKind", "no such file"),
    "is_a_directory": QT_TRANSLATE_NOOP("ErrorKind", "is a folder"),
    "limit": QT_TRANSLATE_NOOP("ErrorKind", "limit reached"),
    "output_limit": QT_TRANSLATE_NOOP("ErrorKind", "output too long"),
    "approval": QT_TRANSLATE_NOOP("ErrorKind", "not approved"),
    "unknown": QT_TRANSLATE_NOOP("ErrorKind", "unknown error"),
    # what other programs' calls and answers end with
    "denied": QT_TRANSLATE_NOOP("ErrorKind", "not permitted"),
    "rejected": QT_TRANSLATE_NOOP("ErrorKind", "refused"),
    "failure": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "error": QT_TRANSLATE_NOOP("ErrorKind", "failed"),
    "exception": QT_TRANSLATE_NOOP("ErrorKind", "exception"),
    "api_error": QT_TRANSLATE_NOOP("ErrorKind", "model service failed"),
    "model_error": QT_TRANSLATE_NOOP("ErrorKind", "model failed"),
    "agent_error": QT_TRANSLATE_NOOP("ErrorKind", "agent failed"),
    "format_error": QT_TRANSLATE_NOOP("ErrorKind", "malformed answer"),
    "not_finished": QT_TRANSLATE_NOOP("ErrorKind", "not finished"),
    "no_result": QT_TRANSLATE_NOOP("ErrorKind", "no result"),
    "lost": QT_TRANSLATE_NOOP("ErrorKind", "terminal lost"),
}


def author_kind(kind: str) -> str:
    """The word for a kind of author."""
    return {"person": translate("ReviewView", "person"), "rule": translate("ReviewView", "rule"),
            "judge": translate("ReviewView", "judge"), "import": translate("ReviewView", "import")}.get(kind, kind)


def status_word(status: str) -> str:
    """The word for an envelope's status."""
    return {
        "finished": translate("Step", "finished"),
        "running": translate("Step", "running in the background"),
        "timeout": translate("Step", "timeout"),
        "killed": translate("Step", "killed"),
        "refused": translate("Step", "refused"),
        "failed": translate("Step", "failed"),
    }.get(status, status)


def error_word(kind: str) -> str:
    """The word for an error's kind; an unknown one is shown as it is."""
    known = ERRORS.get(kind)
    if known is not None:
        return translate("ErrorKind", known)
    return one_line(kind.replace("_", " "), 24) or translate("Row", "error")


def verdict_state(verdicts: Iterable[Verdict], actions: int) -> str:
    """The sign of what was decided of a step: a person's word, else what a machine proposes, else undecided."""
    given = list(verdicts)
    if not given:  # most steps, and each row that comes into sight asks
        return "undecided"
    people = [v for v in given if v.author.kind in PEOPLE]
    decided = step_outcome(people, actions) if people else "undecided"
    if decided == "partly" or masked_actions(people, actions):
        return "partly"
    if decided in ("keep", "mask"):
        return decided
    if any(v.value == "unsure" for v in people):
        return "unsure"
    proposed = step_outcome(given, actions)
    return f"proposed_{proposed}" if proposed in ("keep", "mask") else "undecided"


def verdict_words(verdicts: Mapping[str, Verdict], actions: int) -> tuple[str, str]:
    """Sign and word of what was decided or proposed of a step of so many actions, with the colour; else empty."""
    state = verdict_state(verdicts.values(), actions)
    if state in ("partly", "undecided") and (masked := masked_actions(verdicts.values(), actions)):
        words = translate("Row", "action {n} masked")
        return "◐ " + words.format(n=", ".join(map(quantities.number, masked))), "attention"
    return {"mask": ("⊘ " + translate("Row", "masked"), "mask"), "keep": ("✓ " + translate("Row", "kept"), "keep"),
            "unsure": ("? " + translate("Row", "unsure"), "attention"),
            "proposed_mask": ("⊘ " + translate("Row", "mask proposed"), "muted"),
            "proposed_keep": ("✓ " + translate("Row", "keep proposed"), "muted")}.get(state, ("", ""))


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
