"""The OpenAI client against a real HTTP server that streams, fails, cuts answers off and talks nonsense."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable

import pytest

from core.domain.message import Message, ToolCall, payload
from core.domain.task import ModelSettings
from core.llm.model import Completion, EndpointError, PastTokens, Request, ToolSpec
from core.llm.openai import OpenAIModel

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Endpoint:
    """Answers each request with the next of its replies, and keeps what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.bodies: list[dict[str, object]] = []
        self.headers: list[str] = []

    async def __aenter__(self) -> Endpoint:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(re.findall(r"(?i)content-length: (\d+)", head)[0])
            self.headers.append(head)
            self.bodies.append(json.loads(await reader.readexactly(length)))
            await self.replies.pop(0)(writer)
            await writer.drain()
        finally:
            writer.close()


def stream(*chunks: object, end: bool = True) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for chunk in chunks:
            text = chunk if isinstance(chunk, str) else json.dumps(chunk)
            writer.write(f"data: {text}\n\n".encode())
            await writer.drain()
        if end:
            writer.write(b"data: [DONE]\n\n")

    return reply


def status(code: int, body: object = "", *headers: str) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        data = json.dumps(body).encode()
        text = "".join(f"{h}\r\n" for h in headers)
        writer.write(f"HTTP/1.1 {code} No\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
                     f"Connection: close\r\n{text}\r\n".encode() + data)

    return reply


async def drop(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def piece(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, text: str, name: str | None = None, id_: str | None = None) -> dict[str, object]:
    return {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": text}}


USAGE = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1", "choices": [],
         "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020,
                   "prompt_tokens_details": {"cached_tokens": 900}}}
REQUEST = Request(messages=(Message(role="user", content="hello"),), tools=(ToolSpec(name="ls"),), max_tokens=99)


def ask(*replies: Reply, request: Request = REQUEST, texts: list[str] | None = None, **settings: object
        ) -> tuple[Completion, Endpoint]:
    async def main() -> tuple[Completion, Endpoint]:
        async with asyncio.timeout(60), Endpoint(*replies) as endpoint:
            model = OpenAIModel(ModelSettings(kind="openai", name="tiny", base_url=endpoint.url, **settings))  # type: ignore[arg-type]
            try:
                return await model.complete(request, None if texts is None else texts.append), endpoint
            finally:
                await model.close()

    return asyncio.run(main())


def refused(*replies: Reply, **settings: object) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        ask(*replies, **settings)
    return caught.value


def test_a_stream_with_text_calls_usage_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    texts: list[str] = []
    completion, endpoint = ask(
        stream(piece(reasoning_content="hm"), piece(content="I "), piece(content="look."),
               piece(tool_calls=[call(0, '{"pa', "ls", "id-1")]), piece(tool_calls=[call(1, "{}", "think", "id-2")]),
               piece(tool_calls=[call(0, 'th": "."}')]), piece("tool_calls"), USAGE),
        texts=texts, key_env="A_KEY", input_price=2.0, output_price=10.0, temperature=0.5)
    assert completion.message == Message(role="assistant", content="I look.", reasoning="hm", tool_calls=(
        ToolCall(id="id-1", name="ls", arguments='{"path": "."}'), ToolCall(id="id-2", name="think", arguments="{}")))
    assert texts == ["I ", "I look."]
    usage = completion.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1000, 20, 900)
    assert usage.cost_usd == pytest.approx(0.0022)
    assert (completion.model, completion.finish_reason) == ("tiny-1", "tool_calls")
    assert "Bearer sk-very-secret" in endpoint.headers[0]
    sent = endpoint.bodies[0]
    assert (sent["max_tokens"], sent["temperature"], sent["stream"]) == (99, 0.5, True)
    assert sent["tools"][0]["function"]["name"] == "ls"  # type: ignore[index]


def test_thinking_left_in_the_text_is_reasoning() -> None:
    completion, _ = ask(stream(piece(content="<think>deep</think>\n\nshallow"), piece("stop")))
    assert (completion.message.content, completion.message.reasoning) == ("shallow", "deep")


@pytest.mark.parametrize(("reply", "code", "retry_after"), [
    (status(429, {"error": {"message": "slow down"}}, "Retry-After: 7"), "endpoint_busy", 7.0),
    (status(500, {"error": {"message": "oops"}}), "endpoint_failed", None),
    (status(503, "overloaded", "Retry-After: soon"), "endpoint_failed", None),
    (status(400, {"error": {"message": "the maximum context length is 8192 tokens"}}), "context_too_long", None),
    (status(401, {"error": {"message": "bad key"}}), "endpoint_refused", None),
    (stream(piece(content="half"), end=False), "endpoint_nonsense", None),
    (stream(piece(content="half")), "endpoint_nonsense", None),
    (stream("{not json"), "endpoint_nonsense", None),
    (stream({"choices": [{"index": 0}]}), "endpoint_nonsense", None),
    (stream({"error": {"message": "exploded", "code": 500}}), "endpoint_nonsense", None),
    (status(200, {"hello": "there"}), "endpoint_nonsense", None),
    (drop, "endpoint_unreachable", None),
])
def test_whatever_an_endpoint_does_is_one_kind_of_error(reply: Reply, code: str, retry_after: float | None) -> None:
    error = refused(reply)
    assert (error.code, error.retry_after) == (code, retry_after)


def test_one_attempt_only() -> None:
    async def main() -> int:
        async with Endpoint(status(500), status(500)) as endpoint:
            model = OpenAIModel(ModelSettings(kind="openai", name="tiny", base_url=endpoint.url))
            with pytest.raises(EndpointError):
                await model.complete(REQUEST)
            await model.close()
            return len(endpoint.bodies)

    assert asyncio.run(main()) == 1


def test_an_argument_that_an_endpoint_does_not_take_is_left_out_from_then_on() -> None:
    sentence = ("Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.")

    async def main() -> list[dict[str, object]]:
        replies = (status(400, {"error": {"message": sentence}}), stream(piece(content="hi"), piece("stop")))
        async with Endpoint(*replies) as endpoint:
            model = OpenAIModel(ModelSettings(kind="openai", name="tiny", base_url=endpoint.url))
            with pytest.raises(EndpointError):
                await model.complete(REQUEST)
            await model.complete(REQUEST)
            await model.close()
            return endpoint.bodies

    first, second = asyncio.run(main())
    assert first["max_tokens"] == 99 and "max_tokens" not in second and second["max_completion_tokens"] == 99


def test_a_missing_key_is_said_and_never_sent() -> None:
    assert "NO_SUCH_KEY" in refused(stream(piece("stop")), key_env="NO_SUCH_KEY").sentence


def test_nothing_listens() -> None:
    async def main() -> None:
        model = OpenAIModel(ModelSettings(kind="openai", name="tiny", base_url="http://127.0.0.1:9/v1"))
        try:
            await model.complete(REQUEST)
        finally:
            await model.close()

    with pytest.raises(EndpointError, match="cannot be reached"):
        asyncio.run(main())


def test_what_is_sent_back_is_always_acceptable() -> None:
    odd = Message(role="assistant", tool_calls=(ToolCall(id="1", name="a b/c" * 30, arguments="{oops"),),
                  reasoning="secret thoughts")
    sent = payload(odd)
    assert sent["content"] is None and "secret thoughts" not in json.dumps(sent)
    function = sent["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == {"malformed": "{oops"}
    assert len(function["name"]) == 64 and "/" not in function["name"]


def whole(body: dict[str, object]) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        data = json.dumps(body).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)

    return reply


def told(*, prompt: object = (5, 6, 7), ids: object = (8, 9), logprobs: object = (-0.5, -1.5), used: int = 2,
         sglang: bool = False) -> Reply:
    choice: dict[str, object] = {"index": 0, "finish_reason": "stop",
                                 "message": {"role": "assistant", "content": "hi"}}
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "t", "logprob": p, "top_logprobs": []} for p in logprobs]}
    if ids is not None:
        choice["token_ids"] = list(ids)
    body: dict[str, object] = {"id": "x", "object": "chat.completion", "created": 1, "model": "served@4",
                               "choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": used,
                                                              "total_tokens": 3 + used}}
    (choice if sglang else body)["prompt_token_ids"] = list(prompt)
    return whole(body)


def asked_with_tokens(reply: Reply, past: object = None) -> tuple[Completion, dict[str, object]]:
    async def ask() -> tuple[Completion, dict[str, object]]:
        async with Endpoint(reply) as endpoint:
            model = OpenAIModel(ModelSettings(kind="openai", name="m", base_url=endpoint.url, records_tokens=True))
            request = Request(messages=(Message(role="user", content="hi"),), past=past, seed=11)
            made = await model.complete(request)
            await model.close()
            return made, endpoint.bodies[0]

    return asyncio.run(ask())


@pytest.mark.parametrize("sglang", [False, True])
def test_an_engine_s_tokens_are_taken_with_their_log_probabilities(sglang):
    made, body = asked_with_tokens(told(sglang=sglang))
    assert body["return_token_ids"] is True and body["logprobs"] is True and not body.get("stream")
    assert (body["temperature"], body["top_p"], body["seed"]) == (1.0, 1.0, 11)
    one = made.sampled
    assert (one.prompt_ids, one.ids, one.logprobs, one.policy) == ([5, 6, 7], [8, 9], [-0.5, -1.5], "served@4")
    assert made.message.content == "hi" and not made.unsampled and not one.continues


def test_an_engine_s_prompt_that_goes_on_is_a_delta_and_one_that_was_split_otherwise_begins_a_row():
    on, _ = asked_with_tokens(told(), PastTokens([5, 6], 1))
    assert on.sampled.continues and on.sampled.prompt_ids == [7]
    drifted, _ = asked_with_tokens(told(), PastTokens([5, 66], 1))
    assert not drifted.sampled.continues and drifted.sampled.prompt_ids == [5, 6, 7]


@pytest.mark.parametrize(("reply", "why"), [
    (told(ids=None), "ids of the answer"), (told(logprobs=None), "log-probabilities"),
    (told(logprobs=(-0.5,)), "2 ids and 1 log"), (told(used=3), "counts 3 tokens of the answer and gives 2"),
    (told(prompt=(5, 6)), "counts 3 tokens of the prompt and gives 2"), (told(prompt=()), "ids of the prompt"),
    (told(ids=("8", "9")), "ids of the answer"), (told(logprobs=(-0.5, 3.0)), "above 0"),
    (told(ids=(8, 2**40)), "token's id")])
def test_tokens_that_do_not_fit_together_are_never_taken(reply, why):
    made, _ = asked_with_tokens(reply)
    assert made.sampled is None and why in made.unsampled and made.message.content == "hi"
