"""A model in this process, and the HTTP endpoint that serves it to any OpenAI client."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.tiny_model import make_model, smollm2, trl_template

from core.aio import TaskScope
from core.domain.errors import InvalidInput
from core.domain.message import Message, ToolCall
from core.domain.task import ModelSettings
from core.llm.local import LocalModel
from core.llm.model import EndpointError, Request, ToolSpec
from core.llm.serve_local import ModelEndpoint, read_request
from core.llm.token_prompt import split_calls

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
HELLO = (Message(role="user", content="Hello 你好"),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(make_model(tmp_path_factory.mktemp("tiny")))


def local(folder: str) -> LocalModel:
    return LocalModel(ModelSettings(kind="local", name=folder))


def test_the_prompt_is_the_text_that_the_renderer_trains_on(tmp_path):
    from core.export.render import Renderer

    folder = make_model(tmp_path, template=trl_template("qwen3"))
    tools = (ToolSpec(name="run_command", description="d"),)
    call = ToolCall(id="1", name="run_command", arguments='{"command": "ls 训练"}')
    messages = (*HELLO, Message(role="assistant", content="look", tool_calls=(call,), reasoning="never sent"),
                Message(role="tool", content="a b", tool_call_id="1", name="run_command"))
    model, renderer = local(str(folder)), Renderer(folder)
    ids = model._load()[2].prompt(Request(messages=messages, tools=tools)).ids
    done = Message(role="assistant", content="done")
    rendered = renderer.render([*messages, done], [False, True, False, True], tools)
    assert renderer.decode(ids) == renderer.apply(messages, tools, prompt=True)
    assert rendered.ids[: len(ids)] == ids and rendered.mask[len(ids) :] == [1] * (len(rendered.ids) - len(ids))


@pytest.mark.parametrize("name", ["gemma3", "cohere"])
def test_a_template_that_demands_turns_is_served_a_persons_neighbouring_messages_as_one(tmp_path, name):
    from core.export.render import Renderer
    from core.export.rows import with_alternating_roles
    from core.export.sample import Sample, SamplePart

    folder = make_model(tmp_path, template=trl_template(name))
    messages = (Message(role="user", content="Task"), Message(role="user", content="<real_user>Wait 等</real_user>"),
                Message(role="assistant", content="look"), Message(role="user", content="out"),
                Message(role="user", content="And keep the seed."))
    model = local(str(folder))
    ids = model._load()[2].prompt(Request(messages=messages)).ids
    sample = with_alternating_roles(Sample(session="s", kind="react", step=1,
                                           parts=tuple(SamplePart(message=m) for m in messages)))
    renderer = Renderer(folder)
    assert renderer.decode(ids) == renderer.apply([p.message for p in sample.parts], prompt=True)
    assert "Task\n\n<real_user>Wait 等</real_user>" in renderer.decode(ids)
    own = local(str(make_model(tmp_path / "own", template=trl_template("qwen3"))))
    assert own._tokenizer().decode(own._load()[2].prompt(Request(messages=messages)).ids).count("user\n") == 4


def test_an_answer_streams_counts_its_tokens_and_repeats_itself(folder):
    async def ask():
        model, seen = local(folder), []
        first = await model.complete(Request(messages=HELLO, max_tokens=8), seen.append)
        again = await model.complete(Request(messages=HELLO, max_tokens=8))
        await model.close()
        return first, again, seen

    first, again, seen = asyncio.run(ask())
    assert first.message == again.message and first.usage == again.usage
    assert first.usage.output_tokens == 8 and first.usage.input_tokens > 8 and first.finish_reason == "length"
    assert len(seen) >= 8 and len(seen[-1]) > len(seen[0])


def test_a_context_that_is_too_long_and_a_folder_without_a_model_are_named(folder, tmp_path):
    long = Request(messages=(Message(role="user", content="word " * 6000),))
    with pytest.raises(EndpointError) as refused:
        asyncio.run(local(folder).complete(long))
    assert refused.value.code == "context_too_long"
    with pytest.raises(InvalidInput, match="holds no model"):
        local(str(tmp_path))


def test_a_cancelled_answer_stops_and_the_next_one_is_given(folder):
    async def ask():
        model, started = local(folder), asyncio.Event()
        async with TaskScope("test") as scope:
            request = Request(messages=HELLO, max_tokens=3000)
            task = scope.spawn(model.complete(request, lambda text: started.set()), name="endless")
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return await model.complete(Request(messages=HELLO, max_tokens=2))

    assert asyncio.run(asyncio.wait_for(ask(), 60)).usage.output_tokens == 2


@pytest.mark.parametrize(("text", "content", "calls"), [
    ("plain <b>", "plain <b>", []),
    ('go\n<tool_call>\n{"name": "run", "arguments": {"a": "训"}}\n</tool_call>', "go", [("run", '{"a": "训"}')]),
    ('<tool_call>{"name": "a"}</tool_call><tool_call>{"name": "b", "arguments": {}}', "", [("a", "{}"), ("b", "{}")]),
    ("<tool_call>{broken</tool_call>", "", [("null", "{broken")]),
    ('<tool_call>{"name": 3}</tool_call>', "", [("null", '{"name": 3}')]),
])
def test_calls_are_read_from_text(text, content, calls):
    assert split_calls(text) == (content, calls)


def test_requests_of_the_api_are_read(folder):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    request = read_request({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]},
                                      {"role": "assistant", "content": None, "tool_calls": [call]},
                                      {"role": "tool", "tool_call_id": "1", "content": "ok"}],
                         "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]})
    assert request.messages[0].content == "hi" and request.messages[1].tool_calls[0].name == "f"
    assert request.messages[2].tool_call_id == "1" and request.tools[0].name == "f"
    for bad in ({}, {"messages": [3]}, {"messages": []}):
        with pytest.raises(InvalidInput):
            read_request(bad)


async def over_http(model, use):
    endpoint = ModelEndpoint(model)
    url = await endpoint.start()
    try:
        return await use(url)
    finally:
        await endpoint.close()


async def raw(url: str, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.split(":")[2].split("/")[0]))
    writer.write(data)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def test_an_openai_client_gets_the_same_answer_plain_and_streamed(folder):
    openai = pytest.importorskip("openai")

    async def use(url):
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            ask = {"model": "x", "messages": [{"role": "user", "content": "Hello 你好"}], "max_tokens": 8}
            plain = await client.chat.completions.create(**ask)
            parts, usage = [], None
            async for chunk in await client.chat.completions.create(**ask, stream=True):
                parts += [c.delta.content or "" for c in chunk.choices]
                usage = chunk.usage or usage
            models = await client.models.list()
            return plain, "".join(parts), usage, models.data[0].id, len(parts)

    plain, streamed, usage, name, parts = asyncio.run(over_http(local(folder), use))
    assert plain.choices[0].message.content == streamed and parts > 2
    assert plain.usage.completion_tokens == usage.completion_tokens == 8
    assert name == local(folder).name and plain.choices[0].finish_reason == "length"


def test_what_is_no_request_is_answered_and_the_endpoint_lives_on(folder):
    async def use(url):
        answers = [await raw(url, b"nonsense\r\n\r\n"), await raw(url, b"GET /v1/nothing HTTP/1.1\r\n\r\n"),
                await raw(url, b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"),
                await raw(url, b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
                await raw(url, b"GET /v1/models HTTP/1.1\r\n\r\n")]
        return [int(t.split(b" ")[1]) for t in answers], answers[-1]

    codes, last = asyncio.run(over_http(local(folder), use))
    assert codes == [400, 404, 400, 400, 200]
    assert json.loads(last.split(b"\r\n\r\n")[1])["data"][0]["object"] == "model"


@pytest.mark.model
@pytest.mark.timeout(240)
def test_smollm2_answers_over_http():
    openai = pytest.importorskip("openai")
    model = local(str(smollm2()))

    async def use(url):
        async with openai.AsyncOpenAI(base_url=url, api_key="none", timeout=120) as client:
            ask = {"model": "x", "max_tokens": 8,
                   "messages": [{"role": "user", "content": "What is the capital of France? One sentence."}]}
            return (await client.chat.completions.create(**ask)).choices[0].message.content

    assert "Paris" in asyncio.run(over_http(model, use))
