"""Requests that are valid and odd, or small and costly, at a gateway's door: served as they are meant, or refused with
a reason, and never by a defect of ours."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.gateway_bench import TOKEN, Bench
from support.scripted_upstream import Script, Upstream, serve

from core.gateway import inlet
from core.store.blobs import compress

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "TASK-MAIN"}], "tools": [
    {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {
        "command": {"type": "string"}}}}}]}).encode()
PACKED = gzip.compress(BODY)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    yield from serve(Script(subagents=False))


def request(body: bytes, *, fields: str = "", version: str = "1.1",
            key: str = f"Authorization: Bearer {TOKEN}") -> bytes:
    return (f"POST /v1/chat/completions HTTP/{version}\r\n{key}\r\n{fields}Content-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n").encode() + body


def asked(folder: Path, upstream: Upstream, *sent: bytes) -> list[bytes]:
    """What each of them is answered, whole, on a connection of its own."""
    async def main() -> list[bytes]:
        async with asyncio.timeout(60), Bench(folder, upstream.url + "/v1").open() as bench:
            return [await _spoken(bench.port, data) for data in sent]

    return asyncio.run(main())


async def _spoken(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_packed_request_is_taken_whole_or_not_at_all(tmp_path: Path, upstream: Upstream) -> None:
    two = gzip.compress(BODY[:50]) + gzip.compress(BODY[50:])
    good = [request(PACKED, fields=f"Content-Encoding: {coding}\r\n") for coding in ("gzip", "GZIP", "x-gzip")]
    good += [request(two, fields="Content-Encoding: gzip\r\n")]
    bad = [request(data, fields="Content-Encoding: gzip\r\n") for data in (PACKED[:-9], PACKED[:-1], PACKED + b"abc")]
    bad += [request(zlib.compress(BODY), fields="Content-Encoding: deflate\r\n")]
    answers = asked(tmp_path, upstream, *good, *bad)
    assert [status(answer) for answer in answers] == [200] * 4 + [400] * 4
    assert all(b"unpacked" in answer or b"coded as" in answer for answer in answers[4:])
    assert [got.raw for got in upstream.received] == [BODY] * 4


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("zstd", compress)])
def test_what_a_small_request_unpacks_to_needs_its_room(tmp_path: Path, upstream: Upstream, coding: str,
                                                        pack: Callable[[bytes], bytes],
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlet, "MOST_HELD", 1 << 20)
    bomb = request(pack(b" " * (2 << 20) + BODY), fields=f"Content-Encoding: {coding}\r\n")
    answers = asked(tmp_path, upstream, bomb, request(BODY))
    assert answers[0] == inlet._BUSY and status(answers[1]) == 200 and len(upstream.received) == 1


def test_what_is_nested_too_deeply_is_refused_and_what_is_not_goes_on(tmp_path: Path, upstream: Upstream) -> None:
    depths = [50, 300, 450, 700, 900, 990, 100_000]
    nested = [request(BODY.replace(b'"TASK-MAIN"', b"[" * n + b'"TASK-MAIN"' + b"]" * n)) for n in depths]
    answers = asked(tmp_path, upstream, *nested)
    assert {status(answer) for answer in answers} == {200, 400}, [status(answer) for answer in answers]
    assert status(answers[0]) == 200 and status(answers[-1]) == 400
    assert all(b"nested" in answer or b"recursion" in answer for answer in answers if status(answer) == 400)


def test_old_and_careless_agents_are_served(tmp_path: Path, upstream: Upstream) -> None:
    old = request(BODY, version="1.0", fields="Expect: 100-continue\r\n")
    lower = request(BODY, key=f"authorization: bearer  {TOKEN}")
    pipelined = request(BODY).replace(b"Connection: close\r\n", b"") + request(BODY)
    answers = asked(tmp_path, upstream, old, lower, pipelined, request(BODY, fields="Expect: 100-continue\r\n"))
    assert [status(answer) for answer in answers] == [200, 200, 200, 100]
    assert [answer.count(b"HTTP/1.1 200") for answer in answers] == [1, 1, 2, 1]
    assert len(upstream.received) == 5
