"""What an endpoint may send that is odd, endless or slow, over real sockets: the agent gets what it would have got, or
an error; the log holds what the agent may act on, or says why not; neither time nor memory is without bound."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.gateway_bench import TOKEN, Bench, ask

from core.domain.events import ExchangeMade
from core.gateway import answer_reader, http_head, inlet, upstream

PATH = "/v1/chat/completions"
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
EVENTS = "text/event-stream"
Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


def chunk_of(content: str) -> str:
    return json.dumps({"model": "m", "choices": [{"index": 0, "delta": {"content": content}}]}, ensure_ascii=False)


LAST = json.dumps({"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def event_stream(*datas: bytes, end: bytes = b"\n\n") -> bytes:
    return b"".join(b"data: " + data + end for data in (*datas, LAST.encode(), b"[DONE]"))


def answer(body: bytes, *fields: str, first: str = "HTTP/1.1 200 OK", length: bool = True) -> bytes:
    given = [first, *fields, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*given, "", ""]).encode() + body


@asynccontextmanager
async def endpoint(sends: bytes, again: bytes = b"", pause_s: float = 0.0) -> AsyncIterator[tuple[str, list[int]]]:
    """Sends `sends` to every request, then `again` after pauses until it is hung up on, or ends the connection; counts
    requests."""
    seen: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]))
            seen.append(1)
            writer.write(sends)
            while again:
                writer.write(again)
                await writer.drain()
                await asyncio.sleep(pause_s)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


def through(folder: Path, sends: bytes, again: bytes = b"", pause_s: float = 0.0, *, is_stream: bool = True
            ) -> tuple[int, bytes, ExchangeMade, str, int]:
    """What the agent got (status 0: broken off), and what the log says: the exchange, the step's words (of the answer
    that the journal holds), how often the endpoint was asked."""
    async def main() -> tuple[int, bytes, ExchangeMade, str, int]:
        async with endpoint(sends, again, pause_s) as (url, seen), asyncio.timeout(60):
            bench = Bench(folder, url)
            async with bench.open():
                body = {"model": "m", "messages": [{"role": "user", "content": "w"}], "stream": is_stream,
                        "tools": TOOLS}
                try:
                    status, _, got = await asyncio.to_thread(ask, bench.port, PATH, body)
                except (OSError, http.client.HTTPException):
                    status, got = 0, b""
                while not bench.exchanges():
                    await asyncio.sleep(0.01)
                (made,) = bench.exchanges()
                opened = bench.seam._lines.main.steps.open
                words = opened.answer.message.content if opened and opened.answer else ""
                return status, got, made, words, len(seen)

    return asyncio.run(main())


HELLO = chunk_of("héllo 日本").encode()


@pytest.mark.parametrize(("body", "words"), [
    (event_stream(HELLO, end=b"\r\n\r\n"), "héllo 日本"),
    (event_stream(HELLO, end=b"\r\r"), "héllo 日本"),
    (event_stream(HELLO, end=b"\n\r\n"), "héllo 日本"),
    (b"\xef\xbb\xbf" + event_stream(HELLO), "héllo 日本"),
    (b": only\n\n:\n\n" * 2000 + event_stream(HELLO), "héllo 日本"),
    (event_stream(HELLO.replace(b"llo", b"l\xff\xc3o")), "hél��o 日本"),
    (event_stream(rb'{"model": "m", "choices": [{"delta": {"content": "half \ud83d, nul \u0000"}}]}'),
     "half ?, nul \0"),
    (event_stream(chunk_of("x" * (3 << 20)).encode()), "x" * (3 << 20)),
    (event_stream(b"\0\0", b'{"a": NaN}', b"[" * 100_000, HELLO), "héllo 日本"),
    (event_stream(*(b'{"choices": 7}', b'{"choices": [{"delta": 1}], "usage": []}', HELLO)), "héllo 日本"),
], ids=["crlf", "cr", "mixed", "mark", "comments", "broken UTF-8", "surrogate", "huge line", "no JSON", "odd JSON"])
def test_odd_bytes_reach_the_agent_as_they_are_and_the_log_as_it_reads_them(tmp_path: Path, body: bytes, words: str
                                                                            ) -> None:
    status, got, made, logged, _ = through(tmp_path, answer(body, f"Content-Type: {EVENTS}"))
    assert (status, got, made.problem) == (200, body, ""), made
    assert logged == words


def test_bytes_that_come_one_by_one_are_the_same(tmp_path: Path) -> None:
    body = event_stream(HELLO, end=b"\r\n\r\n")
    sends = answer(b"".join(http_head.chunk(body[n : n + 1]) for n in range(len(body))) + b"0\r\nTrailer: x\r\n\r\n",
                   f"Content-Type: {EVENTS}", "Transfer-Encoding: chunked", length=False)
    status, got, made, logged, _ = through(tmp_path, sends)
    assert (status, got, made.problem, logged) == (200, body, "", "héllo 日本")


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_packed_answer_is_passed_on_packed_and_read(tmp_path: Path, coding: str, pack: Callable[[bytes], bytes]
                                                      ) -> None:
    body = pack(event_stream(HELLO))
    status, got, made, logged, _ = through(
        tmp_path, answer(body, f"Content-Type: {EVENTS}", f"Content-Encoding: {coding}"))
    assert (status, got, made.problem, logged) == (200, body, "", "héllo 日本")


@pytest.mark.parametrize("first", ["HTTP/1.0 200 OK", "HTTP/1.1 200 OK"])
def test_an_answer_without_a_length_ends_with_its_connection(tmp_path: Path, first: str) -> None:
    body = event_stream(HELLO)
    status, got, made, logged, _ = through(tmp_path, answer(body, f"Content-Type: {EVENTS}", first=first, length=False))
    assert (status, got, made.problem, logged) == (200, body, "", "héllo 日本")


SSE = (f"Content-Type: {EVENTS}",)
CHUNKED = (*SSE, "Transfer-Encoding: chunked")
PING = http_head.chunk(b": x\n\n" * 5000)
BOMB = zlib.compress(b"\n" * (8 << 20), 9)


@pytest.mark.parametrize(("sends", "again", "pause_s", "why"), [
    (answer(b"", *CHUNKED, length=False), PING, 0.0, "a body of more than"),
    (answer(b"", *CHUNKED, length=False), http_head.chunk(b": x\n\n"), 0.02, "took more than"),
    (answer(b"data: ", *SSE, length=False), b"x" * 65536, 0.0, "a body of more than"),
    (answer(b"", *CHUNKED, length=False), b"", 0.0, "broke off"),
    (answer(b"5\r\nab", *CHUNKED, length=False), b"", 0.0, "broke off"),
    (answer(b"0\r\n", *CHUNKED, length=False), b"Trailer: " + b"y" * 4000 + b"\r\n", 0.0, "trailers"),
    (answer(b"", *CHUNKED, length=False), b"1" * 65536, 0.0, "a chunk"),
    (answer(b"ffffffff\r\n", *CHUNKED, length=False), b"x" * 65536, 0.0, "a chunk of"),
    (answer(b"", *SSE, "Content-Length: 99999999999", length=False), b"x" * 65536, 0.0, "length"),
    (answer(b"", *SSE, "Transfer-Encoding: gzip, chunked", length=False), b"", 0.0, "transfer coding"),
    (answer(event_stream(HELLO), *SSE, "Content-Encoding: br"), b"", 0.0, "the coding 'br'"),
    (answer(event_stream(HELLO), *SSE, "Content-Encoding: gzip"), b"", 0.0, "cannot be unpacked"),
    (answer(BOMB, *SSE, "Content-Encoding: deflate"), b"", 0.0, "bytes unpacked"),
    (answer(event_stream(HELLO)[:60], *SSE), b"", 0.0, "broke off"),
    (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 65536, 0.0, "head that is too long"),
    (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", b"", 0.0, "a head that breaks off"),
    (b"\0\xff\r\n\r\n", b"", 0.0, "the first line"),
    (b"HTTP/1.1 200 O\rX: K\r\n\r\n", b"", 0.0, "the first line"),
    (b"", b"H", 0.02, "did not answer within"),
    (b"", b"", 0.0, "without an answer"),
], ids=["endless", "endless and slow", "an endless line", "no end", "half a chunk", "trailers", "a size",
        "a large size", "a length", "a transfer coding", "brotli", "no gzip", "a bomb", "cut", "a head", "line feeds",
        "no HTTP", "a reason", "drops", "nothing"])
def test_what_never_ends_or_cannot_be_read_is_given_up_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sends: bytes, again: bytes, pause_s: float, why: str
) -> None:
    for module in (http_head, answer_reader):
        monkeypatch.setattr(module, "MOST_ANSWER", 1 << 20)
    if pause_s:  # it is too slow rather than too long
        monkeypatch.setattr(upstream, "SILENCE_S", 0.5)
        monkeypatch.setattr(upstream, "LONGEST_S", 0.5)
    status, got, made, logged, asked = through(tmp_path, sends, again, pause_s)
    assert why in made.problem, made.problem
    assert (logged, asked) == ("", 1), "no step is made of it, and nothing is asked twice"
    assert status in (0, 200, 503)
    if status == 503:
        assert why in json.loads(got)["error"]["message"]


async def spoken(bench: Bench, data: bytes) -> bytes:
    """All that comes back for bytes of an agent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
    writer.write(data)
    try:
        return await reader.read()
    except OSError:
        return b""
    finally:
        writer.close()


def asking(version: str = "1.1", body: bytes = b"") -> bytes:
    body = body or json.dumps({"model": "m", "messages": [{"role": "user", "content": "w"}], "stream": True,
                               "tools": TOOLS}).encode()
    return (f"POST {PATH} HTTP/{version}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode() + body


def test_slow_many_and_old_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlet, "REQUEST_S", 0.3)
    monkeypatch.setattr(inlet, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(inlet, "MOST_HELD", 1 << 20)
    sends = answer(http_head.chunk(event_stream(HELLO)) + b"0\r\n\r\n", *CHUNKED, length=False)

    async def main() -> None:
        async with endpoint(sends) as (url, _), asyncio.timeout(60), Bench(tmp_path, url).open() as bench:
            half = asking()[:-9]
            for slow in (b"POST /v1/x HTT", half, half.replace(b"Content-Length", b"X").replace(
                    b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n")):
                assert (await spoken(bench, slow)).startswith(b"HTTP/1.1 400"), "it never ends its request"
            refused = await spoken(bench, asking(body=b"{" + b" " * (1 << 20)))  # or it is hung up on in its midst
            assert refused in (b"", inlet._BUSY)
            old = await spoken(bench, asking("1.0"))
            assert old.endswith(event_stream(HELLO)) and b"chunked" not in old, "HTTP/1.0 knows no chunks"
            idle = [await asyncio.open_connection("127.0.0.1", bench.port) for _ in range(3)]
            assert await spoken(bench, asking()) in (b"", inlet._BUSY)
            for _, writer in idle:
                writer.close()

    asyncio.run(main())


def test_an_agent_that_takes_nothing_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlet, "STUCK_S", 0.3)
    sends = answer(b"", *CHUNKED, length=False)

    async def main() -> None:
        async with endpoint(sends, PING) as (url, _), asyncio.timeout(60), Bench(tmp_path, url).open() as bench:
            _, writer = await asyncio.open_connection("127.0.0.1", bench.port, limit=1024)
            writer.write(asking())
            while not bench.exchanges():
                await asyncio.sleep(0.05)
            assert bench.exchanges()[0].is_discarded and "hung up" in bench.exchanges()[0].problem
            writer.close()

    asyncio.run(main())
