"""What a second import of a file that has grown, or was converted, adds to the session of the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from core.domain.blob import blob_digest, blob_hash
from core.domain.events import (
    AnnotationFact,
    Branched,
    Event,
    OpinionFact,
    SessionCreated,
    SessionStateChanged,
    StepAdded,
    TerminalOutput,
    decode_event,
    encode_event,
)
from core.domain.step import StepBody, Usage, decode_body
from core.formats.imported import Imported
from core.formats.name_table import NameTable
from core.formats.run_alignment import Payload, StepSequence, align, own_content, says_more
from core.formats.void_opinions import opinions_in_force, remark

OPEN_ENDS = ("end_not_recorded", "file_grows")
"""Reasons of a state that say that the file may go on."""

_ID_BYTES = 12
"""Bytes of the hash by which an event's id is known."""


class HeldRun:
    """What a log holds of a session, as far as a file's events are compared with it; it may take in more."""

    def __init__(self, bodies: Callable[[], Iterable[bytes]]) -> None:
        """`bodies` gives all its events in order."""
        self.bodies = bodies
        self.tellings: dict[int, list[StepAdded]] = {}
        self.lengths: dict[str, int] = {"": 0}
        """Up to which byte each terminal's output is here."""
        self.is_created = False
        self._ids = NameTable(_ID_BYTES)
        self.add(bodies())

    def add(self, bodies: Iterable[bytes]) -> None:
        """These came to it."""
        for event in map(decode_event, bodies):
            self._ids.add(blob_digest(event.id.encode())[:_ID_BYTES])
            fact = event.fact
            if isinstance(fact, StepAdded):
                self.tellings.setdefault(fact.head.number, []).append(fact)
            elif isinstance(fact, TerminalOutput):
                terminal = f"{fact.host}/{fact.terminal}"
                self.lengths[terminal] = max(self.lengths.get(terminal, 0), fact.offset + fact.size)
            self.is_created |= isinstance(fact, SessionCreated)

    def __contains__(self, id: str) -> bool:
        return self._ids.find(blob_digest(id.encode())[:_ID_BYTES]) >= 0


def missing_events(session: Imported, held: HeldRun, payload: Payload, *, is_part: bool = False, start: int = 0
                   ) -> list[bytes]:
    """The events that `held` lacks, in order; `payload` gives what those name.

    A step that says more than before, as by a result that came late, gets another event under an id of its own, which
    takes the place of the version before. Opinions on it stay, unless the agent's own words or actions in it are
    others: then they are void, and a note says what they were. Opinions of the file on steps that say something else
    here become such a note too. Output of a terminal goes on from where the held output ends.

    `is_part`: the session goes on beyond this file, of which only late results and opinions are new. `start`: so many
    of its first events were compared before.
    """
    return _Comparison(session, held, payload, is_part).missing(start)


class _Comparison:
    """One session of a file beside what the log holds of it."""

    def __init__(self, session: Imported, held: HeldRun, payload: Payload, is_part: bool) -> None:
        self._session, self._held, self._payload, self._is_part = session, held, payload, is_part
        self._lengths = dict(held.lengths)
        self._added: dict[int, list[StepAdded]] = {}
        self._bodies: dict[int, str] = {}
        self._elsewhere: list[Event] = []
        self._found: list[bytes] = []

    def missing(self, start: int) -> list[bytes]:
        """The events in order."""
        for body in self._session.bodies[start:]:
            event = decode_event(body)
            match event.fact:
                case StepAdded() as fact:
                    self._take_step(event, fact, body)
                case OpinionFact(step=step) if step and event.id not in self._held:
                    (self._found.append(body) if self._is_here(step) else self._elsewhere.append(event))
                case TerminalOutput() as fact if not self._is_part:
                    self._continue(event, fact)
                case fact if event.id not in self._held and self._is_wanted(fact):
                    self._found.append(body)
        self._tell_of(self._elsewhere, "says something else in this session than where this was said of it")
        return self._found

    def _is_wanted(self, fact: object) -> bool:
        if isinstance(fact, SessionCreated):
            return not self._held.is_created
        if isinstance(fact, Branched):
            return not (self._held.tellings or self._added)
        return isinstance(fact, AnnotationFact) or not self._is_part

    # ---- steps -------------------------------------------------------------------------------------

    def _take_step(self, event: Event, fact: StepAdded, body: bytes) -> None:
        number = fact.head.number
        self._bodies[number] = fact.body
        tellings = self._tellings(number)
        if not tellings:
            self._found.append(body)
        elif (changed := self._next_telling(event, fact, tellings)) is not None:
            self._found.append(encode_event(changed))
            fact = changed.fact if isinstance(changed.fact, StepAdded) else fact
        else:
            return
        self._added.setdefault(number, []).append(fact)

    def _tellings(self, number: int) -> list[StepAdded]:
        return [*self._held.tellings.get(number, ()), *self._added.get(number, ())]

    def _next_telling(self, event: Event, fact: StepAdded, tellings: Sequence[StepAdded]) -> Event | None:
        """The step's next telling, or None where it says nothing new."""
        last = tellings[-1]
        counted = next((t.head.usage for t in reversed(tellings) if t.head.usage != Usage()), Usage())
        if any(_content(t) == _content(fact) for t in tellings) and fact.head.usage in (counted, Usage()):
            return None
        is_rewritten = not self._is_one_text(last.body, fact.body)
        if not (self._says_more(fact, last) if is_rewritten else self._is_news(fact, last)):
            return None
        name = f"{event.id}-{blob_hash(_content(fact) + msgspec.json.encode(fact.head.usage))[:12]}"
        if name in self._held:
            return None
        if is_rewritten:
            number = fact.head.number
            void = [e for e in opinions_in_force(self._held.bodies()) if e.fact.step == number]  # type: ignore[attr-defined]
            self._tell_of(void, "goes on in its file after this was said of it, so that it holds no more")
        changed = msgspec.structs.replace(fact, counted=counted, is_rewritten=is_rewritten,
                                          is_error_counted=any(t.head.is_error for t in tellings),
                                          is_report_counted=last.head.is_report)
        return msgspec.structs.replace(event, id=name, fact=changed)

    def _is_news(self, fact: StepAdded, last: StepAdded) -> bool:
        """Whether what came back for a step is more than was held, or, in a whole file, at least as much."""
        if fact.body == last.body:
            return not self._is_part
        new, old = _amount(self._body(fact.body)), _amount(self._body(last.body))
        return new > old or (new == old and not self._is_part)

    def _says_more(self, fact: StepAdded, last: StepAdded) -> bool:
        is_named = bool(fact.item) and fact.item == last.item
        return says_more(self._body(fact.body), self._body(last.body), is_named)

    def _is_here(self, number: int) -> bool:
        """Whether a step says here what it says in the file at this place, or is in neither."""
        tellings, name = self._tellings(number), self._bodies.get(number)
        return self._is_one_text(tellings[-1].body, name) if tellings and name else not tellings

    def _is_one_text(self, one: str, two: str) -> bool:
        """Whether the agent's own words and actions are the same in two bodies."""
        return one == two or own_content(self._body(one)) == own_content(self._body(two))

    def _body(self, name: str) -> StepBody:
        return decode_body(self._session.blobs[name] if name in self._session.blobs else self._payload(name))

    def _tell_of(self, events: Sequence[Event], why: str) -> None:
        for event in remark(self._session, events, why):
            if event.id not in self._held:
                self._found.append(encode_event(event))

    # ---- terminals ---------------------------------------------------------------------------------

    def _continue(self, event: Event, fact: TerminalOutput) -> None:
        """Add output that goes beyond what is held; what was cut off elsewhere at first is not added twice."""
        terminal = f"{fact.host}/{fact.terminal}"
        start = self._lengths.get(terminal, 0)
        if fact.offset + fact.size <= start:
            return
        self._lengths[terminal] = fact.offset + fact.size
        if fact.offset >= start:
            self._found.append(encode_event(event))
            return
        data = (fact.data or self._session.blobs[fact.blob])[start - fact.offset :]
        rest = msgspec.structs.replace(fact, offset=start, size=len(data), data=data, blob="")
        self._found.append(encode_event(msgspec.structs.replace(event, id=f"{event.id}-{start}", fact=rest)))


def _content(fact: StepAdded) -> bytes:
    return msgspec.json.encode([fact.body, fact.context, fact.completion])


def _amount(body: StepBody) -> tuple[int, int, int]:
    """How much came back for a step's actions."""
    ended = sum(o.status != "running" for o in body.observations)
    return len(body.observations), ended, sum(len(o.output.text) for o in body.observations)


# ---- runs that only their content names ------------------------------------------------------------


def is_same_run(held: Sequence[bytes], session: Imported, payload: Payload) -> bool:
    """Whether held events are a state, earlier or equal, of a session that only its content names.

    So it is where all steps are equal; or where the run had no end then and its steps are the first of the session's,
    of which only the last of several may differ, for its result may have come late.
    """
    one, two = StepSequence(held, payload), StepSequence(session.bodies, session.blobs.__getitem__)
    before, after = [s.body for s in one.steps], [s.body for s in two.steps]
    if not before or len(before) > len(after):
        return False
    if before == after:
        return True
    begins = before == after[: len(before)] or (len(before) > 1 and before[:-1] == after[: len(before) - 1])
    return begins and not _has_end(held) and align(one, two).shared >= len(before)


def without_open_end(session: Imported) -> tuple[Imported, SessionStateChanged | None]:
    """The session without an end that only says that the file stops here, and that end."""
    event = decode_event(session.bodies[-1])
    fact = event.fact
    if not isinstance(fact, SessionStateChanged) or (fact.state != "stopped" and fact.reason not in OPEN_ENDS):
        return session, None
    return msgspec.structs.replace(session, bodies=session.bodies[:-1]), fact


def renamed(session: Imported, name: str) -> Imported:
    """The same session under another name."""
    old, new = session.session.encode(), name.encode()
    return msgspec.structs.replace(session, session=name, bodies=tuple(b.replace(old, new) for b in session.bodies))


def _has_end(bodies: Iterable[bytes]) -> bool:
    states = [f for b in bodies if isinstance(f := decode_event(b).fact, SessionStateChanged)]
    return bool(states) and states[-1].reason not in OPEN_ENDS
