"""An endpoint whose answer never ends, or never begins, costs its session an error, and its runner neither memory nor
time without bound."""

from __future__ import annotations

import asyncio

import pytest
from support.hostile import within

from core.domain.errors import Unavailable
from core.gateway import http_head, sse
from core.gateway.sse import EventReader
from core.gateway.upstream import Upstream


def asked(answer: bytes, again: bytes) -> bytes:
    """What comes of an endpoint that sends `answer`, and `again` until it is hung up on."""
    async def main() -> bytes:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            try:
                while True:
                    writer.write(again)
                    await writer.drain()
            except OSError:
                writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, asyncio.timeout(60):
            upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            got = await upstream.send("POST", "/v1/x", (), b"{}").answer()
            try:
                return b"".join([piece async for piece in got.pieces()])
            finally:
                got.close()

    return asyncio.run(main())


@pytest.mark.parametrize(("answer", "again"), [
    (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n"),
    (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
])
def test_an_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch, answer: bytes, again: bytes) -> None:
    monkeypatch.setattr(http_head, "MOST_ANSWER", 1 << 20)
    with pytest.raises(Unavailable):
        asked(answer, again)


def test_an_event_without_an_end_costs_what_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST_EVENT", 16 << 20)
    reader = EventReader()
    with within(50):
        for _ in range(384):
            assert not list(reader.take(b"x" * 65536))
    assert list(reader.take(b'\n\ndata: {"a": 1}\r\n\r')) == [("", {"a": 1})]
    assert list(reader.take(b'\ndata: {"b": 2}\n')) == []
    assert list(reader.take(b"\n")) == [("", {"b": 2})]
