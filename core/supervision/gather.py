"""What rules may look at, gathered from a session in one reading of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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

MOST_HELD = 16_000_000
"""Characters of a session's steps up to which these are held in memory; those of a longer one are read as rules come
to them."""


def gather(trajectory: Trajectory, body_of: BodyOf) -> Evidence:
    """What the rules may look at."""
    read = _Reading(trajectory, body_of)
    jobs = job_runs(read.steps())
    delivered = [g for g in trajectory.advice if g.delivered_step is not None]
    steps = StepWindows(read.again, read.starts, len(read)) if read.held is None else read.held
    return Evidence(steps=steps, files=trajectory.files, written=read.names, scores=trajectory.scores,
                    guidance=delivered, origin=read.origin, jobs=jobs, several=read.several, absent=read.absent,
                    task=trajectory.created.task if trajectory.created else None)


class _Reading:
    """The first reading of a session's steps, and how parts of them are read again."""

    def __init__(self, trajectory: Trajectory, body_of: BodyOf) -> None:
        self._trajectory, self._body_of = trajectory, body_of
        self.origin = trajectory.created.program if trajectory.created else LIVE
        self._words = None if self.origin == LIVE else Translation(table_of(self.origin))
        self.held: list[StepBody] | None = []
        """All steps, or None where they are too long."""
        self.names: dict[tuple[int, int], str] = {}
        self.several: dict[int, int] = {}
        """How many actions the steps have that have more than one."""
        self.absent: set[int] = set()
        self._bodies = bytearray()
        """The names of the bodies that are at hand, one after the other."""
        self.starts: list[int] = []
        self._opened: dict[int, str] = {}
        """Which file was open where a window begins."""

    def steps(self) -> Iterator[StepBody]:
        """The steps in our words, in order."""
        size, window = 0, WINDOW
        for entry in self._trajectory.steps:
            if (body := self._body_of(entry.body)) is None:
                self.absent.add(entry.head.number)
                continue
            if window >= WINDOW:
                window = self._begin()
            self._bodies += bytes.fromhex(entry.body)
            own = self._in_our_words(body)
            length = _length(body)
            size, window = size + length, window + length
            if self.held is not None:
                self.held.append(own)
                self.held = self.held if size < MOST_HELD else None
            yield own

    def __len__(self) -> int:
        """How many steps were read."""
        return len(self._bodies) // NAME_BYTES

    def again(self, first: int, stop: int) -> list[StepBody]:
        """Steps that were read before; reading begins where a window does, or the file that is open is not known."""
        if self._words is not None:
            self._words.opened = self._opened.get(first, "")
        bodies = (self._body_of(self._bodies[at : at + NAME_BYTES].hex())
                  for at in range(first * NAME_BYTES, stop * NAME_BYTES, NAME_BYTES))
        return [body if self._words is None else self._words.of(body) for body in bodies if body is not None]

    def _begin(self) -> int:
        place = len(self)
        self.starts.append(place)
        self._opened[place] = self._words.opened if self._words else ""
        return 0

    def _in_our_words(self, body: StepBody) -> StepBody:
        own = body
        if self._words is not None:
            self.names.update(((body.number, at), action.tool) for at, action in enumerate(body.actions, 1))
            own = self._words.of(body)
        if len(own.actions) > 1:
            self.several[own.number] = len(own.actions)
        return own


def _length(body: StepBody) -> int:
    """About how many characters a step holds."""
    given = sum(len(value) for action in body.actions for value in action.arguments.values() if isinstance(value, str))
    return len(body.thought) + given + sum(len(one.output.text) for one in body.observations) + 500
