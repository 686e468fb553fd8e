"""Sessions of the ordinary agent as the roll-outs of TRL's GRPOTrainer (its `rollout_func`, TRL 1.16): the policy that
TRL trains plays, TRL learns from the exact tokens, and every session is in a log that people can open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.task import Limits
from core.environments.registry import environment_task
from core.llm.local_policy import LocalPolicy
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.rollout import Rollout
from core.rollouts.session_log import SessionLog, StoreLog
from core.store.home import Home
from core.training.policy_rows import PolicyRow, rows_of


class TrlRollouts:
    """What GRPOTrainer takes as `rollout_func`; its data set's prompts are numbers of items. `score` is its reward
    function: what a session reached (0-1), or None, which TRL leaves out of the group, where it broke or a person
    acted. `log` says where sessions are logged; without it, straight into the home.
    """

    def __init__(self, kind: str, home: str | Path, *, limit: int = 20, max_tokens: int = 64,
                 log: Callable[[], SessionLog] | None = None, **options: str) -> None:
        """`limit` bounds a session's steps, `max_tokens` an answer's tokens. `options` are the environment's."""
        self._kind, self._options, self._limit = kind, options, limit
        self._log = log or (lambda: StoreLog(Home(home)))
        self._agent = msgspec.structs.replace(ROLLOUT_AGENT, model=msgspec.structs.replace(
            ROLLOUT_AGENT.model, max_output_tokens=max_tokens))

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        """Play a session for each prompt. Raises InvalidInput for a session of several rows: TRL takes one each."""
        model = trainer.accelerator.unwrap_model(trainer.model)
        was_training = model.training
        size = trainer.num_generations if was_training else trainer.num_generations_eval
        model.eval()
        try:
            played = asyncio.run(self._played(list(prompts), size, LocalPolicy(
                model, trainer.processing_class, version=trainer.state.global_step, temperature=trainer.temperature,
                most_at_once=len(prompts))))
        finally:
            model.train(was_training)
        rows = [_row(one) for one in played]
        starts = [int(row.own.argmax()) for row in rows]
        return {"prompt_ids": [row.ids[:at].tolist() for row, at in zip(rows, starts, strict=True)],
                "completion_ids": [row.ids[at:].tolist() for row, at in zip(rows, starts, strict=True)],
                "logprobs": [row.old[at:].tolist() for row, at in zip(rows, starts, strict=True)],
                "env_mask": [row.own[at:].astype(int).tolist() for row, at in zip(rows, starts, strict=True)],
                "session": [one.session for one in played],
                "reward": [row.reward if one.is_whole and not one.people else None
                           for one, row in zip(played, rows, strict=True)]}

    @staticmethod
    def score(completions: Sequence[Any], reward: Sequence[float | None], **_: Any) -> list[float | None]:
        """The reward function for the trainer: what each session reached."""
        return list(reward)

    async def _played(self, prompts: list[str], size: int, policy: LocalPolicy) -> list[Rollout]:
        groups = [prompts[at : at + size] for at in range(0, len(prompts), size)]
        if any(set(group) != {group[0]} or len(group) != size for group in groups):
            groups, size = [[prompt] for prompt in prompts], 1
        tasks = [environment_task(self._kind, item=int(group[0]), seed=0, **self._options) for group in groups]
        async with self._log() as log:
            return await roll_out(policy, tasks, group_size=size, log=log, limits=Limits(steps=self._limit),
                                  settings=self._agent, at_once=len(prompts), seed=policy.version, in_step=True)


def _row(one: Rollout) -> PolicyRow:
    """A session's only row, up to the last token that the policy wrote."""
    rows = rows_of(one, one.group, set())
    if len(rows) != 1:
        raise InvalidInput("several_rows", f"Session {one.session} has {len(rows)} rows: its context was rewritten, or "
                           "nothing was sampled. TRL's trainer takes one row a session.", session=one.session)
    end = int(rows[0].own.nonzero()[0][-1]) + 1
    names = ("ids", "own", "old", "steps", "blocked")
    return rows[0]._replace(**{name: getattr(rows[0], name)[:end] for name in names})
