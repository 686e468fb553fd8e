"""What the agent receives with the gateway and without: the same bytes; and what the gateway itself says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.gateway_bench import TOKEN, Bench, ask
from support.scripted_upstream import Script, Upstream, serve

from core.agents import seam as seam_module
from core.domain.events import ControlAsked, GuidanceQueued, StepAdded
from core.domain.step import Usage, decode_body
from core.store.blobs import compress

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def requests(items: int = 1) -> dict[str, tuple[str, dict[str, Any]]]:
    """A request of each dialect, streamed where it can be."""
    words = [f"TASK-MAIN {n}" for n in range(items)]
    return {
        "chat": ("/v1/chat/completions", {
            "model": "m", "messages": [{"role": "user", "content": w} for w in words], "stream": True, "seed": 1.50,
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}], "odd": {"é": [1e2]}}),
        "anthropic": ("/v1/messages?beta=true", {
            "model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": w} for w in words], "stream": True,
            "tools": [{"name": "bash", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}]}),
        "responses": ("/v1/responses", {
            "model": "m", "input": [{"role": "user", "content": w} for w in words], "stream": True, "store": False,
            "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}]}),
        "gemini": ("/v1beta/models/m:streamGenerateContent?alt=sse", {
            "contents": [{"role": "user", "parts": [{"text": w}]} for w in words],
            "tools": [{"functionDeclarations": [{"name": "bash", "parameters": SCHEMA}]}]}),
    }


@pytest.fixture
def script() -> Script:
    return Script(subagents=False)


@pytest.fixture
def upstream(script: Script) -> Iterator[Upstream]:
    yield from serve(script)


@pytest.mark.parametrize("dialect", ["chat", "anthropic", "responses", "gemini"])
@pytest.mark.parametrize("is_stream", [True, False])
def test_what_goes_in_and_comes_out_is_what_it_would_be_without_us(tmp_path: Path, upstream: Upstream, dialect: str,
                                                                   is_stream: bool) -> None:
    path, body = requests(3)[dialect]
    if not is_stream:
        body = {k: v for k, v in body.items() if k != "stream"}
        path = path.replace("streamGenerateContent?alt=sse", "generateContent")

    async def main() -> None:
        bench = Bench(tmp_path, upstream.url + ("/v1" if dialect in ("chat", "responses") else ""))
        async with bench.open():
            direct = await asyncio.to_thread(ask, int(upstream.url.rpartition(":")[2]), path, body)
            ours = await asyncio.to_thread(ask, bench.port, path, body)
            without, through = upstream.received
            assert through.raw == without.raw and through.path == without.path
            ids = [n for n in ("date", "server") if n in direct[1]]
            assert ({k: v for k, v in ours[1].items() if k not in ids}
                    == {k: v for k, v in direct[1].items() if k not in ids})
            assert ours[0] == direct[0] == 200
            assert through.headers["X-Custom"] == without.headers["X-Custom"]
            key = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(dialect, "authorization")
            sent = {k.lower(): v for k, v in through.headers.items()}
            assert sent[key].endswith("real-key") and TOKEN not in str(through.headers)
            assert (direct[2], ours[2]) == (without.answer, through.answer)
            (fact,) = bench.exchanges()
            assert bench.journal.blob(fact.answer) == through.answer and not fact.is_discarded
            assert fact.usage == Usage(input_tokens=len(through.raw) // 4, output_tokens=20,
                                       cached_tokens=fact.usage.cached_tokens, cost_usd=fact.usage.cost_usd)
            assert fact.usage.cost_usd == pytest.approx((len(through.raw) // 4 + 40) / 1e6)

    asyncio.run(main())


def test_errors_and_limits_of_rate_come_as_they_are(tmp_path: Path, upstream: Upstream) -> None:
    path, body = requests()["anthropic"]
    upstream.fails = lambda got: True  # type: ignore[method-assign]

    async def main() -> None:
        async with Bench(tmp_path, upstream.url).open() as bench:
            status, headers, said = await asyncio.to_thread(ask, bench.port, path, body)
            assert (status, said) == (529, upstream.received[0].answer) and headers["x-request-id"] == "req_1"
            (fact,) = bench.exchanges()
            assert (fact.status, fact.step, fact.is_discarded) == (529, 1, False)

    asyncio.run(main())


def test_who_has_no_token_or_leaves_its_context_elsewhere_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    path, body = requests()["responses"]

    async def main() -> None:
        async with Bench(tmp_path, upstream.url).open() as bench:
            assert (await asyncio.to_thread(ask, bench.port, path, body, token="guessed"))[0] == 401
            stored = {**body, "previous_response_id": "resp_1"}
            status, _, said = await asyncio.to_thread(ask, bench.port, path, stored)
            assert status == 400 and b"previous_response_id" in said
            assert (await asyncio.to_thread(ask, bench.port, "/v1/files", b"{}"))[0] == 404
            assert (await asyncio.to_thread(ask, bench.port, path, b"[1"))[0] == 400
            assert (await asyncio.to_thread(ask, bench.port, "/", b"", method="HEAD"))[0] == 200
            assert not upstream.received and not bench.exchanges()

    asyncio.run(main())


def test_a_packed_request_is_unpacked_and_a_count_holds_the_guidance(tmp_path: Path, upstream: Upstream) -> None:
    path, body = requests()["anthropic"]

    async def main() -> None:
        async with Bench(tmp_path, upstream.url).open() as bench:
            bench.take(GuidanceQueued(guidance="g1", text="look at the tests"))
            packed = compress(json.dumps(body).encode())
            answer = await asyncio.to_thread(ask, bench.port, path, packed, headers={"Content-Encoding": "zstd"})
            assert answer[0] == 200 and "look at the tests" in upstream.received[0].text
            counted = await asyncio.to_thread(ask, bench.port, "/v1/messages/count_tokens", body)
            bare = len(json.dumps(body)) // 4
            assert json.loads(counted[2])["input_tokens"] > bare and len(bench.exchanges()) == 1

    asyncio.run(main())


@pytest.mark.parametrize("dialect", ["chat", "anthropic", "responses", "gemini"])
@pytest.mark.parametrize("is_stream", [True, False])
def test_a_held_request_shows_signs_of_life_in_its_dialects_way(
        tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, dialect: str, is_stream: bool) -> None:
    monkeypatch.setattr(seam_module, "FIRST_PING_S", 0.05)
    monkeypatch.setattr(seam_module, "PING_S", 0.05)
    path, body = requests()[dialect]
    if not is_stream:
        body = {k: v for k, v in body.items() if k != "stream"}
        path = path.replace("streamGenerateContent?alt=sse", "generateContent")

    async def main() -> None:
        bench = Bench(tmp_path, upstream.url + ("/v1" if dialect in ("chat", "responses") else ""))
        async with bench.open():
            bench.take(ControlAsked(control="pause"))
            asked = asyncio.ensure_future(asyncio.to_thread(ask, bench.port, path, body))  # noqa: TID251
            await asyncio.sleep(0.4)
            assert not upstream.received and not bench.exchanges()
            bench.take(GuidanceQueued(guidance="g1", text="typed meanwhile"), ControlAsked(control="resume"))
            status, _, said = await asked
            sign = {"chat": b": waiting\n\n", "gemini": b"\n", "anthropic": b"event: ping\n",
                    "responses": b"event: keepalive\n"}[dialect] if is_stream else b" "
            assert status == 200 and said.startswith(sign) and said.endswith(upstream.received[0].answer)
            assert "typed meanwhile" in upstream.received[0].text
            assert is_stream or json.loads(said)

    asyncio.run(main())


def test_an_agent_that_hangs_up_leaves_a_discarded_answer_and_comes_again_to_the_same_step(
        tmp_path: Path, upstream: Upstream) -> None:
    path, body = requests()["chat"]
    upstream.script.pace_s = 0.5

    async def main() -> None:
        bench = Bench(tmp_path, upstream.url + "/v1")
        async with bench.open():
            _reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
            raw = json.dumps(body).encode()
            writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: "
                         f"{len(raw)}\r\n\r\n".encode() + raw)
            while not upstream.received:
                await asyncio.sleep(0.01)
            writer.close()
            while not bench.exchanges():
                await asyncio.sleep(0.01)
            assert (await asyncio.to_thread(ask, bench.port, path, body))[0] == 200
            first, second = bench.exchanges()
            assert (first.is_discarded, first.step, second.is_discarded, second.step) == (True, 1, False, 1)
            assert second.relation == "retry" and upstream.received[0].raw != b""

    asyncio.run(main())


def test_a_result_whose_id_the_agent_made_up_is_that_of_the_tools_call(tmp_path: Path, upstream: Upstream) -> None:
    path, body = requests()["gemini"]

    async def main() -> None:
        bench = Bench(tmp_path, upstream.url)
        async with bench.open():
            _, _, answer = await asyncio.to_thread(ask, bench.port, path, body)
            said = json.loads(answer.partition(b"data: ")[2])["candidates"][0]["content"]
            called = [part["functionCall"] for part in said["parts"] if "functionCall" in part]
            assert called and not any("id" in call for call in called)
            came = [{"functionResponse": {"id": f"made-up-{n}", "name": call["name"],
                                          "response": {"output": f"out {n}"}}} for n, call in enumerate(called)]
            body["contents"] += [said, {"role": "user", "parts": came}]
            await asyncio.to_thread(ask, bench.port, path, body)
            (added,) = [fact for fact in bench.journal.facts() if isinstance(fact, StepAdded)]
            step = decode_body(bench.journal.blob(added.body))
            assert [seen.output.text for seen in step.observations] == [f"out {n}" for n in range(len(called))]
            assert not added.head.is_error

    asyncio.run(main())


def test_an_agent_in_a_sandbox_says_nothing_of_its_session(tmp_path: Path, upstream: Upstream) -> None:
    """Its token is the one of the program that a person starts beside an attached agent; those words are not its."""

    async def main() -> None:
        bench = Bench(tmp_path, upstream.url)
        async with bench.open():
            for path, body in (("ended", 0), ("note", "Leave was given."), ("leave", "to do it"), ("turn", True)):
                assert (await asyncio.to_thread(ask, bench.port, f"/tiphys/{path}", body))[0] == 404
            assert not list(bench.journal.facts())

    asyncio.run(main())
