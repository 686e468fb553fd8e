"""What a session's gateway adds to a request of 200 kB: time to the first byte, and processor time, beside a plain
pass-through of the same server code that reads nothing, and LiteLLM's proxy where it is installed. Prints milliseconds
and ratios.

    python tests/benchmarks/run.py gateway --pairs 200 [--litellm VENV/bin] [--other "PROGRAM {port} {upstream} …"]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import http.client
import json
import multiprocessing
import os
import shlex
import socket
import statistics
import subprocess
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from core.aio import TaskScope
from core.gateway.http_head import write_head
from core.gateway.inlet import Inlet, Streams, Visit
from core.gateway.upstream import Upstream

ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes. " * 40}}],
    "usage": {"prompt_tokens": 50_000, "completion_tokens": 80, "total_tokens": 50_080}}).encode()
HEAD = write_head("HTTP/1.1 200 OK", (("Content-Type", "application/json"), ("Content-Length", str(len(ANSWER)))))
TOKEN = "bench-token"


def endpoint(pipe: Connection, think_s: float) -> None:
    """Answers every request after a while, and reads it as bytes only."""
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or b"0")
                await reader.readexactly(length)
                await asyncio.sleep(think_s)
                writer.write(HEAD + ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def passing(pipe: Connection, port: int) -> None:
    """The same server without any reading."""
    upstream = Upstream(f"http://127.0.0.1:{port}")

    async def handle(visit: Visit) -> None:
        answer = await upstream.send(visit.head.method, visit.head.target, visit.head.passed_on(), visit.body).answer()
        visit.begin(answer.head.status, answer.head.reason, answer.head.passed_on(), answer.head.length)
        async for piece in answer.pieces():
            await visit.write(piece)
        await visit.end()
        answer.close()

    asyncio.run(_listening(pipe, handle))


def gateway(pipe: Connection, port: int, guided: bool) -> None:
    """A session's gateway with its journal on the disk; guided: one advice stands in every request."""
    from core.agents.agent_words import AgentWords
    from core.agents.delivery import Inbox
    from core.agents.journal import Journal
    from core.agents.line_session import LineSession
    from core.agents.line_sessions import LineSessions
    from core.agents.seam import Seam
    from core.agents.signals import Signals
    from core.agents.steps import StepJournal
    from core.domain.events import GuidanceQueued, encode_event, make_event
    from core.domain.task import AgentSettings, ModelSettings, Task
    from core.domain.verdict import Author
    from core.gateway.recipe import Recipe
    from core.gateway.request import RequestReader
    from core.llm.model import estimate_tokens

    async def main() -> None:
        gc.freeze()  # as the runner does
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "journal.db", "s")
            inbox = Inbox(journal)
            if guided:
                fact = GuidanceQueued(guidance="g", text="Look at the tests first.")
                inbox.take(1, [encode_event(make_event(fact, Author(kind="person", name="p")))])
            steps = StepJournal(journal, inbox, Task(id="t", title="T", description="D"), estimate_tokens)
            settings, recipe = AgentSettings(model=ModelSettings(kind="endpoint")), Recipe(title="", dialect="chat")
            main, signals = LineSession(journal, inbox, steps, settings, recipe, dict), Signals(inbox)
            words = AgentWords(main, inbox, signals, host="main", is_attached=False, speaks_acp=False, stays=False,
                               is_over=lambda: False, on_leave=print, on_waits=print, on_ended=print)
            seam = Seam(LineSessions(main, lambda call: None, recipe), inbox, signals, RequestReader(),
                        Upstream(f"http://127.0.0.1:{port}/v1"), token=TOKEN, key="", words=words,
                        is_over=lambda: False, on_paused=lambda paused: None, on_text=lambda text: None,
                        on_step=lambda step: None, on_failures=lambda count, sentence: None)
            await _listening(pipe, seam.handle)

    asyncio.run(main())


async def _listening(pipe: Connection, handle: Any) -> None:
    waiting: asyncio.Queue[Streams] = asyncio.Queue()
    server = await asyncio.start_server(lambda r, w: waiting.put_nowait((r, w)), "127.0.0.1", 0, limit=1 << 20)
    async with TaskScope("bench") as scope:
        scope.spawn(Inlet(waiting.get, handle).run(), name="serve")
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.sleep(3600)


class Part:
    """A process with a port."""

    def __init__(self, target: Any, *more: object) -> None:
        ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=target, args=(theirs, *more), daemon=True)
        self.process.start()
        self.port = int(ours.recv())
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def cpu_s(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, body: bytes) -> float:
        """Milliseconds to the first byte of the answer."""
        began = time.perf_counter()
        self.connection.request("POST", "/v1/chat/completions", body, {
            "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
        answer = self.connection.getresponse()
        took = (time.perf_counter() - began) * 1000
        assert answer.status == 200, answer.read()
        answer.read()
        return took


class LiteLLM(Part):
    """LiteLLM's proxy, as it is installed in an environment of its own, before the same endpoint."""

    def __init__(self, bin: Path, endpoint: int, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        config = {"model_list": [{"model_name": "m", "litellm_params": {
            "model": "openai/m", "api_base": f"http://127.0.0.1:{endpoint}/v1", "api_key": "none"}}]}
        (folder / "litellm.yaml").write_text(json.dumps(config))
        argv = [bin / "litellm", "--config", folder / "litellm.yaml", "--host", "127.0.0.1", "--port", str(self.port)]
        self._start(argv, {"LITELLM_LOCAL_MODEL_COST_MAP": "True",
                           "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"})

    def _start(self, argv: list[Path | str], variables: dict[str, str]) -> None:
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **variables})
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.1)
        raise SystemExit(f"{argv[0]} did not open its port")


class Other(LiteLLM):
    """Any other gateway before the same endpoint, by its command."""

    def __init__(self, command: str, endpoint: int, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._start([*shlex.split(command.format(port=self.port, upstream=f"http://127.0.0.1:{endpoint}",
                                                 folder=folder / "other"))], {})


def bodies(count: int, size: int) -> list[bytes]:
    """Requests of an agent at work, of `size` bytes on average: each extends the one before by an answer and a result.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a bench."}, {
        "role": "user", "content": "Do it."}]
    text, made = "line of some output 0123456789 \u00e9\n" * 30, []
    tools = [{"type": "function", "function": {"name": f"tool{i}", "description": "d" * 200, "parameters": {
        "type": "object", "properties": {"command": {"type": "string"}}}}} for i in range(12)]
    turns = (size - 4_000) // 1_600  # each adds so many bytes
    for n in range(1, turns + count // 2 + 1):
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "tool1", "arguments": '{"command": "ls"}'}}
        messages += [{"role": "assistant", "content": "Yes. " * 40, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"call_{n}", "content": f"{n}\n{text}"}]
        body = {"model": "m", "messages": messages, "tools": tools, "stream": False}
        if n > turns - (count + 1) // 2:
            made.append(json.dumps(body).encode())
    return made


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--kb", type=int, default=200)
    parser.add_argument("--think-ms", type=float, default=50.0, help="how long the endpoint takes for an answer")
    parser.add_argument("--litellm", type=Path, help="the bin folder of an environment with litellm[proxy]")
    parser.add_argument("--other", help="a command of another gateway, with {port}, {upstream} and {folder} in it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """One run, all parts in turn for each request."""
    sent = bodies(options.pairs, options.kb * 1000)
    end = Part(endpoint, options.think_ms / 1000)
    parts = {"direct": end, "pass": Part(passing, end.port), "gateway": Part(gateway, end.port, False),
             "guided": Part(gateway, end.port, True)}
    if options.litellm:
        parts["litellm"] = LiteLLM(options.litellm, end.port, folder)
    if options.other:
        parts["other"] = Other(options.other, end.port, folder)
    for part in parts.values():
        part.ask(sent[0])
    before = {name: part.cpu_s() for name, part in parts.items()}
    times: dict[str, list[float]] = {name: [] for name in parts}
    for body in sent[1:]:
        for name, part in parts.items():
            times[name].append(part.ask(body))
    figures: dict[str, float] = {"request_kb": round(statistics.mean(map(len, sent)) / 1000)}
    for name in [name for name in parts if name != "direct"]:
        added = sorted(a - b for a, b in zip(times[name], times["direct"], strict=True))
        figures[f"{name}_added_p50_ms"] = round(statistics.median(added), 2)
        figures[f"{name}_added_p95_ms"] = round(added[int(len(added) * 0.95)], 2)
        figures[f"{name}_cpu_ms"] = round((parts[name].cpu_s() - before[name]) * 1000 / len(added), 2)
    figures["gateway_added_ratio"] = round(figures["gateway_added_p50_ms"] / figures["pass_added_p50_ms"], 2)
    figures["gateway_cpu_ratio"] = round(figures["gateway_cpu_ms"] / max(0.01, figures["pass_cpu_ms"]), 2)
    for other in {"litellm", "other"} & set(parts):
        figures[f"{other}_gateway_cpu_ratio"] = round(figures["gateway_cpu_ms"] / figures[f"{other}_cpu_ms"], 2)
    print(json.dumps({"benchmark": "gateway", **figures}))
    for part in parts.values():
        part.process.kill()


if __name__ == "__main__":
    main()
