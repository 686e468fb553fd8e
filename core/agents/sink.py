"""What actions ask of the agent's side: facts into the journal, waiting, handing in, and the end."""

from datetime import UTC, datetime

from core.actions.sink import WakeReason
from core.agents.journal import Journal
from core.agents.signals import Signals
from core.agents.steps import StepJournal
from core.agents.submissions import Submissions
from core.domain.events import Fact
from core.domain.step import ActionError, Observation, Output, refusal
from core.tasks.scoring import Outcome


class Sink:
    """The agent's side of the actions (`core.actions.sink.ActionSink`)."""

    def __init__(self, journal: Journal, steps: StepJournal, signals: Signals, submissions: Submissions) -> None:
        self._journal, self._steps, self._signals, self._submissions = journal, steps, signals, submissions

    async def emit(self, fact: Fact) -> None:
        """Journal a fact."""
        self._journal.add(fact)

    async def put_blob(self, data: bytes) -> str:
        """Hold a payload."""
        return self._journal.put_blob(data)

    async def wait(self, seconds: float) -> WakeReason:
        """Wait, to be woken by guidance or a control."""
        return await self._signals.wait(seconds)

    async def evaluate(self, step: int) -> Observation:
        """Hand in and score, as far as the limit of evaluations allows."""
        limit = self._steps.limits.evaluations
        if not self._submissions.can_score:
            return refusal("no_evaluator", "This task has no evaluator.")
        if limit is not None and self._steps.progress.evaluations >= limit:
            return refusal("limit_evaluations", f"All {limit} evaluations are used; the run ends here.")
        began = datetime.now(UTC)
        outcome = await self._submissions.hand_in(step)
        used = self._steps.progress.evaluations
        return _score_text(outcome, began, None if limit is None else max(0, limit - used))

    async def finish(self, step: int) -> Observation:
        """The agent says that it is done."""
        return Observation(call_id="", output=Output(text="The task is marked as done."))


def _score_text(outcome: Outcome, began: datetime, left: int | None) -> Observation:
    remaining = "" if left is None else f"\nEvaluations left: {left}."
    ended = datetime.now(UTC)
    if outcome.failed:
        error = ActionError(kind=outcome.reason, message=outcome.message)
        return Observation(call_id="", status="failed", error=error, output=Output(text=remaining.strip()),
                           started_at=began, ended_at=ended)
    parts = "".join(f"\n{name}: {value:g}" for name, value in outcome.parts.items())
    text = f"Score: {outcome.total:g} of 100{parts}\n{outcome.message}{remaining}"
    return Observation(call_id="", output=Output(text=text, total_chars=len(text)), started_at=began, ended_at=ended,
                       data={"score": outcome.total, "parts": outcome.parts})
