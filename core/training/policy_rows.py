"""What a policy did, as rows that it can be trained on: exact ids, its own log-probabilities, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.rollouts.rollout import Rollout

Reals = NDArray[np.float64]


class PolicyRow(NamedTuple):
    """One context of a session as the policy saw and continued it. A session whose context was rewritten has several.

    `own` are the tokens that the policy sampled, `old` their natural log-probabilities then (0 elsewhere), `steps` the
    number of the step that each belongs to (-1: none). `blocked` are own tokens of actions that a person masked.
    `version` is the policy that sampled, as the number of updates that it had seen. `reward` is the session's.
    """

    ids: NDArray[np.int64]
    own: NDArray[np.bool_]
    old: Reals
    steps: NDArray[np.int64]
    blocked: NDArray[np.bool_]
    session: str
    group: str
    version: int
    reward: float


def rows_of(one: Rollout, group: str, masked: set[int]) -> list[PolicyRow]:
    """A session's rows: what the policy itself sampled, with its log-probabilities then."""
    found = []
    for row in one.rows:
        own = np.asarray(row.is_own, dtype=bool)
        if not own.any():
            continue
        steps = np.where(own, np.asarray(row.steps, dtype=np.int64), -1)
        version = min(v for v, is_own in zip(row.versions, row.is_own, strict=True) if is_own)
        found.append(PolicyRow(np.asarray(row.ids, dtype=np.int64), own, np.asarray(row.logprobs, dtype=np.float64),
                               steps, own & np.isin(steps, sorted(masked)), one.session, group, version,
                               (one.score or 0.0) / 100))
    return found


def by_session(rows: Sequence[PolicyRow]) -> dict[str, list[int]]:
    """The places of each session's rows, in their order."""
    found: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        found.setdefault(row.session, []).append(at)
    return found


def by_group(rows: Sequence[PolicyRow]) -> dict[str, dict[str, float]]:
    """The rewards of each group's sessions."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(row.group, {})[row.session] = row.reward
    return found


def informative(rows: Sequence[PolicyRow]) -> list[PolicyRow]:
    """The rows of groups whose sessions did not all come out alike: the others have no advantage to learn from."""
    differs = {name for name, rewards in by_group(rows).items() if len(set(rewards.values())) > 1}
    return [row for row in rows if row.group in differs]


def fresh(rows: Iterable[PolicyRow], version: int, staleness: int) -> list[PolicyRow]:
    """The rows of policies at most `staleness` updates older than `version`. A session counts by its oldest row."""
    rows = list(rows)
    old = {row.session for row in rows if version - row.version > staleness}
    return [row for row in rows if row.session not in old]


class _Names(msgspec.Struct, frozen=True):
    session: str
    group: str
    version: int
    reward: float
    size: int


def save_rows(path: Path, rows: Sequence[PolicyRow]) -> None:
    """Write rows under their name only once they are whole."""
    names = msgspec.json.encode([_Names(r.session, r.group, r.version, r.reward, r.ids.size) for r in rows])
    columns = {k: np.concatenate([getattr(r, k) for r in rows]) if rows else np.zeros(0)
               for k in ("ids", "own", "old", "steps", "blocked")}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, names=np.frombuffer(names, np.uint8), **columns)  # type: ignore[arg-type]
    part.replace(path)


def load_rows(path: Path) -> list[PolicyRow]:
    """The rows of a file that `save_rows` wrote."""
    with np.load(path, allow_pickle=False) as file:
        names = msgspec.json.decode(file["names"].tobytes(), type=list[_Names])
        columns = [file[k] for k in ("ids", "own", "old", "steps", "blocked")]
    ends = np.cumsum([n.size for n in names])
    rows = []
    for name, end in zip(names, ends, strict=True):
        ids, own, old, steps, blocked = (c[end - name.size : end] for c in columns)
        rows.append(PolicyRow(ids, own, old, steps, blocked, name.session, name.group, name.version, name.reward))
    return rows
