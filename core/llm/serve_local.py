"""A small HTTP endpoint for a local model: POST /v1/chat/completions (plain and streamed) and GET /v1/models.

For tests and the demonstration, not for the open network: it listens on loopback unless told otherwise, asks for
no key and answers one request at a time. `python -m core.llm.serve_local --model DIR` prints {"url", "model"}.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.domain.ids import new_id
from core.domain.message import Message, ToolCall
from core.domain.task import ModelSettings
from core.gateway.http_head import LONGEST_HEAD, read_head, whole_body, write_head
from core.llm.local import LocalModel
from core.llm.model import Completion, LanguageModel, Request, ToolSpec

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error"}


class ModelEndpoint:
    """Serves one model. `start` returns the base URL that an OpenAI client takes."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._server: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen; port 0 takes a free one."""
        self._server = await asyncio.start_server(self._serve, host, port, limit=LONGEST_HEAD)
        name, number = self._server.sockets[0].getsockname()[:2]
        return f"http://{name}:{number}/v1"

    async def close(self) -> None:
        """Stop listening and let go of the model."""
        if self._server is not None:
            self._server.close()
        await self._model.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if (head := await read_head(reader)) is not None:
                await self._route(head.method, head.path, await whole_body(reader, head), writer)
        except (InvalidInput, ValueError, RecursionError) as error:
            _send(writer, 400, _error("invalid_request_error", str(error)))
        except ReportableError as error:
            _send(writer, 400 if error.code in ("context_too_long", "endpoint_refused") else 500,
                  _error(error.code, error.sentence))
        except ConnectionError:
            pass  # the other side went away
        finally:
            writer.close()

    async def _route(self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if method == "GET" and path == "/v1/models":
            _send(writer, 200, {"object": "list", "data": [{"id": self._model.name, "object": "model"}]})
        elif method == "POST" and path == "/v1/chat/completions":
            question = msgspec.json.decode(body)
            if not isinstance(question, dict):
                raise InvalidInput("bad_request", "The request is no JSON object.")
            request = read_request(question)
            if question.get("stream"):
                await self._stream(request, writer)
            else:
                _send(writer, 200, _answer(await self._model.complete(request)))
        else:
            _send(writer, 404, _error("not_found", f"There is no {method} {path}."))
        await writer.drain()

    async def _stream(self, request: Request, writer: asyncio.StreamWriter) -> None:
        """Server-sent events. With tools the text is held back until it is known what of it is a call."""
        sent = ""
        name, started = f"chatcmpl-{new_id()}", False

        def show(text: str) -> None:
            nonlocal sent, started
            stable = text.rstrip("\ufffd")  # a character of which some tokens are still to come
            if request.tools or not stable.startswith(sent) or len(stable) == len(sent) or writer.is_closing():
                return
            if not started:
                writer.write(_head(200, "text/event-stream"))
                started = True
            _event(writer, _chunk(name, self._model.name, {"content": stable[len(sent) :]}))
            sent = stable

        done = await self._model.complete(request, show)
        if not started:
            writer.write(_head(200, "text/event-stream"))
        for delta in _rest(done, sent):
            _event(writer, _chunk(name, done.model, delta))
        _event(writer, _chunk(name, done.model, {}, done.finish_reason))
        _event(writer, {**_chunk(name, done.model, {}), "choices": [], "usage": _usage(done)})
        writer.write(b"data: [DONE]\n\n")


def read_request(question: dict[str, Any]) -> Request:
    """The question in a body of the chat completions API. Raises InvalidInput."""
    messages = question.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("bad_request", "The request has no messages.")
    tools = [t.get("function", {}) for t in question.get("tools") or []]
    most = question.get("max_completion_tokens") or question.get("max_tokens") or 512
    return Request(messages=tuple(_message(m) for m in messages), max_tokens=int(most),
                   tools=tuple(msgspec.convert(t, ToolSpec) for t in tools))


def _message(given: Any) -> Message:
    if not isinstance(given, dict):
        raise InvalidInput("bad_request", "A message is no JSON object.")
    content = given.get("content") or ""
    if isinstance(content, list):
        content = "".join(str(p.get("text", "")) for p in content if isinstance(p, dict))
    calls = [{"id": c.get("id", ""), **c.get("function", {})} for c in given.get("tool_calls") or []]
    return msgspec.convert({"role": given.get("role"), "content": content, "name": given.get("name") or "",
                            "tool_call_id": given.get("tool_call_id") or "",
                            "tool_calls": [msgspec.convert(c, ToolCall) for c in calls]}, Message, from_attributes=True)


def _rest(done: Completion, sent: str) -> Iterator[dict[str, Any]]:
    """What of the answer was not shown yet: the end of the text, and the calls."""
    if len(done.message.content) > len(sent) and done.message.content.startswith(sent):
        yield {"content": done.message.content[len(sent) :]}
    for index, call in enumerate(_calls(done.message)):
        yield {"tool_calls": [{"index": index, **call}]}


def _calls(message: Message) -> list[dict[str, Any]]:
    return [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls]


def _usage(done: Completion) -> dict[str, Any]:
    used, made = done.usage.input_tokens or 0, done.usage.output_tokens or 0
    return {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made}


def _answer(done: Completion) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": done.message.content}
    if done.message.tool_calls:
        message["tool_calls"] = _calls(done.message)
    choice = {"index": 0, "message": message, "finish_reason": done.finish_reason}
    return {"id": f"chatcmpl-{new_id()}", "object": "chat.completion", "created": int(time.time()),
            "model": done.model, "choices": [choice], "usage": _usage(done)}


def _chunk(name: str, model: str, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    return {"id": name, "object": "chat.completion.chunk", "created": int(time.time()), "model": model,
            "choices": [choice]}


def _error(code: str, sentence: str) -> dict[str, Any]:
    return {"error": {"message": sentence, "type": code, "code": code}}


def _event(writer: asyncio.StreamWriter, chunk: dict[str, Any]) -> None:
    writer.write(b"data: " + msgspec.json.encode(chunk) + b"\n\n")


def _send(writer: asyncio.StreamWriter, status: int, answer: dict[str, Any]) -> None:
    body = msgspec.json.encode(answer)
    writer.write(_head(status, "application/json", len(body)) + body)


def _head(status: int, kind: str, size: int | None = None) -> bytes:
    length = () if size is None else (("Content-Length", str(size)),)
    fields = (("Content-Type", kind), *length, ("Connection", "close"))
    return write_head(f"HTTP/1.1 {status} {_REASONS[status]}", fields)


async def _run(model: str, host: str, port: int) -> None:
    endpoint = ModelEndpoint(LocalModel(ModelSettings(kind="local", name=model)))
    url = await endpoint.start(host, port)
    print(msgspec.json.encode({"url": url, "model": endpoint._model.name}).decode(), flush=True)  # noqa: T201
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    await endpoint.close()


def main(argv: list[str] | None = None) -> int:
    """Serve a model's folder until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m core.llm.serve_local", description=__doc__)
    parser.add_argument("--model", required=True, help="a folder that transformers loads")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args(argv)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        asyncio.run(_run(args.model, args.host, args.port))
    except ReportableError as error:
        print(error.sentence, file=sys.stderr)  # noqa: T201
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
