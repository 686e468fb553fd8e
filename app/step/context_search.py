"""At which steps a text was in the context, and which messages left it for good. Pure, fit for a thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from app.kit.safe_text import visible
from core.domain.context import ContextDelta, MessageRef, apply_delta
from core.domain.errors import InvalidInput, NotFound
from core.domain.events import StepAdded, decode_event
from core.domain.message import Message, decode_message
from core.store import blobs, log
from core.store.sqlite import Connection, connect

_CHUNK = 256
Given = tuple[int, ContextDelta]
"""A step's number and its context, as a delta to the step before."""


class Presence(msgspec.Struct, frozen=True):
    """Where a text was: runs of steps (first and last number), the messages with it, payloads that are not here."""

    text: str = ""
    runs: tuple[tuple[int, int], ...] = ()
    hashes: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    read_at: int = 0
    """The first step that had the text from anybody but the model: a tool, a person, its instructions; 0: none."""

    def is_own(self, step: int) -> bool:
        """Whether the model has the text at a step from nobody but itself. Not known while messages are not here."""
        return self.holds(step) and not self.missing and not 0 < self.read_at <= step

    def holds(self, step: int) -> bool:
        """Whether the text was in the context of a step."""
        return any(first <= step <= last for first, last in self.runs)

    def last_before(self, step: int) -> int | None:
        """The last step not after `step` whose context held the text."""
        return max((min(last, step) for first, last in self.runs if first <= step), default=None)


def wanted_text(text: str) -> str:
    """A text as it is compared: hidden characters visible, white space alike, letters alike."""
    return " ".join(visible(text, escapes=False).split()).casefold()


def haystack(message: Message) -> str:
    """All that a message gave to the model; reasoning is never sent back."""
    parts = [message.content]
    for call in message.tool_calls:
        parts += [call.name, call.arguments, *_texts_of(call.arguments)]
    return wanted_text("\n".join(parts))


class StepsInLog(msgspec.Struct, frozen=True):
    """Where the steps of a session are to be read: the log or replica, and each step's number and place (`seq`)."""

    path: Path
    session: str
    numbers: tuple[int, ...]
    seqs: tuple[int, ...]


def given_in_log(conn: Connection, steps: StepsInLog) -> list[Given]:
    """The steps with their contexts, read from the log."""
    found: list[Given] = []
    for first in range(0, len(steps.seqs), _CHUNK):
        seqs = steps.seqs[first : first + _CHUNK]
        held = log.bodies(conn, steps.session, seqs)
        for number, seq in zip(steps.numbers[first : first + _CHUNK], seqs, strict=True):
            fact = decode_event(held[seq]).fact if seq in held else None
            found.append((number, fact.context if isinstance(fact, StepAdded) else ContextDelta()))
    return found


def find_in_contexts(steps: StepsInLog, text: str) -> Presence:
    """Look through every message that was ever in a context; the payloads are read from a log or replica."""
    wanted = wanted_text(text)
    with closing(connect(steps.path, readonly=True)) as conn:
        given = given_in_log(conn, steps)
        names = list(dict.fromkeys(p.hash for _, delta in given for p in delta.parts if isinstance(p, MessageRef)))
        missing = set(blobs.missing(conn, names))
        hits = frozenset(n for n in names if n not in missing and wanted in _read(conn, n))
    with_it = [(number, {ref.role for ref in refs if ref.hash in hits}) for number, refs in contexts_of(given)]
    return Presence(text, tuple(_runs((number, bool(roles)) for number, roles in with_it)), hits,
                    tuple(n for n in names if n in missing),
                    next((number for number, roles in with_it if roles - {"assistant"}), 0))


def left_in_log(steps: StepsInLog) -> list[tuple[MessageRef, int]]:
    """`left_for_good` of the steps of a log."""
    with closing(connect(steps.path, readonly=True)) as conn:
        return left_for_good(given_in_log(conn, steps))


def left_for_good(given: Sequence[Given]) -> list[tuple[MessageRef, int]]:
    """The messages that an earlier context held and the last one does not, each with the step that was without it."""
    since: dict[str, tuple[MessageRef, int]] = {}
    before: dict[str, MessageRef] = {}
    for number, refs in contexts_of(given):
        now = {ref.hash: ref for ref in refs}
        since.update((h, (ref, number)) for h, ref in before.items() if h not in now)
        for name in now:
            since.pop(name, None)
        before = now
    return list(since.values())


def contexts_of(given: Iterable[Given]) -> Iterator[tuple[int, list[MessageRef]]]:
    """The whole context of each step in turn; a damaged delta ends it."""
    held: list[MessageRef] = []
    for number, delta in given:
        try:
            held = apply_delta(held, delta)
        except InvalidInput:
            return
        yield number, held


def _read(conn: Connection, name: str) -> str:
    try:
        return haystack(decode_message(blobs.get(conn, name)))
    except (InvalidInput, NotFound):
        return ""


def _runs(present: Iterable[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    for on, run in groupby(present, itemgetter(1)):
        if on:
            numbers = [number for number, _ in run]
            yield numbers[0], numbers[-1]


def _texts_of(arguments: str) -> list[str]:
    """The texts inside a call's arguments, as the model meant them."""
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return []
    return [value for value in decoded.values() if isinstance(value, str)] if isinstance(decoded, dict) else []
