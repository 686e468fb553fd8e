"""Opinions stand on the text that they were given on: which of them do, and a note on those that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.domain.blob import blob_hash
from core.domain.events import Event, NoteAdded, OpinionFact, StepAdded, TagSet, VerdictGiven, decode_event, make_event
from core.domain.step_entry import VOID
from core.domain.verdict import Author
from core.formats.imported import Imported

_MOST = 2000
"""Characters of one opinion that a note repeats."""

_MOST_OF_ALL = 100_000
"""Characters of all of them; the log has them whole."""


def opinions_in_force(bodies: Iterable[bytes]) -> list[Event]:
    """What was said of steps and of the session, without what was said of texts that steps have no more."""
    found: list[Event] = []
    for event in map(decode_event, bodies):
        if isinstance(event.fact, StepAdded) and event.fact.is_rewritten:
            number = event.fact.head.number
            found = [e for e in found if isinstance(e.fact, OpinionFact) and e.fact.step != number]
        elif isinstance(event.fact, OpinionFact):
            found.append(event)
    return found


def remark(session: Imported, opinions: Sequence[Event], why: str) -> Iterator[Event]:
    """A note on the session for each step of which opinions do not hold: what they were, and why they do not."""
    steps: dict[int, list[Event]] = {}
    for event in opinions:
        if isinstance(event.fact, OpinionFact):
            steps.setdefault(event.fact.step, []).append(event)
    for step, events in steps.items():
        text = f"Step {step} {why}: {'; '.join(map(_words, events))[:_MOST_OF_ALL]}."
        name = f"{session.session}{VOID}{blob_hash(' '.join(e.id for e in events).encode())[:16]}"
        yield make_event(NoteAdded(step=0, text=text), Author(kind="import", name=session.format), id=name)


def _words(event: Event) -> str:
    who = event.author.name or event.author.kind
    match event.fact:
        case VerdictGiven(value=value, reason=reason):
            return f"{who}: {value}{f' ({reason[:_MOST]})' if reason else ''}"
        case TagSet(tag=tag, on=on):
            return f"{who}: {'tag' if on else 'no tag'} {tag}"
        case NoteAdded(text=text, anchor=anchor):
            return f"{who}: “{text[:_MOST]}”{f' on the words “{anchor.exact}”' if anchor else ''}"
    return who
