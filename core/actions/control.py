"""The control family: thinking, waiting, scoring and the end; and two names that older data holds."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import Arguments, Declared, declared
from core.actions.result import ActionFailed, Result
from core.actions.sink import WakeReason
from core.aio import TaskScope
from core.domain.errors import NotFound
from core.domain.step import Observation

LONGEST_SLEEP_S = 1800.0
_WOKEN = {"guidance": "advice came", "job": "a job ended", "interrupt": "you were interrupted",
          "control": "a person changed the session's state"}


class Think(Arguments, frozen=True, kw_only=True):
    """Write down a thought: a plan, a hypothesis, what was learned. Nothing else happens."""

    thought: Annotated[str, Meta(description="The thought.")] = ""


class Sleep(Arguments, frozen=True, kw_only=True):
    """Wait while something works. It ends early when a job ends, any one or one of those named, or advice comes."""

    sleep_time: Annotated[float, Meta(description="Seconds, at most 1800.")] = 10.0
    jobs: Annotated[list[str], Meta(description="Ids of jobs: wake for the first of these alone.", max_length=100)] = []


class Eval(Arguments, frozen=True, kw_only=True):
    """Hand in the present state and have it scored. The number of evaluations is limited."""


class Finish(Arguments, frozen=True, kw_only=True):
    """Say that the task is done. This ends the session."""


class ViewHint(Arguments, frozen=True, kw_only=True):
    """Read the task's hint, where it has one."""


class Null(Arguments, frozen=True, kw_only=True):
    """Nothing."""


async def think(a: Think, bench: Bench) -> Result:
    """Nothing happens."""
    return Result(text="Noted.")


async def sleep(a: Sleep, bench: Bench) -> Result:
    """Wait for the time, advice, or the end of a job."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    seconds = min(max(a.sleep_time, 0.0), LONGEST_SLEEP_S) if a.sleep_time == a.sleep_time else 0.0
    for job in a.jobs:
        if not bench.jobs.knows(job):
            raise ActionFailed("not_found", f"There is no job {job!r} that runs, or whose end is still to be told.",
                               "refused")
    reason = await _first(bench, seconds, a.jobs)
    slept = loop.time() - began
    why = f" and woke because {_WOKEN[reason]}" if reason in _WOKEN else ""
    return Result(text=f"Slept {slept:.1f} s{why}.", data={"slept_s": round(slept, 3), "reason": reason})


async def _first(bench: Bench, seconds: float, jobs: Sequence[str]) -> WakeReason:
    """What ends a sleep first."""
    async with TaskScope("sleep") as scope:  # leaving it cancels the one that comes second
        waiting = scope.spawn(bench.sink.wait(seconds), name="wait")
        job = scope.spawn(bench.jobs.wait_end(jobs), name="job")
        await asyncio.wait({waiting, job}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else "job"


async def evaluate(a: Eval, bench: Bench) -> Observation:
    """Hand in and score."""
    return await bench.sink.evaluate(bench.step)


async def finish(a: Finish, bench: Bench) -> Observation:
    """The end."""
    return await bench.sink.finish(bench.step)


async def view_hint(a: ViewHint, bench: Bench) -> Result:
    """The file hint.md of the workspace, if the task put one there."""
    _, sandbox = bench.host("")
    try:
        data = await sandbox.read_file(bench.path(sandbox, "hint.md"), 1 << 20)
    except NotFound:
        raise ActionFailed("no_hint", "This task has no hint.", "refused") from None
    return Result(text=data.decode("utf-8", "replace"))


async def null(a: Null, bench: Bench) -> Result:
    """The carrier of malformed calls in older data."""
    raise ActionFailed("malformed", "Do nothing. Check the form of your call.", "refused")


ACTIONS = (*declared(think, sleep), Declared("eval", Eval, evaluate), *declared(finish))

UNLISTED = declared(view_hint, null)
