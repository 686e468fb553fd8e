"""A roll-out as its log tells it: what was reached, reward by step, and the rows of its policy's tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.domain.events import Fact, ScoreGiven, SessionCreated, SessionStateChanged, StepAdded, SummaryAdded
from core.domain.sampled import Sampled, TokenRow, decode_sampled, token_rows
from core.domain.step import decode_body
from core.domain.task import Task
from core.store import blobs, log
from core.store.sqlite import Connection


class Rollout(msgspec.Struct, kw_only=True):
    """One session of a policy on a task. `score` is 0 to 100, or None where nothing was scored; `reward` the sum of the
    observations' rewards, `step_rewards` those of each step that had any; `errors` the steps with a failed action.
    `people` says which steps a person wrote in the policy's place, and who. `unsampled` says of steps why their answers
    have no tokens, although there should be some.
    """

    session: str
    group: str
    task: Task
    score: float | None = None
    reward: float = 0.0
    step_rewards: dict[int, float] = {}
    errors: list[int] = []
    steps: int = 0
    state: str = "queued"
    reason: str = ""
    rows: list[TokenRow] = []
    unsampled: dict[int, str] = {}
    people: dict[int, str] = {}

    @property
    def is_whole(self) -> bool:
        """Whether it came to an end of its own, with a score: only then may it be learned from."""
        return self.state == "finished" and self.score is not None

    @property
    def versions(self) -> list[int]:
        """The updates whose weights answered, in order."""
        return sorted({v for row in self.rows for v in row.versions if v >= 0})

    @property
    def tokens(self) -> int:
        """How many tokens the policy sampled."""
        return sum(sum(row.is_own) for row in self.rows)


def stored_rollout(conn: Connection, session: str) -> Rollout:
    """The roll-out of a session as its log tells it now. Raises NotFound for a session that is not there, InvalidInput
    as below."""
    if not log.head(conn, session):
        raise NotFound("no_session", f"There is no session {session}.", session=session)
    facts = (placed.event.fact for placed in log.read_all(conn, session))
    return rollout_of(session, facts, lambda name: blobs.get(conn, name))


def rollout_of(session: str, facts: Iterable[Fact], blob: Callable[[str], bytes]) -> Rollout:
    """The roll-out that a log's facts tell; `blob` gives payloads.

    Raises InvalidInput for a log without a beginning, or with tokens that cannot be used.
    """
    rollout: Rollout | None = None
    samples: list[tuple[int, Sampled]] = []
    for fact in facts:
        if isinstance(fact, SessionCreated):
            rollout = Rollout(session=session, group=fact.group, task=fact.task)
        elif rollout is not None:
            _take(rollout, fact, samples, blob)
    if rollout is None:
        raise InvalidInput("no_beginning", f"The log of session {session} does not say what it was to do.")
    rollout.rows = token_rows(samples)
    return rollout


def _take(rollout: Rollout, fact: Fact, samples: list[tuple[int, Sampled]], blob: Callable[[str], bytes]) -> None:
    match fact:
        case StepAdded(head=head):
            rollout.steps = head.number
            body = decode_body(blob(fact.body))
            rewards = [o.reward for o in body.observations if o.reward is not None]
            if rewards:
                rollout.step_rewards[head.number] = sum(rewards)
                rollout.reward += sum(rewards)
            if head.author:
                rollout.people[head.number] = head.author
            if head.is_error:
                rollout.errors.append(head.number)
            if body.unsampled:
                rollout.unsampled[head.number] = body.unsampled
            if fact.sampled:
                samples.append((head.number, decode_sampled(blob(fact.sampled))))
        case SummaryAdded(sampled=name) if name:
            samples.append((fact.last, decode_sampled(blob(name))))
        case ScoreGiven(failed=False):
            rollout.score = fact.total
        case SessionStateChanged():
            rollout.state, rollout.reason = fact.state, fact.reason
