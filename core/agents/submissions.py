"""Handing in: a submission leaves the first host, is scored out of the agent's reach, and both are journalled."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec

from core.agents.journal import Journal
from core.agents.steps import StepJournal
from core.domain.errors import ReportableError
from core.domain.events import ScoreGiven, SubmissionMade
from core.domain.task import Task
from core.sandbox.sandbox import Sandbox
from core.tasks.catalogue import Catalogue
from core.tasks.evaluation import Files, Outcome, evaluate, failed
from core.tasks.folder import read_file
from core.tasks.submission import MAX_STORED, collect, pack

log = logging.getLogger("agent")


class Submissions:
    """Hands submissions in: collects them from the first host, has them scored, journals both."""

    def __init__(self, journal: Journal, steps: StepJournal, task: Task, catalogue: Catalogue, host: Sandbox,
                 fresh: Callable[[], Sandbox] | None, check: Callable[[], None] = lambda: None) -> None:
        """`fresh` makes the sandbox in which the evaluator runs; None: a plain process. `check` raises where the task
        may no longer take what it asks of this computer."""
        self._journal, self._steps, self._task = journal, steps, task
        self._catalogue, self._host, self._fresh, self._check = catalogue, host, fresh, check

    @property
    def can_score(self) -> bool:
        """Whether the task has an evaluator."""
        return bool(self._task.evaluator.script)

    async def hand_in(self, step: int, *, final: bool = False) -> Outcome:
        """Score what is there now. The run's own final evaluation counts against no limit.

        Only what the agent did not hand in scores 0; whatever else goes wrong is a failed evaluation, which says why.
        """
        files: dict[str, bytes] = {}
        try:
            files = await collect(self._host, self._task.evaluator.submission)
        except ReportableError as error:
            outcome = _not_collected(error)
        else:
            outcome = await self._score(files)
        if outcome.failed:
            log.warning("No score at step %d. %s", step, outcome.message)
        self._keep(step, files, outcome, final)
        return outcome

    async def _score(self, files: dict[str, bytes]) -> Outcome:
        evaluator = self._task.evaluator
        try:
            script = read_file(self._catalogue.file(self._task, evaluator.script))
            references = self._catalogue.files(self._task, evaluator.references) if evaluator.references else {}
            self._check()  # after reading: what was read is what was allowed
        except (ReportableError, OSError) as error:
            return failed(f"The evaluator cannot be read: {error}")
        return await evaluate(Files(script=script, submission=files, references=references), evaluator, self._fresh)

    def _keep(self, step: int, files: dict[str, bytes], outcome: Outcome, final: bool) -> None:
        progress = self._steps.progress
        ordinal = progress.submissions + 1
        packed = pack(files) if files else b""
        counted = not final and not outcome.failed
        with self._journal.transaction("score"):
            blob = self._journal.put_blob(packed) if 0 < len(packed) <= MAX_STORED else ""
            self._journal.add(SubmissionMade(ordinal=ordinal, step=step, blob=blob))
            self._journal.add(ScoreGiven(ordinal=ordinal, step=step, total=outcome.total, parts=outcome.parts,
                                         message=outcome.message, failed=outcome.failed, reason=outcome.reason))
            self._steps.save(msgspec.structs.replace(
                progress, submissions=ordinal, evaluations=progress.evaluations + counted,
                final_scored=progress.final_scored or final))


def _not_collected(error: ReportableError) -> Outcome:
    if error.code == "not_handed_in":
        return Outcome(total=0.0, message=f"There is no complete submission: {error.sentence}", reason=error.code)
    reason = "submission_too_large" if error.code == "submission_too_large" else "submission_unreadable"
    return failed(f"The submission was not scored: {error.sentence}", reason)
