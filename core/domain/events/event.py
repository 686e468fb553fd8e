"""Events around facts; and their canonical bytes.

An event's body (`id, at, author, fact`) is encoded once, by the party that made it, and those very bytes
travel and rest everywhere: so a replica equals the log byte for byte. The server adds `session` and `seq`.
A fact of a kind that this version does not know is kept as `UnknownFact` and shown as unsupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Any

import msgspec

from core.domain.blob import blob_hash
from core.domain.bounds import Id, Moment
from core.domain.errors import InvalidInput
from core.domain.events import annotation, attention, effect, exchange, guidance, score, session, step, takeover
from core.domain.events.fact import Fact, UnknownFact
from core.domain.ids import new_id
from core.domain.verdict import Author

_SUBJECTS = (session, step, exchange, effect, guidance, score, attention, annotation, takeover)
"""The modules that declare facts."""


def kinds_of(general: type[Fact]) -> tuple[type[Fact], ...]:
    """The kinds of fact below a class, in the order of their declaration."""
    return tuple(_kinds_below(general))


def _kinds_below(general: type[Fact]) -> Iterator[type[Fact]]:
    special = general.__subclasses__()
    if not special and general is not UnknownFact:
        yield general
    for one in special:
        yield from _kinds_below(one)


FACT_KINDS: dict[str, type[Fact]] = {str(kind.__struct_config__.tag): kind for kind in kinds_of(Fact)}
"""Every kind that this version knows, by its tag."""

_ANY_FACT: Any = reduce(or_, FACT_KINDS.values())


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One immutable fact with its identity, time (UTC) and author."""

    id: Id
    at: Moment
    author: Author
    fact: Fact


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """An event in its place: the `seq`-th of its session, counted from 1 without gaps; `body` its bytes."""

    session: str
    seq: int
    body: bytes

    @property
    def event(self) -> Event:
        """The decoded event. Raises InvalidInput (bad_event), which names session and place."""
        try:
            return decode_event(self.body)
        except InvalidInput as error:
            raise InvalidInput("bad_event", f"Event {self.seq} of session {self.session} cannot be read: "
                               f"{error.params['why']}", session=self.session, seq=self.seq, **error.params) from error


def make_event(fact: Fact, author: Author, *, at: datetime | None = None, id: str = "") -> Event:
    """A new event, now, with a new identity unless one is given."""
    return Event(id=id or new_id(), at=at or datetime.now(UTC), author=author, fact=fact)


class _Envelope(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    at: Moment
    author: Author
    fact: msgspec.Raw


class _Kind(msgspec.Struct, frozen=True):
    type: str


_Known = msgspec.defstruct("_Known", [("id", Id), ("at", Moment), ("author", Author), ("fact", _ANY_FACT)],
                           frozen=True, kw_only=True)
_KNOWN: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Known)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_KIND = msgspec.json.Decoder(_Kind)


class _Loose(msgspec.Struct):
    id: str
    at: datetime
    fact: msgspec.Raw


_LOOSE = msgspec.json.Decoder(_Loose)
_NOBODY = Author(kind="import", name="")


def encode_event(event: Event) -> bytes:
    """The bytes of an event, made once by its author.

    Raises InvalidInput for what could not be read again: an unknown fact, a number that is not finite where JSON
    must have one.
    """
    if isinstance(event.fact, UnknownFact):
        raise InvalidInput("unknown_fact", f"An event of the unknown kind {event.fact.kind} cannot be made here.")
    body = msgspec.json.encode(event)
    try:
        _KNOWN.decode(body)
    except _UNREADABLE:
        decode_event(body)  # which says what is wrong
    return body


def decode_event(body: bytes) -> Event:
    """The event of its bytes. Raises InvalidInput where they are no event at all."""
    try:
        known = _KNOWN.decode(body)
    except _UNREADABLE as error:
        return _decode_unknown(body, error)
    return Event(id=known.id, at=known.at, author=known.author, fact=known.fact)


def decode_stored(body: bytes) -> Event:
    """The event of bytes that a log holds already, for those who pass it on or look for other events: what cannot be
    read (an older program took what is out of bounds) is an `UnknownFact`, and nothing is raised."""
    try:
        return decode_event(body)
    except InvalidInput:
        pass
    try:
        loose = _LOOSE.decode(body)
        return Event(id=loose.id[:200], at=loose.at, author=_NOBODY,
                     fact=UnknownFact(kind=_KIND.decode(loose.fact).type, raw=bytes(loose.fact)))
    except _UNREADABLE:
        return Event(id=blob_hash(body), at=datetime.fromtimestamp(0, UTC), author=_NOBODY,
                     fact=UnknownFact(kind="unreadable", raw=body))


def _bad(error: Exception) -> InvalidInput:
    return InvalidInput("bad_event", f"An event cannot be read: {error}", why=str(error))


def _decode_unknown(body: bytes, error: Exception) -> Event:
    """The event around a fact of a newer kind; `error` is why it is none of ours."""
    try:
        envelope = _ENVELOPE.decode(body)
        kind = _KIND.decode(envelope.fact).type
    except _UNREADABLE as deeper:
        raise _bad(deeper) from deeper
    if kind in FACT_KINDS:
        raise _bad(error) from error
    fact = UnknownFact(kind=kind, raw=bytes(envelope.fact))
    return Event(id=envelope.id, at=envelope.at, author=envelope.author, fact=fact)
