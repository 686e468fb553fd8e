"""Handing in: what lies in the first host is scored out of the agent's reach, and journalled with its outcome."""

import logging
from typing import Protocol

import msgspec

from core.agents.journal import Journal
from core.agents.steps import StepJournal
from core.domain.events import ScoreGiven, SubmissionMade
from core.domain.task import Task
from core.tasks.scoring import Outcome

log = logging.getLogger("agent")


class Scorer(Protocol):
    """What scores a session: the hand-in of its hosts, or the environment that it plays."""

    async def score(self) -> tuple[Outcome, bytes]:
        """The outcome, and what of the submission goes into the log."""


class Submissions:
    """Has submissions scored and journals both."""

    def __init__(self, journal: Journal, steps: StepJournal, task: Task, handing_in: Scorer) -> None:
        self._journal, self._steps, self._task, self._handing_in = journal, steps, task, handing_in

    @property
    def can_score(self) -> bool:
        """Whether the task has an evaluator, or an environment that says what was reached."""
        return bool(self._task.evaluator.script) or self._task.environment is not None

    async def hand_in(self, step: int, *, final: bool = False) -> Outcome:
        """Score what is there now. The run's own final evaluation counts against no limit, a failed one neither."""
        outcome, packed = await self._handing_in.score()
        if outcome.failed:
            log.warning("No score at step %d. %s", step, outcome.message)
        self._store(step, packed, outcome, final)
        return outcome

    def _store(self, step: int, packed: bytes, outcome: Outcome, final: bool) -> None:
        progress = self._steps.progress
        ordinal = progress.submissions + 1
        counted = not final and not outcome.failed
        with self._journal.transaction("score"):
            blob = self._journal.put_blob(packed) if packed else ""
            self._journal.add(SubmissionMade(ordinal=ordinal, step=step, blob=blob))
            self._journal.add(ScoreGiven(ordinal=ordinal, step=step, total=outcome.total, metric=outcome.metric,
                                         parts=outcome.parts, message=outcome.message, failed=outcome.failed,
                                         reason=outcome.reason))
            self._steps.save(msgspec.structs.replace(
                progress, submissions=ordinal, evaluations=progress.evaluations + counted,
                final_scored=progress.final_scored or final))
