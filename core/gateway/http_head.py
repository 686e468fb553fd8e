"""Heads of HTTP/1.1 messages (RFC 9112), and bodies by their framing: as much as a gateway needs, and strict.

A head is bounded, its framing must be plain (one length, or chunks), so no request can hide in another's body.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cached_property, lru_cache

import msgspec

from core.domain.errors import InvalidInput

LONGEST_HEAD = 64 << 10
MOST_BODY = 256 << 20
MOST_ANSWER = 64 << 20
"""Bytes of an endpoint's answer, which is held until it is whole: of a stream that never ends no more is read."""
PIECE = 1 << 16
HOP = frozenset({"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
                 "content-length", "host", "expect"})
"""Fields of one connection, which are never passed on."""

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_REQUEST = re.compile(rb"([A-Z]{1,20}) ([\x21-\x7e]{1,8192}) HTTP/1\.([01])\Z")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([^\x00-\x1f\x7f]*))?\Z")
Fields = tuple[tuple[str, str], ...]


class Head(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The first line and the fields of a message. `method` and `target` are a request's, `status` an answer's."""

    method: str = ""
    target: str = ""
    status: int = 0
    reason: str = ""
    fields: Fields = ()
    is_old: bool = False
    """HTTP/1.0: its connection ends with the answer unless it asks otherwise."""

    def field(self, name: str) -> str:
        """The value of a field, several joined by commas; "" without one."""
        return self._named.get(name, "")

    @cached_property
    def _named(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, value in self.fields:
            name = key.lower()
            found[name] = f"{found[name]}, {value}" if name in found else value
        return found

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @cached_property
    def length(self) -> int | None:
        """How long the body is; None where it comes in chunks, or (an answer) until the end. Raises InvalidInput."""
        if self.field("transfer-encoding"):
            return None
        length = self.field("content-length")
        if not length:
            return None if self.status else 0
        if not length.isdecimal() or int(length) > MOST_BODY:
            raise bad_http(f"a body of the length {length[:20]!r}")
        return int(length)

    @cached_property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks. Raises InvalidInput for any other coding of transfer."""
        coding = self.field("transfer-encoding").lower()
        if coding not in ("", "chunked"):
            raise bad_http(f"the transfer coding {coding[:40]!r}")
        if coding and self.field("content-length") and not self.status:
            raise bad_http("two lengths")
        return bool(coding)

    def passed_on(self, without: Iterable[str] = ()) -> Fields:
        """The fields that go on to the other side."""
        named = {name.strip().lower() for name in self.field("connection").split(",")}
        dropped = HOP | named | {*without}
        return tuple((name, value) for name, value in self.fields if name.lower() not in dropped)


async def read_head(reader: asyncio.StreamReader, *, first: bytes = b"") -> Head | None:
    """The next head; None where the connection ends before it. `first` was read already. Raises InvalidInput."""
    raw = first
    try:
        while not raw.endswith(b"\r\n\r\n"):
            raw += await reader.readuntil(b"\r\n\r\n")
            if len(raw) > LONGEST_HEAD:
                raise bad_http("a head that is too long")
    except asyncio.IncompleteReadError as error:
        if raw or error.partial:
            raise bad_http("a head that breaks off") from error
        return None
    except ConnectionError:
        return None
    except asyncio.LimitOverrunError as error:
        raise bad_http("a head that is too long") from error
    return _parse(raw)


def _parse(raw: bytes) -> Head:
    line, *rest = raw[:-4].lstrip(b"\r\n").split(b"\r\n")
    fields = tuple(_field(one) for one in rest)
    if request := _REQUEST.match(line):
        return Head(method=request[1].decode(), target=request[2].decode(), fields=fields, is_old=request[3] == b"0")
    if answer := _STATUS.match(line):
        return Head(status=int(answer[1]), reason=(answer[2] or b"").decode("latin-1"), fields=fields,
                    is_old=line.startswith(b"HTTP/1.0"))
    raise bad_http(f"the first line {line[:60]!r}")


@lru_cache(maxsize=512)
def _field(line: bytes) -> tuple[str, str]:
    """A field; those of an agent are mostly the same in each of its requests."""
    name, colon, value = line.partition(b":")
    if not colon or not _NAME.match(name) or b"\0" in value or b"\n" in value or b"\r" in value:
        raise bad_http(f"the field {line[:60]!r}")
    return name.decode(), value.strip(b" \t").decode("latin-1")


def write_head(first: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """The bytes of a head."""
    return "\r\n".join((first, *(f"{name}: {value}" for name, value in fields), "", "")).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """A piece of a body in chunks; of no data the end."""
    return b"%x\r\n%b\r\n" % (len(data), data)


async def body_pieces(reader: asyncio.StreamReader, head: Head, *, is_head: bool = False) -> AsyncIterator[bytes]:
    """The body behind a head, as it comes; of an answer MOST_ANSWER at most. `is_head`: that to HEAD, which has none.

    Raises InvalidInput for nonsense, ConnectionError where it breaks off.
    """
    if is_head or head.status in (204, 304) or 100 <= head.status < 200:
        return
    most, total = MOST_ANSWER if head.status else MOST_BODY, 0
    pieces = _chunks(reader) if head.is_chunked else _to_the_end(reader) if head.length is None else (
        _exactly(reader, head.length))
    try:
        if (head.length or 0) > most:
            raise bad_http(f"a body of more than {most:,} bytes")
        async for piece in pieces:
            total += len(piece)
            if total > most:
                raise bad_http(f"a body of more than {most:,} bytes")
            yield piece
    except asyncio.IncompleteReadError as error:
        raise ConnectionResetError("the body broke off") from error
    except asyncio.LimitOverrunError as error:
        raise bad_http("a chunk without a size") from error


async def _to_the_end(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while piece := await reader.read(PIECE):
        yield piece


async def _exactly(reader: asyncio.StreamReader, left: int) -> AsyncIterator[bytes]:
    while left:
        piece = await reader.read(min(PIECE, left))
        if not piece:
            raise ConnectionResetError("the body broke off")
        left -= len(piece)
        yield piece


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        line = (await reader.readuntil(b"\r\n"))[:-2].partition(b";")[0].strip()
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", line):
            raise bad_http(f"a chunk of the size {line[:20]!r}")
        size = int(line, 16)
        if not size:
            await _pass_trailers(reader)
            return
        if size > MOST_BODY:
            raise bad_http(f"a chunk of {size:,} bytes")
        async for piece in _exactly(reader, size):
            yield piece
        if await reader.readexactly(2) != b"\r\n":
            raise bad_http("a chunk without an end")


async def _pass_trailers(reader: asyncio.StreamReader) -> None:
    """Fields behind a body in chunks, which nobody here reads."""
    length = 0
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        length += len(line)
        if length > LONGEST_HEAD:
            raise bad_http("trailers that are too long")


async def whole_body(reader: asyncio.StreamReader, head: Head, take: Callable[[int], object] = int) -> bytes:
    """All of a request's body; `take` is told how much of it comes, before it is held. Raises InvalidInput,
    ConnectionError."""
    length = head.length
    if length is not None and not head.is_chunked:
        take(length)
        try:
            return await reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the body broke off") from error
    body = bytearray()
    async for piece in body_pieces(reader, head):
        take(len(piece))
        body += piece
    return bytes(body)


def bad_http(what: str) -> InvalidInput:
    """The error for a message that cannot be read, or is too much."""
    return InvalidInput("bad_http", f"An HTTP message has {what}.")
