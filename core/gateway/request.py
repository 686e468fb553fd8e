"""One request of an agent to its model, as the gateway reads it before it is passed on."""

import re
import zlib
from collections.abc import Callable, Iterator

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.gateway.dialect import Body, Dialect, Json, decode_raw
from core.gateway.http_head import MOST_BODY, Head
from core.gateway.items import ItemsReader, WrittenItems
from core.gateway.lines import Asked, identity_of
from core.store.blobs import decompress

_SHORT = 100
"""Bytes of a field of tools that may hold none."""
_LONGEST_FORM = 20_000
_UNPACKED_AT_ONCE = 16 << 20
_MUST = ("required", "function", "any", "tool")
"""How the dialects say that a tool is to be called."""


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that asks for an answer."""

    dialect: Dialect
    path: str
    body: Body
    conversation: WrittenItems
    asked: Asked
    decoded: dict[bytes, Json] = {}
    """The values of some entries, which nobody may change."""
    is_stream: bool = False
    model: str = ""

    def values(self, first: int = 0) -> Iterator[Json]:
        """The entries of its conversation from one on."""
        return (self.decoded.get(item) or decode_raw(item) for item in self.items[first:])

    @property
    def items(self) -> list[bytes]:
        """The entries of its conversation as they were written."""
        return self.conversation.items

    @property
    def chain(self) -> list[bytes]:
        """The names of its prefixes."""
        return self.conversation.links


class RequestReader:
    """Reads requests; remembers what items mean, so that a long context costs its new items."""

    def __init__(self, summary: str = "") -> None:
        """`summary` is a pattern of the words with which the agent asks for a summary, "" where none is known."""
        self._conversations = ItemsReader()
        self._summary = re.compile(summary) if summary else None

    def read(self, dialect: Dialect, head: Head, raw: bytes) -> AgentRequest:
        """Raises InvalidInput: bad_request_body; stored_state for one that leaves its context to the provider."""
        try:
            body, conversation, decoded = self._conversations.read(dialect, raw)
        except RecursionError as error:
            raise InvalidInput("bad_request_body", "The agent's request is nested too deeply.") from error
        state = next((name for name in dialect.stored_state if body.get(name)), "")
        if state:
            raise InvalidInput("stored_state", f"This gateway passes no {state} on: the request would not hold its "
                               "context, and nobody could see what the model is given.", field=state)
        identity, is_subagent = identity_of(head)
        tools = body.bytes_of("tools")
        asked = Asked(identity=identity, is_subagent=is_subagent, tools=_name(tools),
                      has_tools=len(tools) > _SHORT or bool(body.get("tools")), chain=conversation.links,
                      opening=conversation.opening, is_summary=self._is_summary(conversation.items),
                      is_formed=_is_formed(body))
        path = head.path
        return AgentRequest(dialect=dialect, path=path, body=body, conversation=conversation, asked=asked,
                            decoded=decoded, is_stream=dialect.is_stream(path, body), model=dialect.model(path, body))

    def _is_summary(self, items: list[bytes]) -> bool:
        if self._summary is None or not items:
            return False
        return self._summary.search(items[-1].decode("utf-8", "replace")) is not None


def _is_formed(body: Body) -> bool:
    """Whether the model must call the one tool that there is."""
    if len(body.bytes_of("tools")) > _LONGEST_FORM or "tool_choice" not in body.fields:
        return False
    choice, tools = body.get("tool_choice"), body.get("tools")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    return kind in _MUST and isinstance(tools, list) and len(tools) == 1


def _name(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}-{len(data)}"


def plain_body(head: Head, raw: bytes, take: Callable[[int], object] = int) -> bytes:
    """The body without its coding; `take` is told how much room it needs more. Raises InvalidInput for a coding that
    nobody here reads."""
    coding = head.field("content-encoding").lower()
    try:
        match coding:
            case "" | "identity":
                return raw
            case "gzip" | "x-gzip":
                return _unzipped(raw, take)
            case "zstd":
                plain = decompress(raw)
                take(len(plain))
                return plain
    except (zlib.error, ValueError, ReportableError) as error:
        raise InvalidInput("bad_request_body", f"The agent's request cannot be unpacked: {error}") from error
    raise InvalidInput("bad_request_body", f"The agent's request is coded as {coding[:40]!r}.", coding=coding[:40])


def _unzipped(raw: bytes, take: Callable[[int], object]) -> bytes:
    """All members of a gzip file (RFC 1952). Raises zlib.error where one is not whole or they are too much."""
    whole = bytearray()
    while raw:
        member = zlib.decompressobj(31)
        while not member.eof:
            piece = member.decompress(raw, _UNPACKED_AT_ONCE)
            take(len(piece))
            whole += piece
            raw = member.unconsumed_tail
            if len(whole) > MOST_BODY or not (piece or raw or member.eof):
                raise zlib.error("it is too long" if piece else "it breaks off")
        raw = member.unused_data
    return bytes(whole)
