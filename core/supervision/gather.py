"""What rules may look at, gathered from a session in one reading of its steps."""

from __future__ import annotations

from collections.abc import Callable

from core.domain.step import StepBody
from core.domain.trajectory import Trajectory
from core.formats.tools import table_of
from core.supervision.foreign_tools import Translation
from core.supervision.rule import LIVE, Evidence
from core.supervision.step_windows import WINDOW, StepWindows
from core.supervision.traces import job_runs

BodyOf = Callable[[str], StepBody | None]
"""The body of a hash, or None where it is not at hand; such steps are passed over."""

NAME_BYTES = 32
"""Bytes of a payload's name (`core.domain.blob`)."""

MOST_HELD = 8_000_000
"""Characters of a session's steps up to which these are held in memory; those of a longer one are read as rules come
to them."""


def gather(trajectory: Trajectory, body_of: BodyOf) -> Evidence:
    """What the rules may look at."""
    read = _Reading(trajectory, body_of)
    held = read.few()
    steps = StepWindows(read.window) if held is None else held
    jobs = [] if held is None and read.origin != LIVE else job_runs(steps)  # no other program's log tells of jobs
    delivered = [g for g in trajectory.advice if g.delivered_step is not None]
    return Evidence(steps=steps, files=trajectory.files, written=read.names, scores=trajectory.scores,
                    guidance=delivered, origin=read.origin, jobs=jobs, several=read.several, absent=read.absent,
                    task=trajectory.created.task if trajectory.created else None)


class _Reading:
    """Reads a session's steps in our words, window by window, and some windows again."""

    def __init__(self, trajectory: Trajectory, body_of: BodyOf) -> None:
        self._entries, self._body_of = iter(trajectory.steps), body_of
        self.origin = trajectory.created.program if trajectory.created else LIVE
        self._words = Translation(None if self.origin == LIVE else table_of(self.origin))
        self.names: dict[tuple[int, int], str] = {}
        self.several: dict[int, int] = {}
        """How many actions the steps have that have more than one."""
        self.absent: set[int] = set()
        self._bodies = bytearray()
        """The names of the bodies that are at hand, one after the other."""
        self._begun: list[tuple[int, str]] = [(0, "")]
        """Of each window, and of the one that comes next, the first byte of `_bodies` and the file that is open."""

    def few(self) -> list[StepBody] | None:
        """All steps, or None where they are too long."""
        held: list[StepBody] = []
        size = number = 0
        while (window := self.window(number)) is not None:
            held += window
            size, number = size + sum(map(_length, window)), number + 1
            if size >= MOST_HELD:
                return None
        return held

    def window(self, number: int) -> list[StepBody] | None:
        """A window that was read before, or the next one; None behind the last."""
        first, self._words.opened = self._begun[number]
        if number + 1 == len(self._begun):
            return self._next()
        names = self._bodies[first : self._begun[number + 1][0]]
        bodies = (self._body_of(names[at : at + NAME_BYTES].hex()) for at in range(0, len(names), NAME_BYTES))
        return [self._in_our_words(body) for body in bodies if body is not None]

    def _next(self) -> list[StepBody] | None:
        found: list[StepBody] = []
        left = WINDOW
        while left > 0 and (entry := next(self._entries, None)) is not None:
            if (body := self._body_of(entry.body)) is None:
                self.absent.add(entry.head.number)
                continue
            self._bodies += bytes.fromhex(entry.body)
            found.append(self._noted(body))
            left -= _length(body)
        if not found:
            return None
        self._begun.append((len(self._bodies), self._words.opened))
        return found

    def _noted(self, body: StepBody) -> StepBody:
        if self.origin != LIVE:
            self.names.update(((body.number, at), action.tool) for at, action in enumerate(body.actions, 1))
        own = self._in_our_words(body)
        if len(own.actions) > 1:
            self.several[own.number] = len(own.actions)
        return own

    def _in_our_words(self, body: StepBody) -> StepBody:
        return body if self.origin == LIVE else self._words.of(body)


def _length(body: StepBody) -> int:
    """About how many characters a step holds."""
    given = sum(len(value) for action in body.actions for value in action.arguments.values() if isinstance(value, str))
    return len(body.thought) + given + sum(len(one.output.text) for one in body.observations) + 500
