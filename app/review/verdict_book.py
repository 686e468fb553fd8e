"""What the reader decided: shown at once, confirmed by the log, undone by a stack. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from core.domain import verdict
from core.domain.progress import judgement_of
from core.domain.trajectory import StepEntry, Trajectory

_UNDO_LIMIT = 1000

_NOW = datetime.max.replace(tzinfo=UTC)
"""When what is on its way is given: after all that is here."""


class Decision(msgspec.Struct, frozen=True):
    """One person's value and reason for one step or action; `none` where there is none."""

    value: verdict.VerdictValue = "none"
    reason: str = ""


class Change(msgspec.Struct, frozen=True):
    """What is to be told to the server about one step, or its `action`-th action. `content` is the step's body as it
    was judged, "" where that is not known."""

    step: int
    decision: Decision
    action: int = 0
    content: str = ""


class TagChange(msgspec.Struct, frozen=True):
    """A tag that is to be put on a step, or taken off. `is_own`: what is taken off is the reader's, not others'."""

    step: int
    tag: str
    on: bool = True
    content: str = ""
    is_own: bool = True


AnyChange = Change | TagChange


class Tally(msgspec.Struct, frozen=True):
    """What was decided of the steps of a session; each is counted once. `partly`: some of its actions are masked;
    `unjudged`: nobody's keep or mask has an effect on it. On `by_people` of them all a person decided."""

    kept: int = 0
    masked: int = 0
    partly: int = 0
    unjudged: int = 0
    by_people: int = 0
    people_keep: int = 0
    people_mask: int = 0
    unsure: int = 0
    """On so many a person was unsure, and none decided."""

    @property
    def judged(self) -> int:
        """On so many a person had a word, be it unsure; the others are undecided."""
        return self.by_people + self.unsure

    @property
    def total(self) -> int:
        """All steps."""
        return self.kept + self.masked + self.partly + self.unjudged


class _Act(msgspec.Struct, frozen=True):
    before: tuple[AnyChange, ...]
    after: tuple[AnyChange, ...]


class VerdictBook:
    """The reader's verdicts of one session: those in the log under a name, overlaid by those on their way."""

    def __init__(self, session: str, name: Callable[[], str]) -> None:
        """`name()` is what the server knows the reader as; "" while that is not known."""
        self.session = session
        self._name = name
        self._pending: dict[tuple[int, int], Decision] = {}
        self._tags: dict[tuple[int, str], TagChange] = {}
        self._void: dict[tuple[int, int], Decision] = {}
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

    def mine(self, entry: StepEntry, action: int = 0) -> Decision:
        """The reader's verdict on a step as a whole, or on one action alone."""
        held = self._by_key(entry).get(verdict.verdict_key(self._me, action))
        return Decision(held.value, held.reason) if held else Decision()

    def has_judged(self, entry: StepEntry) -> bool:
        """Whether the reader said anything of a step, or of one of its actions."""
        return any(v.author.key == self._me.key for v in self._by_key(entry).values())

    def tags(self, entry: StepEntry, *, only_mine: bool = False) -> set[str]:
        """The tags of a step (`only_mine`: those that the reader put on), with those on their way."""
        changes = {tag: change.on for (step, tag), change in self._tags.items() if step == entry.head.number}
        shown = {tag for tag, by in entry.tags.items() if not only_mine or self._me.key in by}
        return {t for t in shown if changes.get(t, True)} | {t for t, on in changes.items() if on}

    def verdicts(self, entry: StepEntry) -> list[verdict.Verdict]:
        """Every standing opinion, the latest last, with what is on its way."""
        return list(self._by_key(entry).values())

    def outcome(self, entry: StepEntry) -> verdict.StepOutcome:
        """What was decided of the step."""
        return verdict.step_outcome(self.verdicts(entry), len(entry.head.tools))

    def is_judged(self, entry: StepEntry, only_mine: bool = False) -> bool:
        """Whether a person (`only_mine`: the reader) judged the step, be it unsure: as it is counted everywhere."""
        return judgement_of(self._of_people(entry, only_mine), len(entry.head.tools)) is not None

    def has_open_action(self, entry: StepEntry) -> bool:
        """Whether of one of its actions no person said anything."""
        people = [v for v in self.verdicts(entry) if v.author.kind in verdict.PEOPLE]
        return not all(verdict.by_action(people, len(entry.head.tools)).values())

    def judge(self, entries: Sequence[StepEntry], value: verdict.VerdictValue, reason: str = "", action: int = 0
              ) -> tuple[AnyChange, ...]:
        """Decide some steps, or one action of each, in one act; what has to be told, nothing where nothing changes.
        A word on a whole step takes back the reader's words on its actions."""
        wanted = Decision(value, reason)
        before = {e.head.number: self._own(e, action) for e in entries}
        after = {e.head.number: Change(e.head.number, wanted, action, e.body) for e in entries}
        numbers = [n for n, own in before.items() if own != [after[n]]]
        if not numbers:
            return ()
        return self._act(_Act(tuple(change for n in numbers for change in before[n]), tuple(after[n] for n in numbers)))

    def void(self, entry: StepEntry, action: int = 0) -> Decision:
        """What the reader chose before the step changed, which was refused therefore and not said again."""
        return self._void.get((entry.head.number, action), Decision())

    def _own(self, entry: StepEntry, action: int) -> list[Change]:
        """What a word on a step or action takes the place of."""
        number = entry.head.number
        alone = [] if action else [v.action for v in self.verdicts(entry) if v.action and v.author.key == self._me.key]
        return [Change(number, self.mine(entry, one), one, entry.body) for one in (action, *alone)]

    def _by_key(self, entry: StepEntry) -> dict[str, verdict.Verdict]:
        found = dict(entry.verdicts)
        for (step, action), given in self._pending.items():
            if step == entry.head.number:
                verdict.take(found, verdict.Verdict(author=self._me, value=given.value, reason=given.reason,
                                                   action=action, at=_NOW),
                             _NOW)
        return found

    def tag(self, entries: Sequence[StepEntry], tag: str, *, is_blind: bool = False) -> tuple[AnyChange, ...]:
        """Put a tag on some steps in one act; where all have it already, take it off. A blind reader has to do with
        others' tags only where they have judged."""
        held = {e.head.number: tag in self.tags(e, only_mine=is_blind and not self.has_judged(e)) for e in entries}
        on = not all(held.values())
        others = [e for e in entries if held[e.head.number] != on]
        if not others:
            return ()
        own = {e.head.number: on or tag in self.tags(e, only_mine=True) for e in others}
        return self._act(_Act(tuple(TagChange(e.head.number, tag, not on, e.body) for e in others),
                              tuple(TagChange(n, tag, on, e.body, own[n]) for e in others for n in [e.head.number])))

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
        for (step, action), decision in list(self._pending.items()):
            at = trajectory.index_of(step)
            verdicts = trajectory.steps[at].verdicts if at is not None else {}
            held = verdicts.get(verdict.verdict_key(self._me, action))
            if (Decision(held.value, held.reason) if held else Decision()) == decision:
                del self._pending[step, action]
        for (step, tag), change in list(self._tags.items()):
            at = trajectory.index_of(step)
            by = trajectory.steps[at].tags.get(tag, ()) if at is not None else ()
            if at is not None and (self._me.key in by if change.is_own else bool(by)) == change.on:
                del self._tags[step, tag]

    def refuse(self, change: AnyChange, is_void: bool = False) -> None:
        """The server refused: the log's word stands again, and there is nothing to undo. `is_void`: the step changed
        meanwhile, so that the reader may say it again."""
        if is_void and isinstance(change, Change) and change.decision.value != "none":
            self._void[change.step, change.action] = change.decision
        if isinstance(change, TagChange):
            self._tags.pop((change.step, change.tag), None)
        elif self._pending.get((change.step, change.action)) == change.decision:
            del self._pending[change.step, change.action]
        self._undo = [a for a in self._undo if change not in a.after]

    def tally(self, trajectory: Trajectory, *, only_mine: bool = False, among: Collection[int] | None = None) -> Tally:
        """The counts over all steps, or those at some places (`among`). `only_mine`: people are the reader alone."""
        judged = [trajectory.steps[i] for i in self._judged(trajectory) if among is None or i in among]
        steps = len(trajectory.steps) if among is None else len(among)
        counts = Counter(verdict.step_outcome(self._of_people(entry, only_mine) if only_mine else self.verdicts(entry),
                                              len(entry.head.tools)) for entry in judged)
        words = [judgement_of(self._of_people(entry, only_mine), len(entry.head.tools)) for entry in judged]
        hands = Counter(words)
        decided = hands["keep"] + hands["mask"] + hands["partly"]
        return Tally(counts["keep"], counts["mask"], counts["partly"], counts["undecided"] + steps - len(judged),
                     decided, hands["keep"], hands["mask"] + hands["partly"], hands["unsure"])

    def _of_people(self, entry: StepEntry, only_mine: bool) -> list[verdict.Verdict]:
        return [v for v in self.verdicts(entry) if not only_mine or v.author.key == self._me.key]

    def next_to_judge(self, trajectory: Trajectory, after: int, *, only_mine: bool = False,
                      among: Collection[int] | None = None) -> int | None:
        """The first undecided step behind `after`, round the end, or of those at some places (`among`): no person
        (`only_mine`: not the reader) judged it. None when all are judged."""
        steps = trajectory.steps
        start = (trajectory.index_of(after) or 0) + 1 if trajectory.index_of(after) is not None else 0
        order: Iterable[int] = (*range(start, len(steps)), *range(start))
        judged = self._judged(trajectory)
        return next((steps.numbers[i] for i in order
                     if steps.numbers[i] != after and (among is None or i in among)
                     and (i not in judged or not self.is_judged(steps[i], only_mine))), None)

    def _judged(self, trajectory: Trajectory) -> set[int]:
        """The places of the steps on which anybody said anything; the others are not looked at one by one."""
        pending = (trajectory.index_of(step) for step, _ in self._pending)
        return {i for i, opinions in trajectory.steps.opinions.items() if opinions.verdicts} | {
            i for i in pending if i is not None}

    @property
    def _me(self) -> verdict.Author:
        return verdict.Author(kind="person", name=self._name())

    def _act(self, act: _Act) -> tuple[AnyChange, ...]:
        self._undo = [*self._undo[-_UNDO_LIMIT:], act]
        self._redo = []
        return self._take(act.after)

    def _take(self, changes: tuple[AnyChange, ...]) -> tuple[AnyChange, ...]:
        for change in changes:
            if isinstance(change, TagChange):
                self._tags[change.step, change.tag] = change
            else:
                self._void.pop((change.step, change.action), None)
                self._pending.pop((change.step, change.action), None)  # the order of those on their way counts
                self._pending[change.step, change.action] = change.decision
        return changes
