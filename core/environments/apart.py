"""Environments that are played in worker processes, so that one whose code does not end holds up nobody but itself.

A worker has several environments and carries one request out after the other. Where an answer does not come in time,
or the process dies, the environment that was asked has failed; the others of that process are begun again in a new one
and their actions played again, for an environment is the same each time.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import msgspec

from core import program
from core.domain.errors import ReportableError, Unavailable
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import EnvironmentSettings, Task
from core.environments.environment import EnvironmentKind
from core.environments.line_tool import LINE_TOOL, read_line_call
from core.environments.play_requests import PlayAct, PlayClose, PlayQuestion, PlayReset, PlayScore, PlaySeen
from core.environments.stem import Forked, Stem
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome
from core.workers.messages import WorkerAnswer, answer_type

RESET_S = 300.0
"""How long a beginning may take, its package's import among it."""

PLACES = 16
"""Environments of a worker before another one starts; then they share all that there are."""

MOST = max(2, min(8, os.cpu_count() or 2))
"""Worker processes."""

_A = TypeVar("_A")


class _Anew(Exception):
    """The process that had the environment is gone, by another's fault: all of it is to be played again."""


class PlayProcess:
    """One worker, asked in turn by a thread of its own; it starts with the first request, and again after its end: as a
    fork of `stem`, else by itself."""

    def __init__(self, stem: Stem | None) -> None:
        self._stem = stem
        self.places: set[int] = set()
        self._life = 0
        """How often it was ended: what it held before is lost."""
        self._busy_with = 0
        self._thread = ThreadPoolExecutor(1, "environments")
        self._process: Spawned | Forked | None = None

    async def ask(self, request: PlayQuestion[_A], within_s: float, life: int | None = None) -> tuple[_A, int]:
        """The answer, and in which life. Raises _Anew where it would not be in `life`, TimeoutError, EOFError where the
        process died meanwhile, and what the environment raises."""
        line, lived = await asyncio.get_running_loop().run_in_executor(
            self._thread, self._answered, request, within_s, life)
        found = msgspec.json.decode(line, type=WorkerAnswer)
        if found.error is not None:
            raise found.error.error
        return msgspec.json.decode(found.ok, type=answer_type(request)), lived

    def give_up(self, place: int) -> None:
        """Whoever asked for a place does not wait any more: where the process is still at it, it is ended."""
        process = self._process
        if self._busy_with == place and process is not None:
            process.kill()

    def close(self) -> None:
        """End the process, also in the middle of an answer."""
        if self._process is not None:
            self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._end()

    def _answered(self, request: PlayQuestion[_A], within_s: float, life: int | None) -> tuple[bytes, int]:
        if self._process is not None and self._process.is_over:
            self._end()
        if life is not None and life != self._life:
            raise _Anew
        self._busy_with = request.place
        try:
            return self._exchange(msgspec.json.encode(request) + b"\n", within_s), self._life
        finally:
            self._busy_with = 0

    def _exchange(self, line: bytes, within_s: float) -> bytes:
        process = self._process = self._process or (self._stem.worker() if self._stem is not None else Spawned())
        is_late = threading.Event()
        watch = threading.Timer(within_s, _end_late, (process, is_late))
        watch.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            found = process.stdout.readline()
        except OSError:
            found = b""
        finally:
            watch.cancel()
        if not found.endswith(b"\n"):
            self._end()
            raise TimeoutError if is_late.is_set() else EOFError
        return found

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            self._life += 1
            process.close()


class Spawned:
    """A worker that begins by itself, as who asks it sees it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(program.command("environments"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         start_new_session=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin, self.stdout = self._process.stdin, self._process.stdout

    @property
    def is_over(self) -> bool:
        """Whether it ended by itself."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End it with the programs that it started, where the system has groups of processes."""
        with contextlib.suppress(OSError):
            if os.name == "posix" and not self.is_over:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """End it, and let go of its ends."""
        self.kill()
        with contextlib.suppress(OSError):
            self._process.communicate()


def _end_late(process: Spawned | Forked, is_late: threading.Event) -> None:
    is_late.set()
    process.kill()


def _name(request: PlayQuestion[_A]) -> str:
    return str(request.__struct_config__.tag)


class _Processes:
    """The workers of this process."""

    def __init__(self) -> None:
        self._all: list[PlayProcess] = []
        self._stems: dict[tuple[str, ...], Stem] = {}
        self._numbers = itertools.count(1)
        atexit.register(self.close)

    def place(self, imports: tuple[str, ...]) -> tuple[PlayProcess, int]:
        """A worker with room, and a number there. A new one has these modules from its beginning."""
        chosen = min(self._all, key=lambda one: len(one.places), default=None)
        if chosen is None or (len(chosen.places) >= PLACES and len(self._all) < MOST):
            chosen = PlayProcess(self._stem(imports))
            self._all.append(chosen)
        number = next(self._numbers)
        chosen.places.add(number)
        return chosen, number

    def close(self) -> None:
        """End them all."""
        for one in self._all:
            one.close()
        for stem in self._stems.values():
            stem.close()

    def _stem(self, imports: tuple[str, ...]) -> Stem | None:
        if not imports or not hasattr(os, "fork"):
            return None
        return self._stems.setdefault(imports, Stem(imports, RESET_S))


@cache
def _processes() -> _Processes:
    return _Processes()


class ApartEnvironment:
    """One environment of a worker (`environment.Environment`)."""

    def __init__(self, settings: EnvironmentSettings, kind: EnvironmentKind) -> None:
        self._settings, self._kind = settings, kind
        self._process: PlayProcess | None = None
        self._place, self._life, self._is_lost = 0, 0, False
        self._begin: PlayReset | None = None
        self._played: list[tuple[PlayAct, PlaySeen]] = []
        self._tools: list[ToolSpec] = []
        self._state: bytes | None = None

    def tools(self) -> list[ToolSpec]:
        """As it last said; none before `reset`."""
        return self._tools

    def read(self, call: ToolCall) -> Action:
        """The action of a call; a tool's own arguments are the environment's to judge."""
        if call.name == LINE_TOOL:
            return read_line_call(call)
        name, given, problem = read_arguments(call)
        names = [tool.name for tool in self._tools]
        if not problem and call.name not in names:
            problem = f"There is no tool {name!r}; there is {', '.join(names)}."[:2_000]
        return Action(call_id=call.id, tool=name, arguments=given, malformed=problem)

    async def reset(self, task: Task, seed: int) -> Observation:
        """Begin. Raises InvalidInput, Unavailable."""
        if self._process is None:
            self._process, self._place = _processes().place(self._kind.imports)
        self._played.clear()
        self._begin = PlayReset(place=self._place, settings=self._settings, task=task, seed=seed)
        self._is_lost = False
        return self._took(await self._asked(self._begin)).seen

    async def act(self, action: Action, step: int) -> Observation:
        """Carry an action out. Raises Unavailable."""
        request = PlayAct(place=self._place, action=action, step=step)
        found = self._took(await self._asked(request))
        self._played.append((request, found))
        return found.seen

    async def score(self) -> tuple[Outcome, bytes]:
        """What was reached. Raises Unavailable."""
        found = await self._asked(PlayScore(place=self._place))
        self._state = found.state
        return found.outcome, found.payload

    def state(self) -> bytes | None:
        """As it last was."""
        return self._state

    async def close(self) -> None:
        """Let go of it, also while it still computes; the worker goes on."""
        process, self._process = self._process, None
        if process is not None:
            process.places.discard(self._place)
            process.give_up(self._place)
            with contextlib.suppress(_Anew, EOFError, TimeoutError, ReportableError):
                await process.ask(PlayClose(place=self._place), self._kind.answer_s, self._life)

    async def _asked(self, request: PlayQuestion[_A]) -> _A:
        """The answer, if need be in another process in which all was played again. Raises Unavailable.

        Whoever waited when a process died is tried once more: it may have been another's end that was late.
        """
        deaths = 0
        while True:
            try:
                if self._is_lost and not isinstance(request, PlayReset):
                    await self._play_again()
                return await self._ask(request)
            except _Anew:
                self._is_lost = True
            except EOFError:
                self._is_lost, deaths = True, deaths + 1
                if deaths > 1:
                    raise self._failed(f"its process ended in {_name(request)}") from None

    async def _ask(self, request: PlayQuestion[_A]) -> _A:
        is_reset = isinstance(request, PlayReset)
        within_s, life = (RESET_S, None) if is_reset else (self._kind.answer_s, self._life)
        assert self._process is not None
        try:
            found, self._life = await self._process.ask(request, within_s, life)
        except TimeoutError:
            raise self._failed(f"{_name(request)} did not end within {within_s:g} s") from None
        return found

    async def _play_again(self) -> None:
        """Raises Unavailable (environment_differs) where it is not the same as before."""
        assert self._begin is not None
        self._took(await self._ask(self._begin))
        for request, before in self._played:
            found = self._took(await self._ask(request))
            if (found.seen.output.text, found.seen.done) != (before.seen.output.text, before.seen.done):
                raise Unavailable("environment_differs", f"Step {request.step} has another result when it is played "
                                  "again: what was played cannot be gone on with.", step=request.step)
        self._is_lost = False

    def _took(self, found: PlaySeen) -> PlaySeen:
        self._tools, self._state = found.tools, found.state
        return found

    def _failed(self, why: str) -> Unavailable:
        return Unavailable("environment_failed", f"The environment {self._kind.name} failed: {why}.",
                           kind=self._kind.name)
