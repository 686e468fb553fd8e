"""What the reader decided: shown at once, confirmed by the log, undone by a stack. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import Author, Verdict, VerdictValue, final_verdict

_UNDO_LIMIT = 1000


class Decision(msgspec.Struct, frozen=True):
    """One person's value and reason for one step; `none` where there is none."""

    value: VerdictValue = "none"
    reason: str = ""


class Change(msgspec.Struct, frozen=True):
    """What is to be told to the server about one step."""

    step: int
    decision: Decision


class TagChange(msgspec.Struct, frozen=True):
    """A tag that is to be put on a step, or taken off."""

    step: int
    tag: str
    on: bool = True


AnyChange = Change | TagChange


class Tally(msgspec.Struct, frozen=True):
    """How the steps of a session end up. `undecided`: no person said keep or mask."""

    kept: int = 0
    masked: int = 0
    undecided: int = 0

    @property
    def total(self) -> int:
        """All steps."""
        return self.kept + self.masked


class _Act(msgspec.Struct, frozen=True):
    before: tuple[AnyChange, ...]
    after: tuple[AnyChange, ...]


class VerdictBook:
    """The reader's verdicts of one session: those in the log under a name, overlaid by those on their way."""

    def __init__(self, session: str, name: Callable[[], str]) -> None:
        """`name()` is what the server knows the reader as; "" while that is not known."""
        self.session = session
        self._name = name
        self._pending: dict[int, Decision] = {}
        self._tags: dict[tuple[int, str], bool] = {}
        self._undo: list[_Act] = []
        self._redo: list[_Act] = []

    @property
    def can_undo(self) -> bool:
        """Whether an act can be taken back."""
        return bool(self._undo)

    @property
    def pending(self) -> int:
        """How many verdicts the log has not confirmed yet."""
        return len(self._pending) + len(self._tags)

    def mine(self, entry: StepEntry) -> Decision:
        """The reader's verdict on a step."""
        pending = self._pending.get(entry.head.number)
        if pending is not None:
            return pending
        held = entry.verdicts.get(self._key)
        return Decision(held.value, held.reason) if held else Decision()

    def tags(self, entry: StepEntry) -> set[str]:
        """The tags of a step, with those on their way."""
        changes = {tag: on for (step, tag), on in self._tags.items() if step == entry.head.number}
        return {t for t in entry.tags if changes.get(t, True)} | {t for t, on in changes.items() if on}

    def verdicts(self, entry: StepEntry) -> list[Verdict]:
        """Every standing opinion, the latest last, with what is on its way."""
        pending = self._pending.get(entry.head.number)
        found = [v for k, v in entry.verdicts.items() if pending is None or k != self._key]
        if pending is not None and pending.value != "none":
            author = Author(kind="person", name=self._name())
            found.append(Verdict(author=author, value=pending.value, reason=pending.reason))
        return found

    def final(self, entry: StepEntry) -> str:
        """What training will do with the step: keep or mask."""
        return final_verdict(self.verdicts(entry))

    def is_decided(self, entry: StepEntry) -> bool:
        """Whether a person said keep or mask."""
        return any(v.author.kind in ("person", "import") and v.value in ("keep", "mask") for v in self.verdicts(entry))

    def judge(self, entries: Sequence[StepEntry], value: VerdictValue, reason: str = "") -> tuple[AnyChange, ...]:
        """Decide some steps in one act; what has to be told, nothing where nothing changes."""
        wanted = Decision(value, reason)
        entries = [e for e in entries if self.mine(e) != wanted]
        if not entries:
            return ()
        return self._act(_Act(tuple(Change(e.head.number, self.mine(e)) for e in entries),
                              tuple(Change(e.head.number, wanted) for e in entries)))

    def tag(self, entries: Sequence[StepEntry], tag: str) -> tuple[AnyChange, ...]:
        """Put a tag on some steps in one act; where all have it already, take it off."""
        on = any(tag not in self.tags(e) for e in entries)
        steps = [e.head.number for e in entries if (tag in self.tags(e)) != on]
        if not steps:
            return ()
        return self._act(_Act(tuple(TagChange(s, tag, not on) for s in steps),
                              tuple(TagChange(s, tag, on) for s in steps)))

    def take_up(self, change: AnyChange) -> None:
        """What was told in an earlier run is still on its way."""
        self._take((change,))

    def undo(self) -> tuple[AnyChange, ...]:
        """Take the last act back."""
        if not self._undo:
            return ()
        self._redo.append(self._undo.pop())
        return self._take(self._redo[-1].before)

    def redo(self) -> tuple[AnyChange, ...]:
        """Do again what was taken back last."""
        if not self._redo:
            return ()
        self._undo.append(self._redo.pop())
        return self._take(self._undo[-1].after)

    def confirm(self, trajectory: Trajectory) -> None:
        """The log moved on: what it says already is not on its way any more."""
        for step, decision in list(self._pending.items()):
            at = trajectory.index_of(step)
            held = trajectory.steps[at].verdicts.get(self._key) if at is not None else None
            if (Decision(held.value, held.reason) if held else Decision()) == decision:
                del self._pending[step]
        for (step, tag), on in list(self._tags.items()):
            at = trajectory.index_of(step)
            if at is not None and (tag in trajectory.steps[at].tags) == on:
                del self._tags[step, tag]

    def refuse(self, change: AnyChange) -> None:
        """The server refused: the log's word stands again, and there is nothing to undo."""
        if isinstance(change, TagChange):
            self._tags.pop((change.step, change.tag), None)
        elif self._pending.get(change.step) == change.decision:
            del self._pending[change.step]
        self._undo = [a for a in self._undo if change not in a.after]

    def tally(self, trajectory: Trajectory) -> Tally:
        """The counts over all steps."""
        total = len(trajectory.steps)
        judged = [trajectory.steps[i] for i in self._judged(trajectory)]
        masked = sum(self.final(e) == "mask" for e in judged)
        decided = sum(map(self.is_decided, judged))
        return Tally(total - masked, masked, total - decided)

    def next_undecided(self, trajectory: Trajectory, after: int) -> int | None:
        """The first step behind `after` that no person decided, round the end; None when all are."""
        steps = trajectory.steps
        start = (trajectory.index_of(after) or 0) + 1 if trajectory.index_of(after) is not None else 0
        order: Iterable[int] = (*range(start, len(steps)), *range(start))
        judged = self._judged(trajectory)
        return next((steps.numbers[i] for i in order
                     if steps.numbers[i] != after and (i not in judged or not self.is_decided(steps[i]))), None)

    def _judged(self, trajectory: Trajectory) -> set[int]:
        """The places of the steps on which anybody said anything; the others are not looked at one by one."""
        pending = (trajectory.index_of(step) for step in self._pending)
        return {i for i, opinions in trajectory.steps.opinions.items() if opinions.verdicts} | {
            i for i in pending if i is not None}

    @property
    def _key(self) -> str:
        return Author(kind="person", name=self._name()).key

    def _act(self, act: _Act) -> tuple[AnyChange, ...]:
        self._undo = [*self._undo[-_UNDO_LIMIT:], act]
        self._redo = []
        return self._take(act.after)

    def _take(self, changes: tuple[AnyChange, ...]) -> tuple[AnyChange, ...]:
        for change in changes:
            if isinstance(change, TagChange):
                self._tags[change.step, change.tag] = change.on
            else:
                self._pending[change.step] = change.decision
        return changes
