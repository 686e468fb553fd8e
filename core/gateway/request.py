"""One request of an agent to its model, as the gateway reads it before it is passed on."""

from __future__ import annotations

import re
import zlib

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.gateway.chain import ChainMaker
from core.gateway.dialect import Body, Dialect, decode_raw
from core.gateway.http_head import MOST_BODY, Head
from core.gateway.lines import Asked, identity_of
from core.store.blobs import decompress


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that asks for an answer. `items` are the entries of its conversation as they were written."""

    dialect: Dialect
    path: str
    body: Body
    items: list[bytes]
    chain: list[bytes]
    asked: Asked
    is_stream: bool = False
    model: str = ""


class RequestReader:
    """Reads requests; remembers what items mean, so that a long context costs its new items."""

    def __init__(self, summary: str = "") -> None:
        """`summary` is a pattern of the words with which the agent asks for a summary, "" where none is known."""
        self._chains = ChainMaker()
        self._summary = re.compile(summary) if summary else None

    def read(self, dialect: Dialect, head: Head, raw: bytes) -> AgentRequest:
        """Raises InvalidInput: bad_request_body; stored_state for one that leaves its context to the provider."""
        body = Body(raw)
        state = next((name for name in dialect.stored_state if body.get(name)), "")
        if state:
            raise InvalidInput("stored_state", f"This gateway passes no {state} on: the request would not hold its "
                               "context, and nobody could see what the model is given.", field=state)
        items = self._items(dialect, body)
        chain = self._chains.chain(items)
        identity, is_subagent = identity_of(head)
        asked = Asked(identity=identity, is_subagent=is_subagent, tools=_name(body.bytes_of("tools")),
                      has_tools=bool(body.get("tools")), chain=chain, opening=_opening(dialect, items),
                      is_summary=self._is_summary(items))
        path = head.path
        return AgentRequest(dialect=dialect, path=path, body=body, items=items, chain=chain, asked=asked,
                            is_stream=dialect.is_stream(path, body), model=dialect.model(path, body))

    @staticmethod
    def _items(dialect: Dialect, body: Body) -> list[bytes]:
        given = body.fields.get(dialect.items)
        if given is None:
            raise InvalidInput("bad_request_body", f"The agent's request has no {dialect.items}.")
        if bytes(given).lstrip()[:1] == b'"':  # text alone is one message
            return [msgspec.json.encode({"role": "user", "content": decode_raw(given)})]
        items = body.items(dialect.items)
        if not all(item.lstrip()[:1] == b"{" for item in items):
            raise InvalidInput("bad_request_body", f"{dialect.items} of the agent's request has what is no object.")
        return items

    def _is_summary(self, items: list[bytes]) -> bool:
        last = items[-1].decode("utf-8", "replace") if items else ""
        return self._summary is not None and self._summary.search(last) is not None


def _opening(dialect: Dialect, items: list[bytes]) -> int:
    """How many items at the beginning are the program's own words."""
    for count, item in enumerate(items):
        messages: list[Message] = dialect.messages(decode_raw(item))
        if any(message.role != "system" for message in messages):
            return count
    return len(items)


def _name(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}-{len(data)}"


def plain_body(head: Head, raw: bytes) -> bytes:
    """The body without its coding. Raises InvalidInput for a coding that nobody here reads."""
    coding = head.field("content-encoding").lower()
    try:
        match coding:
            case "" | "identity":
                return raw
            case "gzip":
                return zlib.decompressobj(31).decompress(raw, MOST_BODY)
            case "zstd":
                return decompress(raw)
    except (zlib.error, ValueError, InvalidInput) as error:
        raise InvalidInput("bad_request_body", f"The agent's request cannot be unpacked: {error}") from error
    raise InvalidInput("bad_request_body", f"The agent's request is coded as {coding[:40]!r}.", coding=coding[:40])
