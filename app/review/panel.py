"""Drives the Review panel: verdicts go out at once, show at once, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QElapsedTimer, QObject
from PySide6.QtWidgets import QWidget

from app.desk.callers import number_of
from app.desk.refusal import STEP_CHANGED, Refusal, words_of
from app.desk.workplace import Workplace
from app.kit.ask import yes_or_no
from app.kit.quantities import number
from app.review import rules_controller as rules
from app.review.active_time import ActiveTime
from app.review.books import VerdictBooks
from app.review.opinions import StepOpinions
from app.review.rules_run import RulesRun
from app.review.targets import Target, sight_of, target_of
from app.review.verdict_book import AnyChange, Change, VerdictBook
from app.review.view import ReviewView
from core.domain.blindness import seen_opinions
from core.domain.errors import ReportableError
from core.domain.queue import ReviewQueue
from core.domain.steps import ERROR, REPORT
from core.domain.trajectory import Trajectory
from core.domain.verdict import masked_actions
from core.protocol.messages import CAN_JUDGE_ACTIONS
from core.protocol.operations import AddNote

SETTLED_MS = 1_000
"""At the live tail a step must have stood there so long before a key judges it."""

ACTIONS = ("review.keep", "review.mask", "review.unsure", "review.note", "review.tag", "review.undo", "review.next")

JUDGING = ("review.keep", "review.mask", "review.unsure", "review.none", "review.note", "review.tag", "review.reason",
           "review.action")
"""Commands about the step that is read: they are off where none is."""


class ReviewController(QObject):
    """Shows what is thought of the step in sight, and puts down what its reader thinks."""

    def __init__(self, place: Workplace, view: ReviewView) -> None:
        super().__init__(view)
        self._place, self._view, self._bar = place, view, view.bar
        self._cursor, self._sight = place.cursor, place.sight
        self._books = VerdictBooks(place, self)
        self._shown = ("", 0)
        self._asked_before: tuple[object, ...] = ()
        self._shown_since = QElapsedTimer()
        self._time = ActiveTime(place, self)
        self._connect()
        self._turn_to_step()

    def _connect(self) -> None:
        for value in ("keep", "mask", "unsure", "none"):
            self._place.actions[f"review.{value}"].triggered.connect(partial(self._judge_step, value))
        for name, slot in {"note": self._write_note, "tag": self._write_tag, "undo": self._undo, "next": self._next,
                           "redo": self._redo_change, "reason": self._bar.write_reason,
                           "action": self._next_action}.items():
            self._place.actions[f"review.{name}"].triggered.connect(slot)
        self._bar.left.connect(self._cursor.focus_list)
        self._bar.action_chosen.connect(self._cursor.choose_action)
        self._cursor.action_chosen.connect(self._turn_to_step)
        self._bar.judged.connect(self._judge_with)
        self._bar.remark.noted.connect(self._add_note)
        self._bar.tags.tagged.connect(self._add_tag)
        self._time.changed.connect(self._show_time)
        self._sight.stepped.connect(self._turn_to_step)
        self._cursor.marked.connect(self._turn_to_step)
        self._place.desks.trajectory_changed.connect(self._on_changed)
        self._place.desks.trajectory_replaced.connect(self._on_changed)
        self._books.refused.connect(self._turn_to_step)
        self._place.actions["view.queue"].toggled.connect(self._turn_to_step)  # sessions are chosen there, no step read
        self._place.queues.changed.connect(self._on_queues)
        self._place.settings.changed.connect(self._on_setting)
        self._on_setting("review.reasons")
        for box, asked, key in ((self._view.blind, self._view.blind_asked, "review.blind"),
                                (self._view.advance, self._view.advance_asked, "review.advance")):
            asked.connect(partial(self._remember_choice, key))
            box.setChecked(bool(self._place.settings.get(key)))
            box.setEnabled(not self._place.settings.is_fixed(key))

    # ---- what is shown ----------------------------------------------------------------------------

    def _on_changed(self, session: str) -> None:
        if session == self._sight.session:
            self._turn_to_step()

    def _on_queues(self) -> None:
        """Queues change often, and what they ask of this session seldom."""
        if self._asked_here() != self._asked_before:
            self._turn_to_step()

    def _asked_here(self) -> tuple[object, ...]:
        queues, session = self._place.queues, self._sight.session
        return queues.asking(session), queues.is_blind(session)

    def _turn_to_step(self, *_: object) -> None:
        self._asked_before = self._asked_here()
        session, trajectory = self._sight.session, self._sight.trajectory
        self._enable(trajectory)
        if trajectory is None:
            self._bar.remark.turn_to("", 0)
            self._view.show_nothing()
            return
        book, target = self._books.of(session), self._target(trajectory)
        entries = target.entries
        self._bar.remark.turn_to(session, entries[0].head.number if entries else 0)
        self._show_tally(session, trajectory, book)
        self._show_time()
        self._view.rules.setVisible(bool(trajectory.steps))
        if not entries:
            self._view.show_nothing()
            return
        if (session, entries[0].head.number) != self._shown:
            self._shown = (session, entries[0].head.number)
            self._shown_since.start()
        self._view.show_step(self._opinions(target, book))

    def _enable(self, trajectory: Trajectory | None) -> None:
        """Off is what would do nothing."""
        actions, is_read = self._place.actions, not self._place.actions["view.queue"].isChecked()
        for key in JUDGING:
            actions[key].setEnabled(is_read and bool(self._target(trajectory).entries))
        actions["review.undo"].setEnabled(trajectory is not None and self._books.of(self._sight.session).can_undo)
        actions["review.next"].setEnabled(trajectory is not None and bool(trajectory.steps))

    def _show_tally(self, session: str, trajectory: Trajectory, book: VerdictBook) -> None:
        """How far the reader is with what is asked; without a queue that is every step, whoever judged it."""
        queues = self._place.queues
        queue, row = queues.asking(session), self._sight.row
        if queue is None or row is None:
            self._view.show_tally(book.tally(trajectory, only_mine=queues.is_blind(session)), book.pending)
            return
        mine = book.tally(trajectory, only_mine=True, among=_asked(trajectory, queue))
        self._view.show_tally(mine, book.pending, min(queue.asked(row), mine.total))

    def _show_time(self) -> None:
        session, trajectory = self._sight.session, self._sight.trajectory
        if trajectory is not None:
            spent = trajectory.spent.get(self._place.reader(session), {})
            self._view.show_time(sum(spent.values()) + sum(self._time.of(session).values()))

    def _opinions(self, target: Target, book: VerdictBook) -> StepOpinions:
        entry = target.entries[0]
        hidden = self._place.queues.is_blind(self._sight.session) and not book.has_judged(entry)
        verdicts, head = book.verdicts(entry), entry.head
        number = number_of(self._sight.desk, self._sight.session, head.number)
        return StepOpinions(number=number, title=head.title, outcome=book.outcome(entry),
                            mine=book.mine(entry, target.action), verdicts=tuple(verdicts), notes=tuple(entry.notes),
                            others_hidden=hidden, marked=len(target.entries),
                            tags=frozenset(book.tags(entry, only_mine=hidden)),
                            void=book.void(entry, target.action), actions=head.tools, action=target.action,
                            masked=masked_actions(verdicts, len(head.tools)))

    def _target(self, trajectory: Trajectory | None) -> Target:
        return Target() if trajectory is None else target_of(self._sight, self._cursor, trajectory)

    def _next_action(self, *_: object) -> None:
        entries = self._target(self._sight.trajectory).entries
        if len(entries) == 1 and len(entries[0].head.tools) > 1:
            self._cursor.choose_action((self._cursor.action + 1) % (len(entries[0].head.tools) + 1))
        else:
            hint = self.tr("This step has no actions to choose from: it is judged as a whole.")
            self._place.notices.tell(hint, "info")

    def _on_setting(self, key: str) -> None:
        if key == "review.reasons":
            lines = self._place.settings.text(key).splitlines()
            self._bar.offer_reasons([line.strip() for line in lines if line.strip()])

    # ---- what is done -----------------------------------------------------------------------------

    def _judge_step(self, value: str, *_: object) -> None:
        self._judge_with(value, self._bar.take_reason())

    def _judge_with(self, value: str, reason: str) -> None:
        session, trajectory = self._sight.session, self._sight.trajectory
        target = self._target(trajectory)
        if trajectory is None or not target.entries:
            self._turn_to_step()
            return
        if self._sight.step is None and self._shown_since.elapsed() < SETTLED_MS:
            hint = self.tr("A new step has just come: look again, then press again.")
            self._place.notices.tell(hint, "info", session)
            return
        link = self._sight.desk.link
        if target.action and link.state == "online" and CAN_JUDGE_ACTIONS not in link.capabilities:
            hint = self.tr("This server is older and knows verdicts on whole steps only.")
            self._place.notices.tell(hint, "error", session)
            return
        self._when_seen(target, value, partial(self._give_opinion, session, trajectory, target, value, reason))

    def _when_seen(self, target: Target, value: str, act: Callable[[], None]) -> None:
        """Act on what the reader sees; what is out of sight is shown, or asked for, first."""
        match sight_of(target, self._cursor):
            case "shown":
                act()
            case "revealed":
                hint = self.tr("Step {n} was not in sight: look at it, then press again.")
                self._place.notices.tell(hint.format(n=number(target.entries[0].head.number)), "info")
            case "unseen":
                self._place.scope.spawn(self._ask(target, value, act), name="judge-unseen")

    async def _ask(self, target: Target, value: str, act: Callable[[], None]) -> None:
        if await yes_or_no(self._view, *self._view.question(target, value)):
            act()

    def _give_opinion(self, session: str, trajectory: Trajectory, target: Target, value: str, reason: str) -> None:
        book = self._books.of(session)
        known = book.mine(target.entries[0], target.action)
        self._place.queues.have(session)
        changes = book.judge(target.entries, value, reason, target.action)  # type: ignore[arg-type]
        self._tell(session, changes)
        if value in ("keep", "mask") and known.value == "none" and self._place.settings.get("review.advance"):
            self._advance(trajectory, book, target)
        self._turn_to_step()

    def _advance(self, trajectory: Trajectory, book: VerdictBook, target: Target) -> None:
        entry = target.entries[-1]
        if target.action and book.has_open_action(entry):
            self._next_action()
            return
        step = self._next_step(self._sight.session, trajectory, entry.head.number)
        if step is not None and self._sight.step is not None:
            self._cursor.mark(())
            self._cursor.to_step(step)

    def _next(self, *_: object) -> None:
        session, trajectory = self._sight.session, self._sight.trajectory
        if trajectory is None:
            return
        step = self._next_step(session, trajectory, self._sight.step or 0)
        if step is None:
            self._place.notices.tell(self.tr("People have judged every step."), "done", session)
        else:
            self._cursor.to_step(step)

    def _next_step(self, session: str, trajectory: Trajectory, after: int) -> int | None:
        """The next step that is left: in a queue of those that it asks for, and by the reader's own words alone."""
        queues = self._place.queues
        queue = queues.asking(session)
        return self._books.of(session).next_to_judge(trajectory, after, among=_asked(trajectory, queue),
                                                 only_mine=queue is not None or queues.is_blind(session))

    def _undo(self, *_: object) -> None:
        self._take_back(self._books.of(self._sight.session).undo())

    def _redo_change(self, *_: object) -> None:
        self._take_back(self._books.of(self._sight.session).redo())

    def _take_back(self, changes: tuple[AnyChange, ...]) -> None:
        self._tell(self._sight.session, changes)
        if changes:
            self._cursor.to_step(changes[0].step)
            self._cursor.choose_action(changes[0].action if isinstance(changes[0], Change) else 0)
        self._turn_to_step()

    def _tell(self, session: str, changes: tuple[AnyChange, ...]) -> None:
        if changes:
            self._time.judged(session)
        self._books.send(session, changes)

    def _stays_at_step(self) -> bool:
        """Whether a step is read from now on: what is written about must not change meanwhile."""
        if self._sight.step is None and self._shown[1]:
            self._cursor.to_step(self._shown[1])
        return self._sight.step is not None

    def _write_tag(self, *_: object) -> None:
        if self._stays_at_step():
            held = self._sight.desk.trajectory(self._sight.session).steps.opinions.values()
            reader = self._place.blind_reader(self._sight.session)
            self._bar.tags.write({tag for opinions in held for tag in seen_opinions(opinions, reader).tags})

    def _add_tag(self, tag: str) -> None:
        target = self._target(self._sight.trajectory)
        if target.entries:
            self._when_seen(target, "tag", partial(self._put_tag, self._sight.session, target, tag))
        self._turn_to_step()

    def _put_tag(self, session: str, target: Target, tag: str) -> None:
        is_blind = self._place.queues.is_blind(session)
        self._tell(session, self._books.of(session).tag(target.entries, tag, is_blind=is_blind))
        self._turn_to_step()

    def _write_note(self, *_: object) -> None:
        if self._stays_at_step():
            self._bar.remark.write()

    def _add_note(self, text: str) -> None:
        target = self._target(self._sight.trajectory)
        self._when_seen(target, "note", partial(self._put_note, self._sight.session, target, text))

    def _put_note(self, session: str, target: Target, text: str) -> None:
        for entry in target.entries:
            op = AddNote(step=entry.head.number, text=text, content=entry.body)
            self._place.sender.send(session, op, refused=partial(self._note_refused, session, op))

    def _note_refused(self, session: str, op: AddNote, error: ReportableError) -> None:
        self._place.notices.tell(words_of(Refusal(session, op, error)), "error", session)
        if error.code == STEP_CHANGED:
            self._bar.remark.offer(session, op.step, op.text)

    def _remember_choice(self, key: str, on: bool) -> None:
        self._place.settings.set(key, on)
        self._turn_to_step()


def _asked(trajectory: Trajectory, queue: ReviewQueue | None) -> frozenset[int] | None:
    """The places of the steps that a queue asks for, where these are not any."""
    wanted = {"errors": ERROR, "reports": ERROR | REPORT}.get(queue.work.asks) if queue is not None else None
    if wanted is None:
        return None
    return frozenset(at for at, flags in enumerate(trajectory.steps.flags) if flags & wanted)


def build(place: Workplace, parent: QWidget) -> ReviewView:
    """The panel, wired."""
    view = ReviewView([place.actions[key] for key in (*ACTIONS, "queue.next")], parent)
    ReviewController(place, view)
    rules.connect(place, view, RulesRun(place, view).start)
    return view
