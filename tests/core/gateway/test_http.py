"""Heads and bodies of HTTP as a hostile agent may send them: one framing, bounded, or refused."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.errors import InvalidInput
from core.gateway.http_head import LONGEST_HEAD, Head, body_pieces, chunk, read_head, whole_body, write_head


def reader_of(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_HEAD)
    reader.feed_data(data)
    reader.feed_eof()
    return reader


def parsed(data: bytes) -> tuple[Head | None, bytes]:
    async def main() -> tuple[Head | None, bytes]:
        reader = reader_of(data)
        head = await read_head(reader)
        return head, await whole_body(reader, head) if head else b""

    return asyncio.run(main())


def test_lengths_and_chunks_are_read() -> None:
    head, body = parsed(b"POST /v1/x?a=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcdef")
    assert head and (head.method, head.path, body) == ("POST", "/v1/x", b"abc")
    chunks = chunk(b"ab") + b"1;ext=1\r\nc\r\n" + b"0\r\nTrailer: x\r\n\r\n"
    assert parsed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)[1] == b"abc"
    assert parsed(b"") == (None, b"")


@pytest.mark.parametrize("data", [
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff0\r\nabc\r\n",
    b"POST / HTTP/1.1\r\nBad Name: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nX: a\nY: b\r\n\r\n",
    b"POST /a b HTTP/1.1\r\n\r\n",
    b"nonsense\r\n\r\n",
    b"POST / HTTP/1.1\r\nX: " + b"a" * LONGEST_HEAD + b"\r\n\r\n",
])
def test_what_can_be_read_in_two_ways_or_is_too_much_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        parsed(data)
    assert refused.value.code == "bad_http"


def test_a_body_that_breaks_off_is_no_body() -> None:
    with pytest.raises(ConnectionError):
        parsed(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
    with pytest.raises(ConnectionError):
        parsed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")


def test_an_answer_without_a_length_ends_with_its_connection_and_one_to_head_has_none() -> None:
    async def main() -> tuple[bytes, bytes]:
        reader = reader_of(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        head = await read_head(reader)
        assert head is not None
        bare = [p async for p in body_pieces(reader_of(b"x"), head, is_head=True)]
        return b"".join([p async for p in body_pieces(reader, head)]), b"".join(bare)

    assert asyncio.run(main()) == (b"all of it", b"")


def test_fields_of_one_connection_stay_there() -> None:
    head = Head(status=200, fields=(("Connection", "keep-alive, X-Own"), ("X-Own", "1"), ("X-Other", "2"),
                                    ("Transfer-Encoding", "chunked"), ("Authorization", "k")))
    assert head.passed_on(("authorization",)) == (("X-Other", "2"),)
    assert write_head("HTTP/1.1 200 OK", (("A", "b"),)) == b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
