"""What people said in sessions of an environment, read from the log of a home: all that a run can learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from core.domain.errors import NotFound
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.trajectory import Trajectory
from core.export.source import LogSource
from core.rollouts.rollout import Rollout, stored_rollout
from core.store import log
from core.store.home import Home, write_whole
from core.store.sqlite import Connection, connect
from core.training.people import suffixes
from core.training.people_rows import AdvisedRows, PlainContexts, branch_pairs, row_of_step, verdict_values
from core.training.policy_rows import PolicyRow, load_rows, rows_of, save_rows
from core.training.rl_settings import RlSettings, ranges


class PeopleWords(NamedTuple):
    """Rows of what people did, answers with and without their advice, the suffixes of branches with the pairs that are
    compared, and groups in which somebody judged steps, with the verdicts by session and step. `left_out` counts
    sessions by why they are not learnt from."""

    corrections: list[PolicyRow]
    advised: list[AdvisedRows]
    branches: list[PolicyRow]
    pairs: list[tuple[str, str]]
    judged: list[PolicyRow]
    verdicts: dict[str, dict[int, float]]
    left_out: dict[str, int]

    @property
    def counts(self) -> dict[str, int]:
        """How much there is of each kind: steps, answers, pairs, sessions that somebody judged."""
        return {"corrections": len(self.corrections), "advice": len(self.advised), "branches": len(self.pairs),
                "verdicts": len(self.verdicts)}


class _Session(NamedTuple):
    rollout: Rollout
    trajectory: Trajectory
    corrections: list[PolicyRow]
    advised: list[AdvisedRows]
    verdicts: dict[int, float]
    is_spelled: bool
    """Whether its tokens are those of the run's tokenizer."""


class PeopleSource:
    """The sessions of a run's environment in a home. A session that has not grown is read once."""

    def __init__(self, settings: RlSettings, model: Any, tokenizer: Any) -> None:
        self._settings, self._model, self._tokenizer = settings, model, tokenizer
        self._db = Home(Path(settings.people_from)).server_db
        self._options = dict(option.split("=", 1) for option in settings.options)
        self._held_out = set(ranges(settings.test_items, 0))
        self._read: dict[str, tuple[int, _Session | str]] = {}

    def words(self) -> PeopleWords:
        """What is there now, of the kinds that the run learns from. Raises NotFound where the home has no log,
        InvalidInput and EndpointError for contexts that cannot be told in the model's tokens."""
        if not self._db.is_file():
            raise NotFound("no_sessions_there", f"{self._db.parent} holds no sessions: people_from names a home.")
        with closing(connect(self._db, readonly=True)) as conn, closing(LogSource(self._db)) as source:
            found = [self._known(conn, source, row) for row in log.rows(conn) if row.origin == "live"]
        left_out = Counter(one for one in found if isinstance(one, str))
        sessions = [one for one in found if not isinstance(one, str)]
        spelled = [one for one in sessions if one.is_spelled]
        if "corrections" not in self._settings.people or len(self._settings.people) > 1:
            left_out["other_tokens"] += len(sessions) - len(spelled)
        branches, pairs = self._branches(spelled)
        judged, verdicts = self._judged(spelled)
        return PeopleWords([row for one in sessions for row in one.corrections],
                           [pair for one in spelled for pair in one.advised],
                           branches, pairs, judged, verdicts, +left_out)

    def _known(self, conn: Connection, source: LogSource, row: SessionRow) -> _Session | str:
        seq, found = self._read.get(row.session, (-1, ""))
        if seq != row.seq:
            found = self._session(conn, source, row)
            self._read[row.session] = row.seq, found
        return found

    def _session(self, conn: Connection, source: LogSource, row: SessionRow) -> _Session | str:
        """A session, or why it is left out."""
        if row.state not in FINAL_STATES:
            return "not_over"
        trajectory = source.trajectory(row.session)
        created = trajectory.created
        place = created.task.environment if created is not None else None
        if place is None or place.kind != self._settings.kind or place.options != self._options:
            return "other_environment"
        if place.item in self._held_out:
            return "held_out"
        rollout = stored_rollout(conn, row.session)
        contexts = PlainContexts(source, self._model, self._tokenizer)
        kinds, group = self._settings.people, rollout.group or row.session
        reward = (rollout.score or 0.0) / 100
        return _Session(rollout, trajectory,
                        contexts.corrections(row.session, group, reward) if "corrections" in kinds else [],
                        contexts.without_advice(rollout, group) if "advice" in kinds else [],
                        verdict_values(trajectory) if "verdicts" in kinds else {},
                        self._is_spelled(rollout, trajectory, source))

    def _is_spelled(self, rollout: Rollout, trajectory: Trajectory, source: LogSource) -> bool:
        """Whether the ids that were sampled say what the log says: another model's would teach this one nonsense."""
        size = self._model.config.get_text_config().vocab_size
        if any(max(row.ids, default=0) >= size for row in rollout.rows):
            return False
        for entry in trajectory.steps:
            row = row_of_step(rollout, entry.head.number, "")
            if row is not None and entry.completion is not None:
                text = self._tokenizer.decode(row.ids[row.own].tolist(), skip_special_tokens=True)
                if source.message(entry.completion.hash).content.strip() not in text:
                    return False
        return bool(rollout.rows)

    def _branches(self, sessions: Sequence[_Session]) -> tuple[list[PolicyRow], list[tuple[str, str]]]:
        if "branches" not in self._settings.people:
            return [], []
        own = [one for one in sessions if one.trajectory.branched is not None and _is_own(one)]
        after, pairs = branch_pairs([(one.trajectory, (one.rollout.score or 0.0) / 100) for one in own],
                                    self._settings.gap)
        rows = [row for one in own for row in rows_of(one.rollout, one.rollout.group or one.rollout.session, set())]
        rows = [row for row in suffixes(rows, after) if row.own.any()]
        says = {row.session for row in rows}
        pairs = [pair for pair in pairs if says.issuperset(pair)]
        named = {name for pair in pairs for name in pair}
        return [row for row in rows if row.session in named], pairs

    def _judged(self, sessions: Sequence[_Session]) -> tuple[list[PolicyRow], dict[str, dict[int, float]]]:
        """Groups in which somebody judged, sampled as hot as the run samples: else their ratios would be wrong."""
        heat = self._settings.temperature
        own = [one for one in sessions if _is_own(one) and all(
            row.temperature == heat and row.top_p == 1.0 for row in one.rollout.rows)]
        verdicts = {one.rollout.session: one.verdicts for one in own if one.verdicts}
        groups = {one.rollout.group or one.rollout.session for one in own if one.verdicts}
        rows = [row for one in own if (name := one.rollout.group or one.rollout.session) in groups
                for row in rows_of(one.rollout, name, {step for step, value in one.verdicts.items() if value < 0})]
        return rows, verdicts


def _is_own(one: _Session) -> bool:
    """Whether what came of it is the policy's alone."""
    return one.rollout.is_whole and not one.rollout.people


# ---- for one update ------------------------------------------------------------------------------


def drawn(words: PeopleWords, most: int, seed: Sequence[int]) -> PeopleWords:
    """At most so many rows of each kind; of branches whole pairs, of what was judged whole groups, at least one."""
    dice = np.random.default_rng(list(seed))

    def some(count: int, wanted: int) -> list[int]:
        return sorted(dice.permutation(count)[:wanted].tolist())

    corrections = [words.corrections[at] for at in some(len(words.corrections), most)]
    advised = [words.advised[at] for at in some(len(words.advised), most)]
    pairs = [words.pairs[at] for at in some(len(words.pairs), max(most // 2, 1))]
    compared = {name for pair in pairs for name in pair}
    sizes = Counter(row.group for row in words.judged)
    chosen: set[str] = set()
    for at in dice.permutation(len(sizes)).tolist():
        name = sorted(sizes)[at]
        if not chosen or sum(sizes[one] for one in chosen) + sizes[name] <= most:
            chosen.add(name)
    judged = [row for row in words.judged if row.group in chosen]
    names = {row.session for row in judged}
    return PeopleWords(corrections, advised, [row for row in words.branches if row.session in compared], pairs, judged,
                       {name: given for name, given in words.verdicts.items() if name in names}, words.left_out)


class _Layout(msgspec.Struct, frozen=True):
    """Which rows of a file are what: so many of each kind, in this order; of advice first those with it."""

    corrections: int
    advised: int
    branches: int
    pairs: list[tuple[str, str]]
    verdicts: dict[str, dict[int, float]]
    left_out: dict[str, int]


def save_words(path: Path, words: PeopleWords) -> None:
    """Write what an update learns, last its rows under their name."""
    layout = _Layout(len(words.corrections), len(words.advised), len(words.branches), words.pairs, words.verdicts,
                     words.left_out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path.with_suffix(".json"), msgspec.json.encode(layout))
    save_rows(path, [*words.corrections, *(one.advised for one in words.advised),
                     *(one.plain for one in words.advised), *words.branches, *words.judged])


def load_words(path: Path) -> PeopleWords:
    """What `save_words` wrote."""
    layout = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=_Layout)
    rows = iter(load_rows(path))

    def some(count: int) -> list[PolicyRow]:
        return [next(rows) for _ in range(count)]

    corrections = some(layout.corrections)
    advised, plain = some(layout.advised), some(layout.advised)
    branches = some(layout.branches)
    return PeopleWords(corrections, [AdvisedRows(*one) for one in zip(advised, plain, strict=True)], branches,
                       layout.pairs, list(rows), layout.verdicts, layout.left_out)
