"""What the Step panel shows that is no step: the task, a summary, a guidance, a submission, a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from app.desk.row_text import speaker
from app.desk.step_words import UNSCORED, gain_words, rescored_words, unscored_words
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.long_text import Part
from app.kit.safe_text import one_line
from app.step.parts import prose
from core.domain.events import ScoreGiven
from core.domain.guidance import FOREIGN_PERSON, Guidance
from core.domain.request import WHOLE_REQUEST, requested
from core.domain.task import Task
from core.domain.trajectory import Trajectory


class AsideText(msgspec.Struct, frozen=True):
    """A title, what stands beside it, and the text; or the payload that holds it."""

    title: str
    about: str = ""
    parts: Sequence[Part] = ()
    blob: str = ""


def aside_of(trajectory: Trajectory, kind: str, ref: object, *, raw: bool) -> AsideText:
    """A summary, a guidance (by its id), a submission or a score (by its place); `raw`: as it was written."""
    if kind == "summary":
        summary = trajectory.summaries[str(ref)]
        title = translate("Aside", "Summary of steps {first}–{last}")
        return AsideText(title.format(first=summary.first, last=summary.last), "", prose(summary.text, raw=raw))
    if kind == "guidance":
        guidance = trajectory.guidance[str(ref)]
        return AsideText(_whose(guidance), "", prose(guidance.text, raw=raw))
    if kind == "submission":
        return _submission(trajectory, int(str(ref)))
    title, about, text = score_text(trajectory, trajectory.scores[int(str(ref))])
    return AsideText(title, about, prose(text, raw=raw))


def _whose(guidance: Guidance) -> str:
    """What words of a user are, and whose."""
    if guidance.author == FOREIGN_PERSON:
        return translate("Aside", "Person's turn")
    named = translate("Aside", "Guidance of {author}").format(author=one_line(guidance.author, 60))
    return named if guidance.by_person else speaker(guidance)


def task_aside(task: Task, *, raw: bool) -> AsideText:
    """What was asked for; of what a program wrapped around it only when it is wished as it was written."""
    asked = requested(task.description) if len(task.description) <= WHOLE_REQUEST and not raw else ""
    return AsideText(translate("Aside", "Task"), one_line(task.title), prose(asked or task.description, raw=raw))


def _submission(trajectory: Trajectory, at: int) -> AsideText:
    """What was handed in, with the score that it got."""
    handed = trajectory.submissions[at]
    score = next((s for s in trajectory.scores if s.ordinal == handed.ordinal), None)
    about = "" if score is None else translate("Aside", "score {value}").format(value=quantities.score(score.total))
    title = translate("Aside", "Handed in at step {n}").format(n=quantities.number(handed.step))
    gone = Part(text=translate("Aside", "The log does not hold what was handed in."), style="meta")
    return AsideText(title, about, () if handed.blob else (gone,), handed.blob)


def submission_parts(data: bytes) -> list[Part]:
    """What was handed in, whole: a patch in the colours of one."""
    text = data.decode("utf-8", "replace")
    is_patch = text.lstrip().startswith(("diff --git", "--- ", "Index: ", "*** Begin Patch"))
    return [Part(text=text, style="mono", lexer="diff" if is_patch else "")]


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
