"""What the Step panel says of a score, and of what evaluators that changed said of the same submission later."""

from __future__ import annotations

from collections.abc import Mapping

from app.desk.score_words import UNSCORED, gain_words, rescored_words, unscored_words
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.events import ScoreGiven
from core.domain.trajectory import Trajectory


def score_text(trajectory: Trajectory, score: ScoreGiven) -> tuple[str, str, str]:
    """Title, what stands beside it, and the text."""
    template = (translate("ScoreText", "Submission {n} was not scored") if score.failed else
                translate("ScoreText", "Score {value} of submission {n}"))
    title = template.format(value=quantities.score(score.total), n=score.ordinal)
    words = filter(None, (unscored_words(score), score.message))
    text = "\n".join([*words, *_part_lines(score.parts), *_rescorings(trajectory, score.ordinal)])
    return title, _about(trajectory, score), text


def _about(trajectory: Trajectory, score: ScoreGiven) -> str:
    """What was measured, its gain over the best known solution, and what the score would be now."""
    metric = "" if score.metric is None else translate("ScoreText", "measured {value}").format(
        value=f"{score.metric:g}")
    return " · ".join(filter(None, (metric, gain_words(trajectory, score), rescored_words(trajectory, score.ordinal))))


def _rescorings(trajectory: Trajectory, ordinal: int) -> list[str]:
    """What was said later of a submission, the oldest first; the score above stays as it was given."""
    lines = []
    for one in trajectory.rescored:
        if one.ordinal == ordinal:
            template = (translate("ScoreText", "Not scored by {evaluator}, version {version}")
                        if one.failed else translate(
                            "ScoreText", "Scored again by {evaluator}, version {version}: {value}"))
            head = template.format(evaluator=one_line(one.evaluator, 60), version=one.version,
                                   value=quantities.score(one.total))
            known = translate("Unscored", UNSCORED.get(one.reason, "")) if one.failed else ""
            lines += ["", head, *filter(None, (known, one.message)), *_part_lines(one.parts)]
    return lines


def _part_lines(parts: Mapping[str, float]) -> list[str]:
    return [f"{name}: {value:g}" for name, value in parts.items()]
