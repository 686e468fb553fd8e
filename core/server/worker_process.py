"""A worker process of the server's: started with the first question, asked in turn, killed when it does not answer."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

from core.server.service_manager import child_environment
from core.store.home import Home
from core.workers.calls import Calls
from core.workers.messages import A, WorkerRequest


class WorkerProcess:
    """One process at a time. `command` starts it; a line of an answer has at most `max_line` bytes."""

    def __init__(self, home: Home, command: Sequence[str], max_line: int) -> None:
        self._home, self._command, self._max_line = home, command, max_line
        self._process: Process | None = None
        self._calls = Calls()

    async def ask(self, request: WorkerRequest[A], answer_s: float) -> A:
        """The answer; one to a request whose asker left is passed by.

        Raises the ReportableError that the worker answers with; TimeoutError, OSError, EOFError or ValueError where it
        does not answer: then the process has ended, and the next question starts another.
        """
        try:
            async with asyncio.timeout(answer_s):
                return await self._answer(request)
        except (OSError, EOFError, ValueError):  # TimeoutError is an OSError
            await self.close()
            raise

    async def close(self) -> None:
        """End the process, if there is one. Who is cancelled in here may call again: it is known until it has ended."""
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            self._process = None

    async def _answer(self, request: WorkerRequest[A]) -> A:
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._calls.forget()
        self._calls.ask(request, process.stdin.write, answer.set_result,
                        lambda problem: answer.set_exception(problem.error))
        await process.stdin.drain()
        while not answer.done():
            if not (line := await process.stdout.readline()):
                raise EOFError
            self._calls.take(line)
        return answer.result()

    async def _start(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, env=child_environment(self._home.path),
            cwd=self._home.path, limit=self._max_line)
