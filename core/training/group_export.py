"""Groups of sessions as rows for other programs' reinforcement: the exact sampled ids, which of them the policy wrote,
its log-probabilities then, rewards, advantages and groups.

A session whose context was rewritten has several rows, which share reward and advantage. Actions that a person masked
are no part of any mask. A session in which a person acted in the policy's place is left out: what came of it is not the
policy's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from core.domain.errors import InvalidInput, Unavailable
from core.domain.task import Task
from core.export.judged import decided
from core.export.options import ExportOptions
from core.export.source import LogSource
from core.rollouts.rollout import Rollout, stored_rollout
from core.store import log
from core.store.home import in_place_of
from core.store.sqlite import connect
from core.training.advantages import centred
from core.training.policy_rows import PolicyRow, rows_of

Decode = Callable[[Sequence[int]], str]
"""The text of tokens, for people; "" where no tokenizer is given."""


class Member(NamedTuple):
    """A session of a group with its rows. `group` counts groups, `place` the sessions within, `number` all sessions;
    `advantage` is GRPO's, as `tiphys rl` has it."""

    task: Task
    rows: list[PolicyRow]
    group: int
    place: int
    number: int
    advantage: float
    is_cut: bool
    """It ended because its steps were used up."""


class GroupExport(msgspec.Struct, frozen=True, kw_only=True):
    """What an export of groups wrote and left out."""

    format: str
    file: str
    rows: int
    sessions: int
    groups: int
    taken_over: int = 0
    without_score: int = 0
    without_tokens: int = 0


class LeftOut(NamedTuple):
    """How many sessions cannot be learnt from: a person acted in them, or they have no score, or no tokens."""

    taken_over: int = 0
    without_score: int = 0
    without_tokens: int = 0


def members_of(db: Path, sessions: Sequence[str]) -> tuple[list[Member], LeftOut]:
    """The sessions of a log that can be learnt from, in the order given, and how many cannot.

    Raises NotFound for a session that is not there, InvalidInput for tokens that cannot be used.
    """
    played: list[tuple[Rollout, list[PolicyRow]]] = []
    left_out: Counter[str] = Counter()
    with closing(connect(db, readonly=True)) as conn, closing(LogSource(db)) as source:
        for name in sessions:
            one = stored_rollout(conn, name)
            rows = rows_of(one, one.group or name, _masked(source, name))
            if why := _why_not(one, rows):
                left_out[why] += 1
            else:
                played.append((one, rows))
    return _members(played), LeftOut(**left_out)


def _why_not(one: Rollout, rows: Sequence[PolicyRow]) -> str:
    if one.people:
        return "taken_over"
    return "without_score" if one.score is None else "" if rows else "without_tokens"


def sessions_in(db: Path) -> list[str]:
    """Every session of a log, the oldest first."""
    with closing(connect(db, readonly=True)) as conn:
        return sorted(row.session for row in log.rows(conn))


def _masked(source: LogSource, session: str) -> set[int]:
    judged = [entry for entry in source.trajectory(session).steps if entry.verdicts]
    return {entry.head.number for entry in judged if decided(entry, ExportOptions()) == "mask"}


def _members(played: Sequence[tuple[Rollout, list[PolicyRow]]]) -> list[Member]:
    everything = [row for _, rows in played for row in rows]
    advantages = centred(everything, {row.session: row.reward for row in everything}, scaled=True)
    groups: dict[str, int] = {}
    places: dict[str, int] = {}
    found = []
    for number, (one, rows) in enumerate(played):
        name = rows[0].group
        place = places[name] = places.get(name, -1) + 1
        group = groups.setdefault(name, len(groups))
        found.append(Member(one.task, rows, group, place, number, advantages[one.session], one.reason == "limit_steps"))
    return found


def write_groups(form: str, db: Path, sessions: Sequence[str], target: Path, decode: Decode) -> GroupExport:
    """Write the sessions' rows as JSON lines, under the file's name once they are whole.

    Raises NotFound, InvalidInput (nothing_to_export), Unavailable (cannot_write).
    """
    members, left_out = members_of(db, sessions)
    if not members:
        raise InvalidInput("nothing_to_export", f"None of the {len(sessions)} sessions is a policy's own with both a "
                           f"score and its tokens ({left_out.without_score} have no score, {left_out.without_tokens} "
                           f"no tokens, in {left_out.taken_over} a person acted).")
    rows = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(target) as part, part.open("wb") as file:
            for member in members:
                for record in GROUP_FORMS[form].encode(member, decode):
                    file.write(msgspec.json.encode(record) + b"\n")
                    rows += 1
    except OSError as error:
        raise Unavailable("cannot_write", f"{target} cannot be written: {error.strerror}.", path=str(target)) from error
    return GroupExport(format=form, file=str(target), rows=rows, sessions=len(members),
                       groups=len({m.group for m in members}), **left_out._asdict())


# ---- forms -----------------------------------------------------------------------------------------


class GroupForm(NamedTuple):
    """How a session is written for an engine, and what reads it."""

    encode: Callable[[Member, Decode], Iterator[dict[str, Any]]]
    reader: str


def _trained(row: PolicyRow) -> np.ndarray:
    return row.own & ~row.blocked


def _begin(row: PolicyRow) -> int:
    """Where the policy first wrote: before it is the prompt."""
    return int(np.flatnonzero(row.own)[0])


def _trl(member: Member, decode: Decode) -> Iterator[dict[str, Any]]:
    for row in member.rows:
        yield {"prompt": [], "completion": [], "input_ids": row.ids.tolist(),
               "completion_mask": _trained(row).astype(int).tolist(), "old_log_probs": row.old.tolist(),
               "advantage": member.advantage, "model_version": row.version, "group_id": member.group,
               "metrics": {"reward": row.reward}}


def _verl(member: Member, decode: Decode) -> Iterator[dict[str, Any]]:
    for row in member.rows:
        at = _begin(row)
        yield {"prompt_ids": row.ids[:at].tolist(), "response_ids": row.ids[at:].tolist(),
               "response_mask": _trained(row)[at:].astype(int).tolist(), "response_logprobs": row.old[at:].tolist(),
               "reward_score": row.reward, "num_turns": len(set(row.steps[row.own].tolist())), "metrics": {},
               "extra_fields": {"uid": row.group, "session": row.session, "policy_version": row.version}}


def _skyrl(member: Member, decode: Decode) -> Iterator[dict[str, Any]]:
    for row in member.rows:
        at = _begin(row)
        rewards = np.zeros(row.ids.size - at)
        rewards[np.flatnonzero(row.own)[-1] - at] = row.reward
        yield {"prompt_token_ids": row.ids[:at].tolist(), "response_ids": row.ids[at:].tolist(),
               "rewards": rewards.tolist(), "loss_masks": _trained(row)[at:].astype(int).tolist(),
               "rollout_logprobs": row.old[at:].tolist(), "stop_reasons": "length" if member.is_cut else "stop",
               "trajectory_ids": {"instance_id": row.group, "repetition_id": member.place},
               "is_last_step": row is member.rows[-1]}


def _slime(member: Member, decode: Decode) -> Iterator[dict[str, Any]]:
    for row in member.rows:
        at = _begin(row)
        yield {"group_index": member.group, "index": member.number, "rollout_id": member.number,
               "prompt": decode(row.ids[:at].tolist()), "tokens": row.ids.tolist(),
               "response": decode(row.ids[at:].tolist()), "response_length": int(row.ids.size - at),
               "reward": row.reward, "loss_mask": _trained(row)[at:].astype(int).tolist(),
               "rollout_log_probs": row.old[at:].tolist(), "weight_versions": [str(row.version)],
               "status": "truncated" if member.is_cut else "completed", "session_id": row.session,
               "metadata": {"task": member.task.title}}


def _verifiers(member: Member, decode: Decode) -> Iterator[dict[str, Any]]:
    """One trace a session: each row is a path of its own, a message for each prompt and each answer."""
    nodes: list[dict[str, Any]] = []
    for row in member.rows:
        parent: int | None = None
        for first, last, is_own in _stretches(row):
            ids, role = row.ids[first:last].tolist(), "assistant" if is_own else "user"
            nodes.append({"parent": parent, "message": {"role": role, "content": decode(ids)}, "sampled": is_own,
                          "token_ids": ids, "mask": _trained(row)[first:last].tolist(),
                          "logprobs": row.old[first:last][_trained(row)[first:last]].tolist()})
            if is_own:
                nodes[-1]["advantages"] = [member.advantage] * len(nodes[-1]["logprobs"])
            parent = len(nodes) - 1
    head = member.rows[0]
    yield {"version": 1, "id": head.session, "verifiers": {"version": "0.4.0"},
           "task": {"type": "Task", "key": head.group, "data": {"id": member.task.id, "name": member.task.title,
                                                               "prompt": member.task.description}},
           "agent": {"config": {}, "name": "tiphys"}, "nodes": nodes, "rewards": {"score": {"score": head.reward}},
           "metrics": {"policy_version": head.version}, "is_completed": True, "ok": True,
           "stop_condition": "max_turns" if member.is_cut else "done"}


def _stretches(row: PolicyRow) -> Iterator[tuple[int, int, bool]]:
    """The prompts and answers of a row, each as its first token, the one behind its last, and whether it is own."""
    edges = np.flatnonzero((np.diff(row.own.astype(int)) != 0) | (np.diff(row.steps) != 0)) + 1
    bounds = [0, *edges.tolist(), row.ids.size]
    for first, last in pairwise(bounds):
        yield first, last, bool(row.own[first])


GROUP_FORMS: dict[str, GroupForm] = {
    "trl-async": GroupForm(_trl, "RolloutSample of trl.experimental.async_grpo (TRL 1.16)"),
    "verl": GroupForm(_verl, "AgentLoopOutput of verl.experimental.agent_loop (verl 0.9.1)"),
    "skyrl": GroupForm(_skyrl, "an entry of each list of GeneratorOutput (SkyRL 0.3)"),
    "slime-rollout": GroupForm(_slime, "Sample.from_dict of slime.utils.types"),
    "verifiers": GroupForm(_verifiers, "WireTrace of verifiers.v1 (0.4.0)"),
}
