"""Bytes ↔ messages. A message of an unknown type is an error to the server and ignorable to a client."""

from typing import Annotated, Any, cast

import msgspec

from core.domain.bounds import Id, Many, Sequence
from core.domain.errors import InvalidInput
from core.domain.session import decode_row
from core.protocol.messages import Command, FromServer, Sessions, ToServer, Wire
from core.protocol.operations import AnyOp, Op

MAX_TEXT_FRAME = 4 * 1024 * 1024
"""Largest text frame in bytes that either end accepts; set on purpose, the library's default is 1 MiB."""

EVENTS_PER_FRAME = 256
BYTES_PER_FRAME = 512 * 1024
"""How much one Events or Append frame may hold: whichever is reached first (one event is always sent)."""

MAX_EVENT = 2 * 1024 * 1024
"""Largest event in bytes; what is longer belongs into a payload."""

_TO_SERVER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(ToServer)
_FROM_SERVER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(FromServer)
_OP: msgspec.json.Decoder[AnyOp] = msgspec.json.Decoder(AnyOp)


class UnreadableOp(Op, frozen=True, kw_only=True, tag="unreadable"):
    """What stands for an operation that is none of ours or out of bounds, so that its command can be refused.

    Never asked for: no decoder makes one of what a peer sends.
    """

    raw: bytes
    why: str


class _LooseCommand(msgspec.Struct, tag_field="type", tag="command"):
    id: Id
    cseq: Sequence
    session: Id
    op: msgspec.Raw
    again: bool = False


class _LooseSessions(msgspec.Struct, tag_field="type", tag="sessions"):
    rows: Annotated[tuple[msgspec.Raw, ...], Many]


_COMMAND = msgspec.json.Decoder(_LooseCommand)
_SESSIONS = msgspec.json.Decoder(_LooseSessions)


def encode(message: Wire) -> str:
    """The text frame of a message."""
    return msgspec.json.encode(message).decode()


def encode_bytes(message: Wire) -> bytes:
    """The same as UTF-8, for a socket that takes it so (`send(frame, text=True)`): nothing is copied."""
    return msgspec.json.encode(message)


def decode_to_server(frame: str | bytes) -> Wire:
    """A message that a peer sent to the server. Raises InvalidInput.

    A command whose operation cannot be read has an `UnreadableOp`: it is refused by an answer. Were it a broken frame,
    its sender would connect and send it again for ever.
    """
    try:
        return _decode(_TO_SERVER, frame)
    except InvalidInput as error:
        try:
            loose = _COMMAND.decode(frame)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise error from error.__cause__
        op = UnreadableOp(raw=bytes(loose.op), why=str(error.__cause__))
        return Command(id=loose.id, cseq=loose.cseq, session=loose.session, again=loose.again, op=cast(AnyOp, op))


def decode_from_server(frame: str | bytes) -> Wire:
    """A message of the server. Raises InvalidInput. Rows that cannot be read say so, each by itself."""
    try:
        return _decode(_FROM_SERVER, frame)
    except InvalidInput as error:
        try:
            loose = _SESSIONS.decode(frame)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise error from error.__cause__
        return Sessions(rows=tuple(map(decode_row, loose.rows)))


def check_op(op: AnyOp) -> bytes:
    """The bytes of an operation. Raises InvalidInput (bad_op) where a server would not take it."""
    body = msgspec.json.encode(op)
    try:
        _OP.decode(body)
    except (ValueError, RecursionError) as error:
        raise bad_op(str(error)) from error
    return body


def decode_op(body: bytes) -> AnyOp:
    """The operation of bytes that `check_op` made, perhaps in an older version with other bounds: then an
    `UnreadableOp`, which the server refuses."""
    try:
        return _OP.decode(body)
    except (ValueError, RecursionError) as error:
        return cast(AnyOp, UnreadableOp(raw=body, why=str(error)))


def bad_op(why: str) -> InvalidInput:
    """Why an operation is refused."""
    return InvalidInput("bad_op", f"This cannot be asked of a server: {why}", why=why)


def check_event(body: bytes) -> bytes:
    """The same bytes. Raises InvalidInput where an event is too large to travel."""
    if len(body) > MAX_EVENT:
        raise InvalidInput("event_too_large", f"An event of {len(body)} bytes is larger than {MAX_EVENT}.")
    return body


def _decode(decoder: msgspec.json.Decoder[Any], frame: str | bytes) -> Wire:
    try:
        message: Wire = decoder.decode(frame)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_frame", f"A frame cannot be read: {error}") from error
    return message
