"""A daemon that lies: whatever it answers is bounded, plain data, and the host goes on."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engines import certificates

from core.domain.errors import ReportableError, Unavailable
from core.sandbox.daemon_link import HEADER, DaemonLink
from core.sandbox.replies import DECODER, Entries, FilePart, RanReply, Terminals

HELLO = {"type": "hello", "version": 1, "pid": 1, "workspace": "/workspace"}
Answer = Callable[[dict[str, Any]], list[bytes]]


def frame(message: object, data: bytes = b"") -> bytes:
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return HEADER.pack(len(text), len(data)) + text + data


def lying(tmp_path: Path, answer: Answer, work: Callable[[DaemonLink], Any], **hello: Any) -> None:
    async def life() -> None:
        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    size, extra = HEADER.unpack(await reader.readexactly(HEADER.size))
                    asked = json.loads(await reader.readexactly(size))
                    await reader.readexactly(extra)
                    if asked["op"] == "hello":
                        writer.write(frame({**HELLO, **hello, "rid": asked["rid"]}))
                        continue
                    for piece in answer(asked):
                        writer.write(piece)
                        await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.transport.abort()  # what it has not sent would hold the socket open beyond the loop's end

        server = await asyncio.start_unix_server(client, tmp_path / "s")
        link = DaemonLink(lambda: asyncio.open_unix_connection(tmp_path / "s"), "liar")
        try:
            await work(link)
        finally:
            await link.close()
            server.close()
            await server.wait_closed()

    asyncio.run(life())


DEEP = b'{"type":"terminals","rid":2,"terminals":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize("answer", [
    pytest.param(lambda m: [b"\xff" * 100], id="noise"),
    pytest.param(lambda m: [HEADER.pack(1 << 31, 0)], id="a frame of 2 GiB"),
    pytest.param(lambda m: [HEADER.pack(10, 1 << 31)], id="data of 2 GiB"),
    pytest.param(lambda m: [frame(b"{not json")], id="not JSON"),
    pytest.param(lambda m: [frame(DEEP)], id="a deep nest"),
    pytest.param(lambda m: [frame({"type": "builtins.eval", "rid": m["rid"]})], id="an unknown type"),
    pytest.param(lambda m: [frame({"type": "done", "rid": m["rid"]})], id="another type than asked for"),
    pytest.param(lambda m: [frame({"type": "terminals", "rid": m["rid"], "terminals": [{"name": 1}]})],
                 id="a wrong field"),
    pytest.param(lambda m: [frame({"type": "error", "rid": m["rid"], "code": "x" * 99, "text": ""})], id="a long code"),
    pytest.param(lambda m: [frame({"type": "part", "rid": m["rid"]}, b"x" * (1 << 20))] * 20, id="endless parts"),
    pytest.param(lambda m: [frame({"type": "terminals", "rid": m["rid"],
                                   "terminals": [{"name": "x"}] * 501})], id="too many terminals"),
])
def test_nonsense_ends_the_connection_and_the_next_request_connects_anew(tmp_path: Path, answer: Answer) -> None:
    lies = [answer]

    def first_lies(m: dict[str, Any]) -> list[bytes]:
        return lies.pop()(m) if lies else [frame({"type": "terminals", "rid": m["rid"], "terminals": []})]

    async def work(link: DaemonLink) -> None:
        with pytest.raises(Unavailable):
            await link.ask(Terminals, "list", timeout=10)
        reply, _ = await link.ask(Terminals, "list", timeout=60)
        assert reply.terminals == []

    lying(tmp_path, first_lies, work)


def test_the_payload_that_ran_code_elsewhere_is_plain_text(tmp_path: Path) -> None:
    """SWE-ReX turned such a reply into builtins.eval of its text (reliability study, result 9)."""
    canary = tmp_path / "canary"
    text = f"__import__('pathlib').Path({str(canary)!r}).touch()"
    payload = {"type": "error", "code": "not_found", "text": text, "swerexception": {
        "message": text, "class_path": "builtins.eval", "traceback": "", "extra_info": {}}}

    async def work(link: DaemonLink) -> None:
        with pytest.raises(ReportableError) as caught:
            await link.ask(Terminals, "list")
        assert str(caught.value) == text

    lying(tmp_path, lambda m: [frame({**payload, "rid": m["rid"]})], work)
    assert not canary.exists()


def test_silence_ends_after_the_time_limit(tmp_path: Path) -> None:
    async def work(link: DaemonLink) -> None:
        with pytest.raises(Unavailable, match="in time"):
            await link.ask(Terminals, "list", timeout=0.2)

    lying(tmp_path, lambda m: [], work)


def test_another_version_is_refused(tmp_path: Path) -> None:
    async def work(link: DaemonLink) -> None:
        with pytest.raises(Unavailable, match="version"):
            await link.ask(Terminals, "list")

    lying(tmp_path, lambda m: [], work, version=2)


def test_answers_to_nobody_are_dropped(tmp_path: Path) -> None:
    def answer(m: dict[str, Any]) -> list[bytes]:
        stray = frame({"type": "file", "rid": 999, "size": 1}, b"x" * 1000)
        return [stray, stray, frame({"type": "file", "rid": m["rid"], "size": 3}, b"abc")]

    async def work(link: DaemonLink) -> None:
        assert (await link.ask(FilePart, "read_file", path="x"))[1] == b"abc"

    lying(tmp_path, answer, work)


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(
                        st.sampled_from(["type", "rid", "terminals", "entries", "exit_code", "size", "code", "text"])
                        | st.text(max_size=5), inner), max_leaves=10))
def test_any_json_is_a_known_answer_or_an_error(value: object) -> None:
    try:
        reply = DECODER.decode(msgspec.json.encode(value))
    except (msgspec.DecodeError, RecursionError):
        return
    assert type(reply).__module__ == "core.sandbox.replies"


@pytest.mark.parametrize("kind", [RanReply, Entries])
def test_exit_codes_and_lists_are_bounded(kind: type) -> None:
    lies = {RanReply: {"type": "ran", "exit_code": 256},
            Entries: {"type": "entries", "entries": [{"path": "x"}] * 10_001}}
    with pytest.raises(msgspec.ValidationError):
        DECODER.decode(msgspec.json.encode(lies[kind]))


@pytest.mark.parametrize("is_tls", [False, True], ids=["socket", "TLS"])
def test_a_connection_that_ends_while_a_request_is_written_leaves_nothing_behind(tmp_path: Path, caplog, is_tls: bool
                                                                             ) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size, _ = HEADER.unpack(await reader.readexactly(HEADER.size))
        asked = json.loads(await reader.readexactly(size))
        writer.write(frame({**HELLO, "rid": asked["rid"]}))
        await reader.readexactly(HEADER.size)
        writer.transport.abort()

    async def life() -> None:
        if is_tls:
            tls = certificates(tmp_path)
            ours, theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
            ours.load_cert_chain(tls / "server.pem", tls / "server-key.pem")
            theirs.load_verify_locations(tls / "ca.pem")
            server = await asyncio.start_server(client, "127.0.0.1", ssl=ours)
            port = server.sockets[0].getsockname()[1]
            link = DaemonLink(lambda: asyncio.open_connection("localhost", port, ssl=theirs), "away")
        else:
            server = await asyncio.start_unix_server(client, tmp_path / "s")
            link = DaemonLink(lambda: asyncio.open_unix_connection(tmp_path / "s"), "away")
        with pytest.raises(Unavailable):
            await link.ask(Terminals, "terminals", b"x" * (8 << 20))
        await link.close()
        server.close()
        await server.wait_closed()

    asyncio.run(life())
    gc.collect()
    assert [r.getMessage() for r in caplog.records if r.name == "asyncio" or r.levelno >= logging.ERROR] == []


def test_a_way_that_ends_before_the_first_word_is_a_connection_that_was_lost() -> None:
    """The program that leads to the daemon (ssh, say) ends at once: its pipe is lost before it is let go of."""
    async def ended() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        pipe = asyncio.subprocess.PIPE
        way = await asyncio.create_subprocess_exec("true", stdin=pipe, stdout=pipe)
        await way.wait()
        assert way.stdin is not None
        assert way.stdout is not None
        return way.stdout, way.stdin

    async def life() -> None:
        link = DaemonLink(ended, "gone")
        with pytest.raises(Unavailable) as lost:
            await link.ask(Terminals, "terminals")
        assert lost.value.code == "sandbox_lost"
        await link.close()

    asyncio.run(life())
