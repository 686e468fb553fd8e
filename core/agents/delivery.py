"""What comes to the agent from the log: guidance and controls, each taken in exactly once.

The journal is the authority for "delivered at step N": guidance is bound to a step in the transaction that
starts it, and whether an edit or withdrawal came in time is decided here and nowhere else.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from core.agents.held_words import HeldAction, HeldGuidance, HeldTakeover, LeaveAsked
from core.agents.journal import Journal
from core.agents.progress import AgentProgress
from core.domain import events as e
from core.domain.attention import Thresholds
from core.domain.errors import Conflict
from core.domain.session import FINAL_STATES

Control = Literal["pause", "resume", "stop", "interrupt", "snapshot"]

_WISHES: dict[e.SessionState, Control] = {"paused": "pause", "stopped": "stop", "running": "resume", "queued": "resume"}

BEHIND = 1 << 32
"""More than a log has places: what was read of a log that is gone comes behind what was read of the one of now."""

MOST_ACTS = 50
"""Actions of a person that wait: all are written anew with each that comes."""

AT_ONCE = 1_000
"""Guidance texts that one step takes in."""


class Numbered(msgspec.Struct, frozen=True):
    """Of a step that has begun, all that is to be known here."""

    number: int


class News(msgspec.Struct, frozen=True):
    """What a batch of events brought that somebody may have to be woken for."""

    guidance: bool = False
    interrupt: bool = False
    controls: tuple[Control, ...] = ()


class Inbox:
    """The journal's side of the log."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._none: set[str] = set()
        """The states in which the journal was found to hold no guidance, and got none since."""
        journal.on_undone.append(self._none.clear)

    @property
    def cursor(self) -> int:
        """The seq of the last event that was taken in."""
        return self._journal.slot("cursor", int) or 0

    @property
    def created(self) -> e.SessionCreated | None:
        """The session's first event, once it came."""
        return self._journal.slot("created", e.SessionCreated)

    @property
    def branched(self) -> e.Branched | None:
        """From where the session goes another way; None for one that begins by itself."""
        return self._journal.slot("branched", e.Branched)

    @property
    def thresholds(self) -> Thresholds:
        """From where on the session asks for a look, as a person last said."""
        return self._journal.slot("thresholds", Thresholds) or Thresholds()

    def rewind(self) -> None:
        """Read the log from its start again (the server's database was replaced); nothing is taken in twice.

        What was not read again yet comes after all that was, in the order that it had: who wrote it sends again in
        that order, so nothing that was read again can have come later.
        """
        with self._journal.transaction("rewind"):
            self._journal.sql("UPDATE guidance SET seq = seq + ?", (BEHIND,))
            self._journal.put_slot("cursor", 0)

    def take(self, first: int, bodies: Sequence[bytes]) -> News:
        """Take events first, first+1, … in, with the cursor, in one transaction; known ones are skipped.

        Raises Conflict: seq_gap when some before `first` are missing, other_log when what was taken in last is not
        what the log has there.
        """
        cursor = self.cursor
        if first > cursor + 1:
            raise Conflict("seq_gap", f"Event {first} follows {cursor}.", expect=cursor + 1)
        placed = [(first + i, e.decode_stored(body)) for i, body in enumerate(bodies)]
        last = self._journal.slot("last_event", str)
        if last and any(seq == cursor and event.id != last for seq, event in placed):
            raise Conflict("other_log", "The server's log was set back and went on: it is read from its start.")
        fresh = [(seq, event) for seq, event in placed if seq > cursor]
        if not fresh:
            return News()
        with self._journal.transaction("inbox"):
            news = [self._take(seq, event) for seq, event in fresh]
            self._journal.put_slot("cursor", fresh[-1][0])
            self._journal.put_slot("last_event", fresh[-1][1].id)
        return News(any(n.guidance for n in news), any(n.interrupt for n in news),
                    tuple(c for n in news for c in n.controls))

    def _take(self, seq: int, event: e.Event) -> News:
        match event.fact:
            case e.SessionCreated() as fact:
                self._journal.put_slot("created", fact)
            case e.Branched(is_call=False) as fact:
                self._journal.put_slot("branched", fact)
            case e.ThresholdsSet() as fact:
                self._journal.put_slot("thresholds", fact.thresholds)
            case e.GuidanceQueued() as fact:
                return self._queue(seq, fact)
            case e.GuidanceChangeAsked() as fact:
                self._decide(fact)
            case e.ControlAsked() as fact:
                return self._control(seq, event.id, fact)
            case e.TakeoverAsked() | e.HandBackAsked() | e.ActionAsked() as fact:
                if self._is_new(seq, event.id, "takeover"):
                    self._hand_over(event.id, event.author.name, fact)
            case e.SessionContinued() as fact:
                return self._continue(seq, event.id, fact)
            case e.GuidanceEdited() | e.GuidanceWithdrawn() if event.author.kind != "agent":
                self._obey(event.fact)
            case e.SessionStateChanged(state=state) if event.author.kind != "agent":
                return self._moved(seq, event.id, state)
            case e.StepAdded() as fact if event.author.kind == "agent":
                self._check_own(fact.head.number, self._journal.slot("last_step", int) or 0)
            case e.StepStarted() as fact if event.author.kind == "agent":
                self._check_own(fact.number, self._begun())
        return News()

    def _queue(self, seq: int, fact: e.GuidanceQueued) -> News:
        self._none.discard("queued")
        sql = "INSERT OR IGNORE INTO guidance (id, seq, text, mode) VALUES (?, ?, ?, ?) RETURNING id"
        if not self._journal.sql(sql, (fact.guidance, seq, fact.text, fact.mode)):
            # known from a log that was replaced by a backup: its place is the one in the log of now
            self._journal.sql("UPDATE guidance SET seq = ? WHERE id = ?", (seq, fact.guidance))
            return News()
        return News(guidance=True, interrupt=fact.mode == "interrupt")

    def _is_new(self, seq: int, event: str, word: str) -> bool:
        """Whether a person's word comes for the first time; inside the transaction that takes it in."""
        sql = "INSERT OR IGNORE INTO control (id, seq, control) VALUES (?, ?, ?) RETURNING id"
        return bool(self._journal.sql(sql, (event, seq, word)))

    def _hand_over(self, event: str, name: str, fact: e.TakeoverAsked | e.HandBackAsked | e.ActionAsked) -> None:
        """A newer person has it instead of one before; what the one before still wanted is not done."""
        held = self.takeover
        if isinstance(fact, e.TakeoverAsked):
            is_same = held is not None and held.person == name
            self._journal.put_slot("takeover", HeldTakeover(name, fact.idle_s, event, held is not None and is_same
                                                            and held.is_logged))
        elif isinstance(fact, e.HandBackAsked) and held is not None:
            self._journal.put_slot("takeover", msgspec.structs.replace(held, ends=True))
        elif isinstance(fact, e.ActionAsked):
            if held is None or held.person != name:
                self._journal.add(e.HandedBack(step=self._begun() + 1, reason="not_taken_over", dropped=(event,)))
            elif len(self.acts) >= MOST_ACTS:
                self._journal.add(e.HandedBack(step=self._begun() + 1, reason="too_many", dropped=(event,)))
            else:
                self._journal.put_slot("acts", [*self.acts, HeldAction(event, name, fact)])

    def _control(self, seq: int, event: str, fact: e.ControlAsked) -> News:
        """Controls are kept only to know which came already; the newest of pause and resume holds. An answer to a
        question that stands no more (somebody else's came first) is none to the next one."""
        control, asked = fact.control, self.leave
        is_late = fact.answers and (asked is None or asked.question != fact.answers)
        if not self._is_new(seq, event, control) or is_late:
            return News()
        if control == "snapshot":
            self._journal.put_slot("snapshot_asked", True)
        if control in ("pause", "resume", "stop"):
            self._journal.put_slot("wish", control)
        return News(controls=(control,))

    def _continue(self, seq: int, event: str, fact: e.SessionContinued) -> News:
        """Once for each such word; what asked for the end that was is over with it."""
        if not self._is_new(seq, event, "continue"):
            return News()
        for slot, value in (("continued", fact), ("server_state", None), ("wish", None), ("takeover", None),
                            ("acts", None)):
            self._journal.put_slot(slot, value)
        return News(controls=("resume",))

    def _moved(self, seq: int, event: str, state: e.SessionState) -> News:
        """The server changed the state itself, for it saw no runner; who runs all the same does what it says."""
        if not self._is_new(seq, event, state):
            return News()
        self._journal.put_slot("server_state", state)
        wish = _WISHES.get(state)
        if wish is None:
            return News()
        self._journal.put_slot("wish", wish)
        return News(controls=(wish,))

    def _decide(self, fact: e.GuidanceChangeAsked) -> None:
        """Edit or withdraw what is not delivered yet, else refuse: once per request; the server after the end."""
        state = (self._journal.slot("progress", AgentProgress) or AgentProgress()).state
        if state in FINAL_STATES and self.wish != "resume" and self.continued is None:
            return
        if not self._journal.sql("INSERT OR IGNORE INTO change VALUES (?) RETURNING request", (fact.request,)):
            return
        rows = self._journal.sql("SELECT state, step FROM guidance WHERE id = ?", (fact.guidance,))
        if not rows or rows[0][0] != "queued":
            step = rows[0][1] if rows else None
            self._journal.add(e.GuidanceChangeRefused(guidance=fact.guidance, request=fact.request, step=step))
        elif fact.text is None:
            self._set(fact.guidance, state="withdrawn")
            self._journal.add(e.GuidanceWithdrawn(guidance=fact.guidance, request=fact.request))
        else:
            self._set(fact.guidance, text=fact.text)
            self._journal.add(e.GuidanceEdited(guidance=fact.guidance, text=fact.text, request=fact.request))

    def _obey(self, fact: e.GuidanceEdited | e.GuidanceWithdrawn) -> None:
        """The server decided itself, while no runner could."""
        if self._journal.sql("SELECT 1 FROM guidance WHERE id = ? AND state = 'queued'", (fact.guidance,)):
            if isinstance(fact, e.GuidanceEdited):
                self._set(fact.guidance, text=fact.text)
            else:
                self._set(fact.guidance, state="withdrawn")

    def _set(self, guidance: str, **values: str) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self._journal.sql(f"UPDATE guidance SET {names} WHERE id = ?", (*values.values(), guidance))

    def _begun(self) -> int:
        """The last step that this journal began."""
        opened = self._journal.slot("open", Numbered) or self._journal.slot("begun", Numbered)
        return opened.number if opened else self._journal.slot("last_step", int) or 0

    def _check_own(self, number: int, last: int) -> None:
        if number > last:
            raise Conflict("journal_lost", f"The log has step {number}, which this journal does not hold: its folder "
                           "was copied or set back, and another runner worked on this session.", step=number)

    # ---- for the loop

    @property
    def wish(self) -> Control | None:
        """The last of pause, resume and stop that was asked for and not yet done."""
        return self._journal.slot("wish", Control)  # type: ignore[arg-type]

    def done(self, wish: Control) -> None:
        """The wish was done; a newer one stays."""
        if self.wish == wish:
            self._journal.put_slot("wish", None)

    @property
    def leave(self) -> LeaveAsked | None:
        """What leave is asked for and not answered."""
        return self._journal.slot("leave", LeaveAsked)

    @property
    def takeover(self) -> HeldTakeover | None:
        """The person who acts in the agent's place now, or wants to."""
        return self._journal.slot("takeover", HeldTakeover)

    @property
    def acts(self) -> tuple[HeldAction, ...]:
        """What they want and is not begun yet, oldest first."""
        return self._journal.slot("acts", tuple[HeldAction, ...]) or ()

    @property
    def halts(self) -> bool:
        """Whether no model is to be asked now."""
        return self.wish == "stop" or self.takeover is not None

    @property
    def continued(self) -> e.SessionContinued | None:
        """A person's word that the session goes on after its end, until the agent does."""
        return self._journal.slot("continued", e.SessionContinued)

    def go_on(self) -> None:
        """The agent goes on after its end; inside the transaction in which it does."""
        self._journal.put_slot("continued", None)

    def server_state(self) -> e.SessionState | None:
        """The state that the server set while no runner was there; told once."""
        state = self._journal.slot("server_state", str)
        if state is not None:
            self._journal.put_slot("server_state", None)
        return state  # type: ignore[return-value]

    def waiting(self) -> list[HeldGuidance]:
        """Guidance that no step holds yet, in the order of the log; not what a branch gets at a step still to come."""
        if "queued" in self._none:
            return []
        found = self._held("state = 'queued'")
        if not found:
            self._none.add("queued")
        due = branched.due if (branched := self.branched) else {}
        return [held for held in found if due.get(held.id, 0) <= self._begun() + 1]

    def delivered(self, upto: int) -> list[HeldGuidance]:
        """Guidance that steps up to `upto` were given, in order."""
        return [h for h in self._held("state IN ('delivered', 'answered')") if h.step is not None and h.step <= upto]

    def bind(self, step: int) -> list[HeldGuidance]:
        """Bind waiting guidance to a step, oldest first; inside the transaction that starts it.

        What is beyond AT_ONCE waits for the next step: the step's event has to hold a reference to each.
        """
        bound = self.waiting()[:AT_ONCE]
        self._none.discard("delivered")
        for one in bound:
            self._journal.sql("UPDATE guidance SET state = 'delivered', step = ? WHERE id = ?", (step, one.id))
            self._journal.add(e.GuidanceDelivered(guidance=one.id, step=step))
        return bound

    def bind_again(self, step: int, guidance: Sequence[str]) -> list[HeldGuidance]:
        """Bind what the log says that a step was given, before its runner was lost; nothing is told again."""
        held = {one.id: one for one in self.waiting()}
        missing = [id for id in guidance if id not in held]
        if missing:
            raise Conflict("journal_lost", f"The log says that step {step} was given guidance {missing[0]}, which this "
                           "journal does not hold.", step=step)
        self._none.discard("delivered")
        for id in guidance:
            self._journal.sql("UPDATE guidance SET state = 'delivered', step = ? WHERE id = ?", (step, id))
        return [held[id] for id in guidance]

    def answer(self, step: int) -> None:
        """A whole step came after delivery; inside the transaction that adds it."""
        if "delivered" in self._none:
            return
        for (one,) in self._journal.sql("SELECT id FROM guidance WHERE state = 'delivered' ORDER BY seq"):
            self._set(one, state="answered")
            self._journal.add(e.GuidanceAnswered(guidance=one, step=step))
        self._none.add("delivered")

    def _held(self, where: str) -> list[HeldGuidance]:
        rows = self._journal.sql(f"SELECT id, text, mode, step FROM guidance WHERE {where} ORDER BY step, seq")
        return [HeldGuidance(*row) for row in rows]
