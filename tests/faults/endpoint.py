"""A language-model endpoint over real HTTP that often fails, and writes down what the model was shown.

`prompts.jsonl` gets one line per question, before it is answered: session, step, the hash of all messages, the tokens
of guidance in their order, the id of the call in the answer. It is the only witness of what the model really saw.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import random
import re
import secrets
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"«([^»]+)»")
FAILURES = ("429", "500", "503", "401", "reset", "hang", "half", "nonsense", "html", "empty", "no end")


class Endpoint:
    """Answers `steps` times per session with one call, then with `finish`; fails with probability `failing`."""

    def __init__(self, log: Path, seed: int, *, steps: int, failing: float, pace_s: float, act: str = "{}") -> None:
        self._end = log.parent / "end"
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._chance = random.Random(seed)
        self._steps, self._failing, self._pace_s, self._act = steps, failing, pace_s, act

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One HTTP connection."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            while await self._one(reader, writer):
                continue
        writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = int(re.search(r"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
        told = json.loads(await reader.readexactly(size))
        session = head.split()[1].split("/")[1]
        failure = self._chance.choice(FAILURES) if self._chance.random() < self._failing else ""
        call = f"c{secrets.token_hex(6)}"
        step = self._write(session, told["messages"], call, failure)
        await asyncio.sleep(self._pace_s)
        return await self._answer(writer, step, call, failure)

    def _write(self, session: str, messages: list[dict[str, Any]], call: str, failure: str) -> int:
        step = 1 + sum(m["role"] == "assistant" for m in messages)
        said = [t for m in messages if m["role"] == "user" for t in TOKEN.findall(str(m["content"]))]
        print_ = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()[:24]
        line = {"session": session, "step": step, "hash": print_, "tokens": said, "call": call, "failure": failure}
        os.write(self._log, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        return step

    async def _answer(self, writer: asyncio.StreamWriter, step: int, call: str, failure: str) -> bool:
        if failure in ("429", "500", "503", "401"):
            retry = "retry-after: 0\r\n" if failure == "429" else ""
            body = b'{"error": {"message": "no", "type": "x"}}'
            writer.write(
                f"HTTP/1.1 {failure} No\r\n{retry}content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n\r\n".encode()
                + body
            )
            return True
        if failure == "reset":
            return False
        if failure == "hang":
            await asyncio.sleep(0.5)
            return False
        frames = self._frames(step, call, failure)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + frames)
        await writer.drain()
        return False

    def _frames(self, step: int, call: str, failure: str) -> bytes:
        if failure == "html":
            return b"<html>Bad gateway</html>"
        if failure == "empty":
            return b""
        if failure == "nonsense":
            return b'data: {"choices": [{"delta": 7}]}\n\ndata: {{{\n\n'
        name = "finish" if step > self._steps or self._end.exists() else "run_command"
        arguments = "{}" if name == "finish" else json.dumps({"command": self._act.format(call)})
        function = {"name": name, "arguments": arguments}
        parts: list[dict[str, Any]] = [
            {"delta": {"role": "assistant", "content": f"turn {step} {call}"}},
            {"delta": {"tool_calls": [{"index": 0, "id": call, "type": "function", "function": function}]}},
            {"delta": {}, "finish_reason": "tool_calls"},
        ]
        if failure in ("half", "no end"):
            parts.pop()
        text = b"".join(_event({"choices": [{"index": 0, **p}]}) for p in parts)
        if failure == "half":
            return text[:-9]
        usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
        return text + _event({"choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def _event(chunk: dict[str, Any]) -> bytes:
    whole = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "fake", **chunk}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


async def run(folder: Path, seed: int, *, steps: int, failing: float, pace_s: float, act: str = "{}") -> None:
    """Serve until killed; the port is in `endpoint.port`."""
    endpoint = Endpoint(folder / "prompts.jsonl", seed, steps=steps, failing=failing, pace_s=pace_s, act=act)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=1 << 26)
    part = folder / "endpoint.part"
    part.write_text(str(server.sockets[0].getsockname()[1]))
    part.replace(folder / "endpoint.port")
    await asyncio.Event().wait()
