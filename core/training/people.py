"""What people said, as losses: advice as a privileged context, takeovers as corrections, branches as preferences of
what followed, verdicts as differences within a group. Each is again a weight per token, or a divergence of two
predictions of the same model.

Self-distillation: SDFT (2601.19897), SDPO (2601.20802). Corrections: DAgger (1011.0686) with the shaped ratio of LUFFY
(2504.14945). Preferences of suffixes: DPO (2305.18290) over what comes behind the common prefix, as Step-DPO has it
(2406.18629).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
import torch.utils.checkpoint

from core.domain.errors import InvalidInput
from core.training.advantages import centred
from core.training.learner import Learner
from core.training.objectives import Weighed, preferred
from core.training.policy_rows import PolicyRow, Reals, by_group, by_session

MOST_OF_OUTCOME = 0.5
"""What verdicts may add to an advantage, as a share of the outcome's: its sign is never theirs to turn."""

Direction = Literal["forward", "reverse"]
"""Of the divergence: from the teacher's prediction (all that it would say) or from the student's (what it says)."""

_AT_ONCE = 1 << 24
"""Scores at once, of the student and of the teacher each."""


def distil(student: Learner, rows: Sequence[PolicyRow], teacher: Learner, advised: Sequence[PolicyRow],
           direction: Direction = "reverse", weight: float = 1.0) -> float:
    """Add the gradient of `weight` times the divergence between what the student predicts without advice and what the
    teacher, often the same model as it is now, predicts with it; the mean over a row's own tokens, then over rows.
    Gives the loss, without its weight.

    `advised[n]` ends in the same own tokens as `rows[n]`, behind a context that holds the advice. The teacher's part
    has no gradient. Raises InvalidInput (bad_pairs) for rows that do not say the same.
    """
    pairs = list(zip(rows, advised, strict=True))
    if any(not np.array_equal(a.ids[a.own], b.ids[b.own]) for a, b in pairs):
        raise InvalidInput("bad_pairs", "A row with advice and its row without do not have the same answer.")
    total = 0.0
    for row, hinted in pairs:
        with torch.no_grad():
            goal = teacher.predictions(hinted)
        states, head = student.states(row), student.head
        share = 1.0 / (len(pairs) * max(states.shape[0], 1))
        loss = share * _divergence(head, states, goal, direction)
        (weight * loss).backward()
        total += float(loss.detach())
    return total


def _divergence(head: Any, states: torch.Tensor, goal: torch.Tensor, direction: Direction) -> torch.Tensor:
    """Σ KL over positions, by pieces whose scores are made again for the gradient."""
    size = max(1, _AT_ONCE // goal.shape[1])

    def piece(some: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        ours = head(some).float().log_softmax(-1)
        first, second = (wanted, ours) if direction == "forward" else (ours, wanted)
        return (first.exp() * (first - second)).sum()

    parts = [torch.utils.checkpoint.checkpoint(piece, states[at : at + size], goal[at : at + size], use_reentrant=False)
             for at in range(0, states.shape[0], size)]
    return torch.stack(parts).sum() if parts else states.sum() * 0.0


def corrected(rows: Sequence[PolicyRow], now: Sequence[Reals], gamma: float) -> Weighed:
    """-π/(π + γ) of every token that a person did instead of the policy (`own` of these rows), the mean over a
    session's tokens, then over sessions.

    What is unlikely by far, and what the policy does already, moves little: the slope by the logarithm is
    γ·π/(π + γ)². With `gamma` 0 it is -log π, supervised training (DAgger).
    """
    sessions = by_session(rows)
    weights, loss = [], 0.0
    tokens = {s: sum(int(rows[at].own.sum()) for at in places) for s, places in sessions.items()}
    for row, lp in zip(rows, now, strict=True):
        share = np.where(row.own, 1.0 / (max(tokens[row.session], 1) * len(sessions)), 0.0)
        chance = np.where(row.own, np.exp(lp), 0.0)
        if gamma:
            weights.append(share * gamma * chance / (chance + gamma) ** 2)
            loss -= float((share * chance / (chance + gamma)).sum())
        else:
            weights.append(share)
            loss -= float((share * lp)[row.own].sum())
    return Weighed(weights, loss)


def suffixes(rows: Sequence[PolicyRow], after: Mapping[str, int]) -> list[PolicyRow]:
    """The rows with only those tokens as own that their session said behind the step at which it branched off; what
    branches share is nobody's choice. Sessions that `after` does not name are left out."""
    return [row._replace(own=row.own & (row.steps > after[row.session])) for row in rows if row.session in after]


def preferred_suffixes(rows: Sequence[PolicyRow], now: Sequence[Reals], reference: Sequence[Reals],
                       pairs: Sequence[tuple[str, str]], beta: float) -> Weighed:
    """DPO on suffixes (`suffixes`): the first session of each pair against the second, without what they share.

    Raises InvalidInput (bad_pairs) where a pair's session has nothing behind its branch.
    """
    tokens = {session: sum(int(rows[at].own.sum()) for at in places) for session, places in by_session(rows).items()}
    if empty := next((s for pair in pairs for s in pair if not tokens.get(s)), None):
        raise InvalidInput("bad_pairs", f"Session {empty} says nothing behind the step at which it branched off.")
    return preferred(rows, now, reference, pairs, beta)


def with_verdicts(rows: Sequence[PolicyRow], verdicts: Mapping[str, Mapping[int, float]], strength: float
                  ) -> list[Reals]:
    """Advantages of every own token: the outcome's (as GRPO's), and `strength` times how much better a step was judged
    than the steps of its group. `verdicts` are -1 (mask) to 1 (keep) by session and step; 0 where nobody spoke.

    Less the group's mean, a judge that masks much moves no more than one that masks little, and a session of many
    steps no more than a short one. Where outcomes differ, verdicts add at most half of the outcome's advantage.
    """
    outcome = centred(rows, {row.session: row.reward for row in rows}, scaled=True)
    means = {name: _mean([verdicts.get(s, {}).get(step, 0.0) for s in members for step in _steps(rows, s)])
             for name, members in by_group(rows).items()}
    found = []
    for row in rows:
        gain, given = outcome[row.session], verdicts.get(row.session, {})
        values = np.array([given.get(int(step), 0.0) for step in row.steps]) - means[row.group]
        extra = strength * values
        if gain:
            extra = np.clip(extra, -MOST_OF_OUTCOME * abs(gain), MOST_OF_OUTCOME * abs(gain))
        found.append(np.where(row.own, gain + extra, 0.0))
    return found


def _steps(rows: Sequence[PolicyRow], session: str) -> list[int]:
    return sorted({int(step) for row in rows if row.session == session for step in row.steps[row.own]})


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
