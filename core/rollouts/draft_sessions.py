"""Generated tasks by a model: each draft is an ordinary session in which a model calls one tool for each phase; what
passed all gates is tried by a policy, each attempt a session, too."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from core.domain.drafts import PHASES
from core.domain.errors import InvalidInput
from core.domain.ids import new_id
from core.domain.message import Message
from core.domain.task import AgentSettings, EnvironmentSettings, Limits, Task
from core.environments.drafting import Drafting
from core.environments.environment import Environment
from core.environments.shell import ShellEnvironment
from core.llm.model import Completion, EndpointError, LanguageModel, OnText, Request
from core.rollouts.roll_out import play_session
from core.rollouts.rollout import Rollout
from core.rollouts.session_log import SessionLog
from core.store.home import resources
from core.tasks.catalogue import Catalogue
from core.tasks.generation.bench import BenchProver, DraftBench
from core.tasks.generation.draft import Draft
from core.tasks.generation.folders import write_own
from core.tasks.generation.generator import Solved
from core.tasks.generation.in_progress import DraftInProgress

FAILURES = 8
"""So many times in a row an endpoint may fail before the run ends: nobody waits beside it as beside a session."""


class PatientModel:
    """A model whose endpoint may fail for a while, and then ends the session; one that refuses ends it at once."""

    def __init__(self, model: LanguageModel) -> None:
        self._model, self.name, self._failures = model, model.name, 0

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer. Raises EndpointError, for which the agent asks again; InvalidInput (policy_refused)."""
        try:
            answer = await self._model.complete(request, on_text)
        except EndpointError as error:
            self._failures += 1
            if error.code == "endpoint_refused" or self._failures >= FAILURES:
                raise InvalidInput("policy_refused", error.sentence) from error
            raise
        self._failures = 0
        return answer

    def count(self, message: Message) -> tuple[int, bool]:
        """The length of a message, as the model counts it."""
        return self._model.count(message)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._model.close()


class SessionDrive:
    """Drives drafts by sessions (`generator.Drive`)."""

    def __init__(self, log: SessionLog, model: LanguageModel, settings: AgentSettings, tries: int) -> None:
        self._log, self._model, self._settings, self._tries = log, PatientModel(model), settings, tries
        self._group, self._titles = new_id(), list[str]()

    async def __call__(self, making: DraftInProgress, bench: DraftBench) -> str:
        """See Drive. Raises InvalidInput (policy_refused) where the endpoint does not answer for long."""
        task = Task(id="write-a-task", title=f"Write a task: draft {making.number}", hosts=(),
                    description=(resources() / "prompts" / "draft_author.md").read_text(encoding="utf-8"),
                    environment=EnvironmentSettings(kind="drafting", item=making.number),
                    limits=Limits(steps=2 * self._tries * len(PHASES), evaluations=None))
        session = await self._played(task, Drafting(making, self._titles))
        self._titles.append(making.record().title)
        return session

    async def _played(self, task: Task, environment: Environment) -> str:
        ended = await play_session(self._log, task, self._settings, lambda: self._model, self._group, environment)
        if ended.reason == "policy_refused":
            raise InvalidInput("policy_refused", f"The author of drafts does not answer; session {ended.session} says "
                               "why.", session=ended.session)
        return ended.session


class SessionSolve:
    """Has a policy try drafts, each attempt a session on the draft's host (`generator.Solve`)."""

    def __init__(self, log: SessionLog, open_model: Callable[[int], LanguageModel], settings: AgentSettings,
                 attempts: int, steps: int) -> None:
        """`open_model` gives the policy for the n-th attempt."""
        self._log, self._open, self._settings = log, open_model, settings
        self._attempts, self._steps = attempts, steps

    async def __call__(self, draft: Draft, bench: DraftBench) -> Solved:
        """See Solve."""
        group, sessions, solved = new_id(), list[str](), 0
        with tempfile.TemporaryDirectory(prefix="attempts-", dir=bench.folder) as place:
            write_own(draft, Path(place) / draft.id)
            catalogue = Catalogue([Path(place)])
            entry = catalogue.find(draft.id)
            task = msgspec.structs.replace(
                entry.task, hosts=(), environment=EnvironmentSettings(kind="shell"),
                limits=Limits(steps=self._steps, evaluations=None))
            for number in range(self._attempts):
                async with BenchProver(entry, catalogue, bench).host() as (host, handing_in):
                    ended = await self._attempt(task, group, number, ShellEnvironment(host, handing_in))
                sessions.append(ended.session)
                solved += ended.score is not None and ended.score >= 100.0
        return Solved(solved=solved, sessions=tuple(sessions))

    async def _attempt(self, task: Task, group: str, number: int, environment: Environment) -> Rollout:
        model = PatientModel(self._open(number))
        return await play_session(self._log, task, self._settings, lambda: model, group, environment)
