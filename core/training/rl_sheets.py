"""What a person can see of an update: its groups, session beside session, with each step's words and advantage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.training.policy_rows import PolicyRow, Reals, by_session
from core.training.rl_play import Played
from core.workers.reinforcement import GroupSheet, SessionSheet, StepSheet

_MOST_TEXT = 400


def sheets(update: int, rows: Sequence[PolicyRow], used: Sequence[PolicyRow],
           found_out: tuple[Sequence[Reals], Sequence[Reals]] | None, played: Played, tokenizer: Any
           ) -> list[GroupSheet]:
    """The groups that were played for an update, with what is learnt from those that are used: `found_out` holds
    their advantages and entropies by token."""
    trained = {id(row): at for at, row in enumerate(used)}
    nothing = np.zeros(0)
    found: dict[str, list[SessionSheet]] = {}
    for session, places in by_session(rows).items():
        steps: list[StepSheet] = []
        for at in places:
            place = trained.get(id(rows[at]))
            columns = (nothing, nothing) if place is None or found_out is None else (
                found_out[0][place], found_out[1][place])
            steps += _steps(rows[at], columns, played.errors.get(session, []), tokenizer)
        first = rows[places[0]]
        tokens = sum(s.tokens for s in steps)
        mean = sum(s.advantage * s.tokens for s in steps) / max(tokens, 1)
        found.setdefault(first.group, []).append(SessionSheet(
            session=session, reward=first.reward, advantage=round(mean, 5), version=first.version, steps=steps))
    groups = {row.group for row in used}
    return [GroupSheet(update=update, group=name, task=played.titles.get(name, ""), dropped=name not in groups,
                       sessions=members) for name, members in found.items()]


def _steps(row: PolicyRow, columns: tuple[Reals, Reals], errors: Sequence[int], tokenizer: Any) -> list[StepSheet]:
    found = []
    for number in sorted({int(s) for s in row.steps[row.own]}):
        mine = row.own & (row.steps == number)
        advantage, entropy = (float(c[mine].mean()) if c.size else 0.0 for c in columns)
        text = tokenizer.decode(row.ids[mine].tolist(), skip_special_tokens=True)[:_MOST_TEXT]
        found.append(StepSheet(number=number, text=text, tokens=int(mine.sum()), advantage=round(advantage, 5),
                               entropy=round(entropy, 5), log_prob=round(float(row.old[mine].mean()), 5),
                               is_error=number in errors, masked=bool(row.blocked[mine].any())))
    return found
