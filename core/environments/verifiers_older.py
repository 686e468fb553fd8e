"""The seat that a session takes in an environment of verifiers' older interface (`load_environment`, before 0.4): its
rows, tools, turns and rubric stay its own. Imported by the worker that plays one, and nowhere else."""

from __future__ import annotations

import contextlib
import inspect
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import verifiers as vf
from openai import BadRequestError
from openai.types.chat import ChatCompletion

from core.aio import TaskScope
from core.domain.errors import InvalidInput
from core.environments.seat import Ended, Seat

_ROW = ("prompt", "answer", "info", "task", "example_id")
"""What a roll-out is told of a row of the data."""


_FULL = "this model's maximum context length is reached"
_REFUSAL: Any = SimpleNamespace(text=_FULL, status_code=400, headers={}, request=None)


class EnvironmentTable:
    """One environment; all sessions of this process that play it share it."""

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self._environment = vf.load_environment(name, **config)
        self._rows = _rows(self._environment)
        self._scope = TaskScope("episodes")

    def task(self, item: int) -> dict[str, Any]:
        """Raises InvalidInput for an item that there is none of."""
        if item >= len(self._rows):
            raise InvalidInput("bad_environment", f"This environment has {len(self._rows):,} rows, so no {item}.")
        return {name: value for name, value in self._rows[item].items() if name in _ROW}

    async def begin(self, task: dict[str, Any]) -> OlderSeat:
        """An episode of a row, as it runs."""
        seat = OlderSeat()
        seat.sit(self._scope.spawn(self._played(task, seat), name="episode"))
        return seat

    async def _played(self, row: dict[str, Any], seat: OlderSeat) -> Any:
        """The state in which it ended, scored."""
        state = await self._environment.rollout(row, _client(seat), "session", {})
        rubric = self._environment.rubric
        waits = {"score_sem": contextlib.nullcontext()} if "score_sem" in inspect.signature(
            rubric.score_rollout).parameters else {}
        await rubric.score_rollout(state, **waits)
        return state


class OlderSeat(Seat):
    """One episode."""

    def __init__(self) -> None:
        super().__init__()
        self._is_stopped = False

    async def create(self, **asked: Any) -> ChatCompletion:
        """The answer to a request, which the environment sends as to OpenAI's client. Raises BadRequestError once there
        is to be no further turn, as an endpoint does whose context is full: with that an environment ends, and is
        scored as it is."""
        message = {} if self._is_stopped else await self.asks(asked)
        if self._is_stopped:
            raise BadRequestError(_FULL, response=_REFUSAL, body=None)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return ChatCompletion.model_validate({
            "id": "session", "object": "chat.completion", "created": 0, "model": "session",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}})

    def stop(self) -> None:
        self._is_stopped = True
        self.answer({"role": "assistant", "content": ""})

    def outcome(self, result: Any) -> Ended:
        if (error := result.get("error")) is not None:
            return Ended(problem=f"{type(error).__name__}: {error}")
        return Ended(result.get("reward"), dict(result.get("metrics") or {}))


def _client(seat: OlderSeat) -> Any:
    """What has the form of OpenAI's client (versions from 0.2 post by hand), in the wrapper of versions from 0.1.10."""
    async def post(path: str, *, body: dict[str, Any], **_: Any) -> SimpleNamespace:
        return SimpleNamespace(content=(await seat.create(**body)).model_dump_json().encode())

    model = SimpleNamespace(chat=SimpleNamespace(completions=seat), post=post)
    return vf.OpenAIChatCompletionsClient(model) if find_spec("verifiers.clients") else model


def _rows(environment: Any) -> Any:
    """The rows to learn from; where there are none, those of evaluation."""
    try:
        return environment.get_dataset()
    except (ValueError, AssertionError):
        return environment.get_eval_dataset()
