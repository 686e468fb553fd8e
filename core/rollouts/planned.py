"""Plays the right commands of an item, where its environment knows them: demonstrations to learn a form from, and the
proof that an item can be done."""

from __future__ import annotations

from datetime import UTC, datetime

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.domain.task import Task
from core.environments.registry import kind_of
from core.llm.model import Completion, LanguageModel, OnText, Request


class PlannedModel(LanguageModel):
    """Answers step N with the N-th command, as a line `Action: …`."""

    name = "plan"

    def __init__(self, task: Task) -> None:
        """Raises InvalidInput (no_plan) where nobody knows the way."""
        kind = kind_of(task.environment) if task.environment is not None else None
        if kind is None or kind.plan is None or task.environment is None:
            raise InvalidInput("no_plan", f"Nothing knows the right commands of {task.id}.")
        self._commands = kind.plan(task.environment)

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The next command. Raises InvalidInput (no_plan) behind the last."""
        now = datetime.now(UTC)
        if request.step > len(self._commands):
            raise InvalidInput("no_plan", "The right commands are all given, and the end did not come.")
        return Completion(message=Message(role="assistant", content=f"Action: {self._commands[request.step - 1]}"),
                          model=self.name, finish_reason="stop", started_at=now, ended_at=now)
