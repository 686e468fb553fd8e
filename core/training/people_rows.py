"""What people said in sessions of a policy, as rows: the same answers with and without the advice behind which they
were given, verdicts as numbers, and where branches part. All of it from the log of record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.domain.errors import InvalidInput
from core.domain.trajectory import StepEntry, Trajectory
from core.export.judged import decided
from core.export.options import ExportOptions
from core.export.source import LogSource
from core.llm.model import Request
from core.llm.token_prompt import TokenPrompter, stop_ids
from core.rollouts.rollout import Rollout
from core.training.policy_rows import PolicyRow

ADVICE = "guidance:"
"""What the source of a message of advice begins with (`domain/context.py`)."""

_VALUES = {"mask": -1.0, "keep": 1.0}


class AdvisedRows(NamedTuple):
    """The answer of one step: behind the context that the policy had, and behind the same one without any advice."""

    advised: PolicyRow
    plain: PolicyRow


class PlainContexts:
    """Contexts of a log without what people advised, in a policy's own tokens."""

    def __init__(self, source: LogSource, model: Any, tokenizer: Any) -> None:
        self._source = source
        self._prompter = TokenPrompter(tokenizer, "policy", stop_ids(model, tokenizer))

    def request(self, trajectory: Trajectory, entry: StepEntry) -> Request:
        """A step's context without advice. Raises NotFound for a message that is gone."""
        refs = [ref for ref in trajectory.context(entry.head.number) if not ref.source.startswith(ADVICE)]
        return Request(messages=tuple(self._source.message(ref.hash) for ref in refs),
                       tools=self._source.tools(entry.tools))

    def without_advice(self, rollout: Rollout, group: str) -> list[AdvisedRows]:
        """The answers that were given with advice in sight, each as a pair of rows; a step that somebody masked is left
        out. Raises InvalidInput, NotFound, EndpointError."""
        trajectory = self._source.trajectory(rollout.session)
        found = []
        for entry in trajectory.steps:
            advised = row_of_step(rollout, entry.head.number, group)
            saw_advice = any(ref.source.startswith(ADVICE) for ref in trajectory.context(entry.head.number))
            if advised is not None and saw_advice and decided(entry, ExportOptions()) != "mask":
                answer = advised.ids[advised.own]
                found.append(AdvisedRows(advised, answer_row(self._ids(trajectory, entry), answer.tolist(), advised)))
        return found

    def corrections(self, session: str, group: str, reward: float = 0.0) -> list[PolicyRow]:
        """What people did in the policy's place: each such step as a row, its answer as the template tells it. A step
        that somebody masked is left out. Raises EndpointError, InvalidInput, NotFound."""
        trajectory = self._source.trajectory(session)
        found = []
        for entry in trajectory.steps:
            if entry.head.author and entry.completion is not None and decided(entry, ExportOptions()) != "mask":
                request = self.request(trajectory, entry)
                answer = self._prompter.written_answer(request, self._source.message(entry.completion.hash))
                like = _empty(session, group, entry.head.number, reward)
                found.append(answer_row(self._prompter.prompt(request).ids, answer, like))
        return found

    def _ids(self, trajectory: Trajectory, entry: StepEntry) -> list[int]:
        return self._prompter.prompt(self.request(trajectory, entry)).ids


def _empty(session: str, group: str, step: int, reward: float) -> PolicyRow:
    """A row of one own token, for what an answer is like beside its tokens."""
    own = np.ones(1, bool)
    return PolicyRow(np.zeros(1, np.int64), own, np.zeros(1), np.full(1, step), ~own, session, group, 0, reward)


def row_of_step(rollout: Rollout, step: int, group: str) -> PolicyRow | None:
    """What the policy saw at a step, with the answer to it as its only own tokens; None where it sampled none."""
    for row in rollout.rows:
        steps, own = np.asarray(row.steps), np.asarray(row.is_own, bool)
        mine = own & (steps == step)
        if mine.any():
            end = int(np.flatnonzero(mine)[-1]) + 1
            version = int(np.asarray(row.versions)[mine].min())
            return PolicyRow(np.asarray(row.ids, np.int64)[:end], mine[:end],
                             np.where(mine, np.asarray(row.logprobs, np.float64), 0.0)[:end],
                             np.where(mine, step, -1)[:end], np.zeros(end, bool), rollout.session, group, version,
                             (rollout.score or 0.0) / 100)
    return None


def answer_row(prompt: Sequence[int], answer: Sequence[int], like: PolicyRow) -> PolicyRow:
    """An answer behind another prompt; session, group and step are those of `like`. What the policy thought of it there
    is not known (`old` 0): it is scored anew before it is trained."""
    own = np.concatenate([np.zeros(len(prompt), bool), np.ones(len(answer), bool)])
    ids = np.concatenate([np.asarray(prompt, np.int64), np.asarray(answer, np.int64)])
    step = int(like.steps[like.own][0])
    return like._replace(ids=ids, own=own, old=np.zeros(ids.size), steps=np.where(own, step, -1),
                         blocked=np.zeros(ids.size, bool))


def verdict_values(trajectory: Trajectory) -> dict[int, float]:
    """What was decided on each step that somebody judged: -1 (mask) or 1 (keep)."""
    judged = ((entry.head.number, decided(entry, ExportOptions())) for entry in trajectory.steps if entry.verdicts)
    return {step: _VALUES[outcome] for step, outcome in judged if outcome in _VALUES}


def branch_pairs(branches: Sequence[tuple[Trajectory, float]], gap: float
                 ) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Of the branches of one group, with their rewards (0-1): the step behind which each goes its own way, and the best
    against the worst of those that part at the same step, where they are at least `gap` apart.

    Raises InvalidInput (no_branch) for a session that is none.
    """
    after: dict[str, int] = {}
    rewards: dict[tuple[str, int], dict[str, float]] = {}
    for trajectory, reward in branches:
        branched = trajectory.branched
        if branched is None:
            raise InvalidInput("no_branch", f"Session {trajectory.session} branched off from no other.",
                               session=trajectory.session)
        after[trajectory.session] = branched.step
        rewards.setdefault((branched.parent, branched.step), {})[trajectory.session] = reward
    return after, [pair for one in rewards.values() if (pair := _pair(one, gap))]


def _pair(rewards: Mapping[str, float], gap: float) -> tuple[str, str] | None:
    best, worst = max(rewards, key=lambda s: rewards[s]), min(rewards, key=lambda s: rewards[s])
    return (best, worst) if best != worst and rewards[best] - rewards[worst] >= gap else None
