"""TaskScope: owns, names and ends asyncio tasks; the only place in the program that starts one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")
OnError = Callable[[BaseException], None]

_log = logging.getLogger("session")


class TaskScope:
    """Tasks that live no longer than their owner.

    A task that fails is logged at once and told to `on_error` (its own, else the scope's); the others go on.
    Used as an async context manager, or closed by `close()`.
    """

    def __init__(self, name: str, on_error: OnError | None = None) -> None:
        self.name = name
        self.on_error = on_error
        """Whom a task is told that failed and has no reader of its own; who shows errors may come later."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def spawn(self, coro: Coroutine[Any, Any, T], *, name: str, on_error: OnError | None = None) -> asyncio.Task[T]:
        """Start a coroutine in the running loop. Raises RuntimeError once the scope is closed."""
        if self._closed:
            coro.close()
            raise RuntimeError(f"The scope {self.name} is closed; {name} cannot start.")
        task = asyncio.get_running_loop().create_task(coro, name=f"{self.name}: {name}")
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, on_error or self.on_error))
        return task

    @property
    def names(self) -> list[str]:
        """What is running, for a person who looks for the cause of a hang."""
        return sorted(task.get_name() for task in self._tasks)

    async def close(self) -> None:
        """Cancel every task and wait until each has ended. May be called again, and from one of the tasks."""
        self._closed = True
        current = asyncio.current_task()
        while others := [task for task in self._tasks if task is not current]:
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=1.0)  # one that swallowed its cancellation is cancelled again

    async def __aenter__(self) -> TaskScope:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _ended(self, task: asyncio.Task[Any], on_error: OnError | None) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        is_refusal = on_error is not None and bool(getattr(error, "sentence", ""))  # its reader is told what it is
        _log.log(logging.WARNING if is_refusal else logging.ERROR, "%s failed: %s", task.get_name(), error,
                 exc_info=None if is_refusal else error)
        if on_error is None:
            return
        try:
            on_error(error)
        except Exception:  # noqa: BLE001 - a broken handler must not hide the error that it was told
            _log.exception("The error handler of %s failed.", task.get_name())
