"""Rolling a policy out: many sessions of the ordinary agent, side by side in this process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from core.agents.playing import play
from core.agents.states import enter, read_progress
from core.aio import TaskScope
from core.domain.errors import InvalidInput, ReportableError
from core.domain.events import SessionCreated
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, Limits, ModelSettings, Task
from core.environments.environment import Environment
from core.environments.registry import with_horizon
from core.llm.model import LanguageModel, Policy
from core.rollouts.batching import Batcher, PolicySession
from core.rollouts.rollout import Rollout, rollout_of
from core.rollouts.session_log import JournaledSession, SessionLog
from core.tasks.task_check import check_task

log = logging.getLogger("agent")

ROLLOUT_AGENT = AgentSettings(model=ModelSettings(kind="policy", actions="react", max_output_tokens=256))
"""How sessions of a roll-out work, unless it is said otherwise."""

OnEnd = Callable[[Rollout], None]
ModelOf = Callable[[Task], LanguageModel]


async def roll_out(policy: Policy | ModelOf, tasks: Sequence[Task], *, log: SessionLog,
                   group_size: int = 1, limits: Limits | None = None, settings: AgentSettings = ROLLOUT_AGENT,
                   at_once: int = 64, seed: int = 0, on_end: OnEnd | None = None, in_step: bool = False
                   ) -> list[Rollout]:
    """Play each task `group_size` times, at most `at_once` sessions side by side; roll-outs in the order of the tasks.

    A `Policy` answers in batches; a model that `policy` gives for a task is asked by its session alone.
    `limits` stand in for the tasks' own. Of the same `seed` a policy that keeps to requests' seeds answers the same.
    `on_end` is called with each roll-out when it is over. `in_step`: each answer waits for all sessions, so that what
    is computed together does not hang on the clock and numbers are the same to the last bit (where all play at once).

    Raises InvalidInput for a task without an environment, and whatever the policy raises that is no trouble of one
    request; what happens to single sessions is their end, which their logs tell.
    """
    for task in tasks:
        if task.environment is None:
            raise InvalidInput("bad_environment", f"Task {task.id} has no environment; roll-outs play in one.")
        check_task(task, settings)
    tasks = [with_horizon(task) for task in tasks]
    runs = [_Run(msgspec.structs.replace(task, limits=limits or task.limits), group, place * group_size + member)
            for place, (task, group) in enumerate((task, new_id()) for task in tasks) for member in range(group_size)]
    return await _Roller(policy, settings, log, at_once, seed, on_end, in_step).all(runs)


class _Run(msgspec.Struct, frozen=True):
    task: Task
    group: str
    number: int


class _Roller:
    """One call of `roll_out`."""

    def __init__(self, policy: Policy | ModelOf, settings: AgentSettings, log: SessionLog, at_once: int,
                 seed: int, on_end: OnEnd | None, in_step: bool) -> None:
        self._policy, self._settings, self._log = policy, settings, log
        self._seed, self._on_end = seed, on_end
        self._room = asyncio.Semaphore(at_once)
        self._running = 0
        self._places: set[JournaledSession] = set()
        is_alone = callable(policy) and not hasattr(policy, "answer")
        self._batcher = None if is_alone else Batcher(cast(Policy, policy), self._asking, in_step=in_step)

    async def all(self, runs: Sequence[_Run]) -> list[Rollout]:
        """The roll-outs in the order of the runs."""
        async with TaskScope("roll-out") as scope:
            if self._batcher is not None:
                scope.spawn(self._batcher.run(), name="policy")
            return list(await asyncio.gather(*(scope.spawn(self._one(run), name=f"session {run.number}")
                                               for run in runs)))

    async def _one(self, run: _Run) -> Rollout:
        async with self._room:
            self._running += 1
            try:
                rollout = await self._played(run)
            finally:
                self._running -= 1
        if self._on_end is not None:
            self._on_end(rollout)
        return rollout

    async def _played(self, run: _Run) -> Rollout:
        return await play_session(self._log, run.task, self._settings, lambda: self._model(run), run.group,
                                  among=self._places)

    def _asking(self) -> int:
        """How many sessions ask the policy; those that a person has taken over do not."""
        return self._running - sum(place.inbox.takeover is not None for place in self._places)

    def _model(self, run: _Run) -> LanguageModel:
        if self._batcher is not None:
            environment = run.task.environment
            what = (run.task.id, environment.item, environment.seed) if environment else run.task.id
            return PolicySession(self._batcher, f"{self._seed} {run.number} {what}")
        return cast(ModelOf, self._policy)(run.task)


async def play_session(log_of: SessionLog, task: Task, settings: AgentSettings, model: Callable[[], LanguageModel],
                       group: str, environment: Environment | None = None,
                       among: set[JournaledSession] | None = None) -> Rollout:
    """Play one session to its end, in what its task names or in an `environment` that is made already.

    `model` gives who answers; what it raises is the session's end, too. It is `among` those that play until then.
    """
    playing = set() if among is None else among
    name = new_id()
    created = SessionCreated(task=task, agent=settings, group=group)
    async with log_of.session(name, created) as place:
        playing.add(place)
        try:
            await play(place.journal, place.inbox, place.signals, task, settings, model(), environment=environment)
        except ReportableError as error:
            log.warning("roll-out %s: %s", name, error.sentence)
            _end(place, error.code, error.sentence)
        except BaseException as error:
            _end(place, "rollout_ended", f"The roll-out ended: {type(error).__name__}")
            raise
        finally:
            playing.discard(place)
        return rollout_of(name, [created, *place.journal.facts()], place.journal.blob)


def _end(place: JournaledSession, reason: str, detail: str) -> None:
    """Tell the end of a session that did not come to one."""
    if read_progress(place.journal).state not in FINAL_STATES:
        enter(place.journal, "failed", reason, detail)
